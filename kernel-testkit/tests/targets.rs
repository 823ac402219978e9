//! One source, every target: kernels are compiled for each target of `kernel_ptx::Hardware` that has what they need, whichever their
//! files name, run by the evaluator and the emulator, and assembled where `KILN_PTXAS` names an assembler and the record has no numbers.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use kernel_testkit::{
    Assembler, FileTest, examples,
    record::{Record, Subject},
    targets::{self, Purpose},
};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let package = package.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let files = FileTest::all(&package.join("../tests/kernels")).expect("the tests can be read");
    let files: Vec<_> = files.into_iter().map(Arc::new).collect();
    let examples = examples::all(&package.join("../examples")).expect("the examples can be read");
    let examples: Vec<_> = examples.into_iter().map(Arc::new).collect();
    let record = Record::committed(Subject::Targets, &package.join(".."));
    let record = Arc::new(record.expect("it is part of the repository"));
    let assembler = Assembler::named(Path::new(env!("CARGO_TARGET_TMPDIR"))).map(|assembler| {
        Arc::new(record.spare(assembler).expect("KILN_PTXAS names a program that runs"))
    });
    if !args.list && assembler.is_none() {
        eprintln!("ptxas: left out, KILN_PTXAS names none");
    }
    let kernels = targets::all(&files, &examples);
    let names: Vec<String> = kernels.iter().map(targets::Retargeted::in_records).collect();
    let mut trials = Vec::new();
    for kernel in kernels {
        let (record, assembler) = (Arc::clone(&record), assembler.clone());
        trials.push(Trial::test(format!("{}::{}", kernel.target, kernel.name()), move || {
            let file = kernel.compiled()?;
            match kernel.purpose {
                Purpose::Run => file.run()?,
                Purpose::Assemble => {}
            }
            record.compare(&kernel.in_records(), &file)?;
            if let Some(assembler) = assembler {
                file.assemble(&*assembler)?;
            }
            Ok(())
        }));
    }
    trials.push(Trial::test("digest::of_nothing_else", move || {
        record.names_only(&names).map_err(Failed::from)
    }));
    let conclusion = libtest_mimic::run(&args, trials);
    if let Some(assembler) = assembler.filter(|_| !args.list) {
        eprintln!("{}", assembler.summary());
    }
    conclusion.exit_code()
}
