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
use libtest_mimic::{Arguments, Failed, Trial};

/// What kernels need, by the beginnings of their names; none where every target has it.
type Set = (Option<Capability>, &'static [&'static str]);

/// Files of `tests/kernels`.
const FILES: [Set; 4] = [
    (
        None,
        &[
            "flagship/matmul",
            "flagship/attention",
            "flagship/softmax",
            "flagship/rms_norm",
            "copy/pipeline",
        ],
    ),
    (Some(Capability::Float8), &["dot/float8", "cast/float8"]),
    (
        Some(Capability::Tma),
        &[
            "hopper/tma_",
            "hopper/bulk_",
            "hopper/cluster_sum",
            "hopper/cluster_exchange",
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
            "blackwell/product_",
            "blackwell/scaled_",
            "blackwell/tensor_memory",
        ],
    ),
];

/// Kernels of the examples, which are assembled only.
const EXAMPLES: [Set; 3] = [
    (None, &["matmul_pipelined/", "softmax/", "rms_norm/", "layer_norm/"]),
    (Some(Capability::Tma), &["flash_attention/attention"]),
    (Some(Capability::Tcgen05), &["matmul_tcgen05/", "matmul_two_cta/", "matmul_scaled/"]),
];

/// Whether a target has what a kernel needs that some set names.
fn runs(sets: &[Set], name: &str, row: &Hardware) -> bool {
    sets.iter().any(|(need, names)| {
        names.iter().any(|start| name.starts_with(start))
            && need.is_none_or(|need| row.target.has(need))
    }) && (!name.contains("integers") || row.target.has(Capability::Tcgen05Integers))
        // It keeps a row of 64 Ki numbers.
        && (!name.ends_with("layer_norm_long") || row.shared_bytes_per_block > 128 * 1024)
}

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
        for file in files.iter().filter(|file| runs(&FILES, &file.name, row)) {
            let (file, assembler) = (Arc::clone(file), assembler.clone());
            trials.push(Trial::test(format!("{}::{}", row.name, file.name), move || {
                let file = file.for_target(row.name)?;
                file.run()?;
                assembled(&file, assembler.as_ref())
            }));
        }
        for example in examples.iter().filter(|example| runs(&EXAMPLES, &example.name(), row)) {
            let (example, assembler) = (Arc::clone(example), assembler.clone());
            trials.push(Trial::test(format!("{}::{}", row.name, example.name()), move || {
                assembled(&example.for_target(row.name), assembler.as_ref())
            }));
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// Assembles what a file holds, or compiles it where there is no assembler.
fn assembled(file: &FileTest, assembler: Option<&Assembler>) -> Result<(), Failed> {
    match assembler {
        Some(assembler) => drop(file.assemble(assembler)?),
        None => drop(file.builds()?),
    }
    Ok(())
}
