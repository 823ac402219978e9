//! Runs the file tests of `tests/kernels`: each file by every executor that it names, compiled twice, and
//! assembled where `KILN_PTXAS` names an assembler and the record has no numbers.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use kernel_testkit::{
    Assembler, FileTest,
    directives::Executor,
    examples::{self, Example},
    gpu, mutate,
    record::{Record, Subject},
};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    // A binary may be run elsewhere than where it was built: cargo says where the package is.
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let package = package.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = package.join("../tests/kernels");
    let files = FileTest::all(&root).expect("the tests are part of the repository");
    let files: Vec<Arc<FileTest>> = files.into_iter().map(Arc::new).collect();
    let assembler = Assembler::named(Path::new(env!("CARGO_TARGET_TMPDIR")));
    if !args.list {
        if let Err(reason) = gpu() {
            let count = files.iter().filter(|file| file.names(Executor::Gpu)).count();
            eprintln!("gpu: skipped, no device, for {count} files: {reason}");
        }
        if assembler.is_none() {
            eprintln!("ptxas: left out, KILN_PTXAS names none");
        }
    }
    let records = [("digest", Subject::Ptx), ("order", Subject::Order)].map(|(kind, subject)| {
        let record = Record::committed(subject, &package.join(".."));
        (kind, Arc::new(record.expect("it is part of the repository")))
    });
    let mut trials = Vec::new();
    let recorded = assembler.clone().map(|assembler| {
        let [(_, digest), _] = &records;
        Arc::new(digest.spare(assembler).expect("KILN_PTXAS names a program that runs"))
    });
    for file in &files {
        trials.push(trial("run", file, FileTest::run));
        trials.push(trial("deterministic", file, FileTest::deterministic));
        for (kind, record) in &records {
            let committed = Arc::clone(record);
            trials.push(trial(kind, file, move |file| committed.compare(&file.name, file)));
        }
        if let Some(assembler) = assembler.clone()
            && MUTATED.contains(&file.name.as_str())
        {
            trials.push(trial("mutants", file, move |file| mutants_assemble(file, &assembler)));
        }
        if let Some(recorded) = recorded.clone() {
            trials.push(trial("ptxas", file, move |file| {
                let spills = file.assemble(&*recorded)?;
                for line in spills {
                    eprintln!("spill: {line}");
                }
                Ok(())
            }));
        }
    }
    let examples = examples::all(&package.join("../examples")).expect("the examples can be read");
    let names: Vec<String> = (files.iter().map(|file| file.name.clone()))
        .chain(examples.iter().map(Example::in_records))
        .collect();
    for (kind, record) in records {
        let names = names.clone();
        trials.push(Trial::test(format!("{kind}::of_nothing_else"), move || {
            record.names_only(&names).map_err(Failed::from)
        }));
    }
    let conclusion = libtest_mimic::run(&args, trials);
    if let Some(recorded) = recorded.filter(|_| !args.list) {
        eprintln!("{}", recorded.summary());
    }
    conclusion.exit_code()
}

/// Kernels with most of the classes of synchronising instructions between them: their mutants are assembled.
const MUTATED: [&str; 6] = [
    "atomic/once_a_block",
    "blackwell/pair_ring",
    "copy/ring",
    "grid/dependents",
    "hopper/gemm_specialized",
    "hopper/wgmma_cluster",
];

/// One mutant of each kind of the first variant is what the assembler takes.
fn mutants_assemble(file: &FileTest, assembler: &Assembler) -> Result<(), String> {
    let texts = file.ptx()?;
    let (target, ptx) = texts.first().ok_or("there is no variant")?;
    let mut seen = Vec::new();
    for mutant in mutate::mutants(ptx)? {
        let kind = (mutant.class.name, mutant.mutation);
        // Without what belongs to `wgmma` the assembler rewrites the kernel, or refuses it.
        if seen.contains(&kind) || mutant.class.name.starts_with("wgmma.") {
            continue;
        }
        seen.push(kind);
        // A weaker form may be newer than the kernel's own.
        let text = mutant.apply(ptx);
        let (version, rest) = text.split_once('\n').ok_or("there is one line")?;
        let version = if version.starts_with(".version") { ".version 9.0" } else { version };
        let assembled = assembler.assemble(&file.name, &format!("{version}\n{rest}"), target);
        assembled.map_err(|error| format!("{kind:?}: {error}"))?;
    }
    Ok(())
}

fn trial(
    kind: &str,
    file: &Arc<FileTest>,
    check: impl Fn(&FileTest) -> Result<(), String> + Send + 'static,
) -> Trial {
    let shared = Arc::clone(file);
    let name = format!("{kind}::{}", file.name);
    Trial::test(name, move || check(&shared).map_err(Failed::from))
}
