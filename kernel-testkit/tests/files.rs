//! Runs the file tests of `tests/kernels`: each file by every executor that it names, compiled twice, and
//! assembled where `KILN_PTXAS` names an assembler.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use kernel_testkit::{
    Assembler, FileTest,
    digest::Digest,
    directives::Executor,
    examples::{self, Example},
    gpu,
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
    let digest = Digest::committed(&package.join("..")).expect("it is part of the repository");
    let digest = Arc::new(digest);
    let mut trials = Vec::new();
    for file in &files {
        trials.push(trial("run", file, FileTest::run));
        trials.push(trial("deterministic", file, FileTest::deterministic));
        let committed = Arc::clone(&digest);
        trials.push(trial("digest", file, move |file| committed.compare(&file.name, file)));
        if let Some(assembler) = assembler.clone() {
            trials.push(trial("ptxas", file, move |file| {
                let spills = file.assemble(&assembler)?;
                for line in spills {
                    eprintln!("spill: {line}");
                }
                Ok(())
            }));
        }
    }
    let examples = examples::all(&package.join("../examples")).expect("the examples can be read");
    let names: Vec<String> = (files.iter().map(|file| file.name.clone()))
        .chain(examples.iter().map(Example::in_digest))
        .collect();
    trials.push(Trial::test("digest::of_nothing_else", move || {
        let unknown = digest.unknown(&names);
        if unknown.is_empty() {
            return Ok(());
        }
        Err(format!("no such kernels: {}; `cargo xtask ptx-digest`", unknown.join(", ")).into())
    }));
    libtest_mimic::run(&args, trials).exit_code()
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
