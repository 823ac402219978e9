//! One source, every target: kernels are compiled for each target of `kernel_ptx::Hardware` that has what they need, whichever their
//! files name, run by the evaluator and the emulator, and assembled where `KILN_PTXAS` names an assembler.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use kernel_ptx::{Capability, Hardware};
use kernel_testkit::{
    Assembler, FileTest,
    examples::{self, Example},
};
use libtest_mimic::{Arguments, Trial};

/// What kernels need, by their names, or the beginnings of names that end in `_` or `/`; none where every target has it.
type Set = (Option<Capability>, &'static [&'static str]);

/// Files of `tests/kernels`, which are run.
const RUN: [Set; 4] = [
    (
        None,
        &[
            "flagship/matmul",
            "flagship/attention",
            "flagship/softmax",
            "flagship/softmax_wide",
            "flagship/rms_norm",
            "copy/pipeline",
        ],
    ),
    (Some(Capability::Float8), &["dot/float8", "cast/float8"]),
    (
        Some(Capability::Tma),
        &[
            "hopper/tma_copy",
            "hopper/tma_reduce_add",
            "hopper/bulk_copy",
            "hopper/cluster_sum",
            "hopper/cluster_multicast",
            "hopper/pipeline_tma",
            "specialize/budgets",
        ],
    ),
    (
        Some(Capability::Tcgen05),
        &[
            "blackwell/gather",
            "blackwell/pair",
            "blackwell/product_f16",
            "blackwell/scaled_float4",
            "blackwell/scaled_float8",
            "blackwell/scaled_nvfp4",
            "blackwell/tensor_memory",
        ],
    ),
];

/// Files of `tests/kernels` and kernels of the examples, which are assembled only.
const ASSEMBLED: [Set; 3] = [
    (None, &["matmul_pipelined/", "softmax/", "layer_norm/"]),
    (Some(Capability::Tma), &["flash_attention/attention"]),
    (
        Some(Capability::Tcgen05),
        &["blackwell/", "matmul_tcgen05/", "matmul_two_cta/", "matmul_scaled/"],
    ),
];

/// Kernels that need more than what their sets say, which is the rule of a target that has it.
fn also_needs(name: &str, row: &Hardware) -> bool {
    match name {
        "blackwell/product_integers"
        | "blackwell/product_of_8_columns"
        | "blackwell/sparse_bytes"
        | "blackwell/sparse_majors"
        | "blackwell/sparse_pair" => row.target.has(Capability::Tcgen05Integers),
        // It keeps a row of 64 Ki numbers.
        "layer_norm/layer_norm_long" => row.shared_bytes_per_block > 128 * 1024,
        _ => true,
    }
}

/// Whether a target has what a kernel needs that some set names.
fn fits(sets: &[Set], name: &str, row: &Hardware) -> bool {
    let named =
        |known: &&str| name == *known || known.ends_with(['_', '/']) && name.starts_with(known);
    sets.iter().any(|(need, names)| {
        names.iter().any(named) && need.is_none_or(|need| row.target.has(need))
    }) && also_needs(name, row)
}

type Check = Box<dyn FnOnce() -> Result<(), String> + Send>;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let package = package.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let files = FileTest::all(&package.join("../tests/kernels")).expect("the tests can be read");
    let files: Vec<Arc<FileTest>> = files.into_iter().map(Arc::new).collect();
    let examples = examples::all(&package.join("../examples")).expect("the examples can be read");
    let examples: Vec<Arc<Example>> = examples.into_iter().map(Arc::new).collect();
    let assembler = Assembler::named(Path::new(env!("CARGO_TARGET_TMPDIR")));
    if !args.list && assembler.is_none() {
        eprintln!("ptxas: left out, KILN_PTXAS names none");
    }
    let mut trials = Vec::new();
    for row in Hardware::ROWS {
        let mut trial = |name: &str, check: Check| {
            trials.push(Trial::test(format!("{}::{name}", row.name), move || Ok(check()?)));
        };
        for file in &files {
            let (run, assemble) = (fits(&RUN, &file.name, row), fits(&ASSEMBLED, &file.name, row));
            // Where the file names the target, it is run and assembled with the others.
            if !(run || assemble) || file.names_target(row.name) {
                continue;
            }
            let (file, assembler) = (Arc::clone(file), assembler.clone());
            let name = file.name.clone();
            trial(
                &name,
                Box::new(move || {
                    let file = file.for_target(row.name)?;
                    if run {
                        file.run()?;
                    }
                    assembled(&file, assembler.as_ref())
                }),
            );
        }
        for example in &examples {
            if !fits(&ASSEMBLED, &example.name(), row) {
                continue;
            }
            let (example, assembler) = (Arc::clone(example), assembler.clone());
            let name = example.name();
            trial(
                &name,
                Box::new(move || assembled(&example.for_target(row.name), assembler.as_ref())),
            );
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// Assembles what a file holds, or compiles it where there is no assembler.
fn assembled(file: &FileTest, assembler: Option<&Assembler>) -> Result<(), String> {
    match assembler {
        Some(assembler) => drop(file.assemble(assembler)?),
        None => drop(file.builds()?),
    }
    Ok(())
}
