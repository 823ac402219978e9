//! Writes what is on record of all kernels: `cargo xtask ptx-digest [FOLDER]` the hashes of their PTX and what ptxas makes of it, and into
//! the folder the PTX itself; `cargo xtask order` what is known of their order.
#![expect(clippy::print_stderr, reason = "a program that says what went wrong")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use kernel_testkit::{
    Assembler,
    record::{Record, Subject},
};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let subjects: &[Subject] = match args.next() {
        Some(subject) if subject == "ptx" => &[Subject::Ptx, Subject::Targets],
        Some(subject) if subject == "order" => &[Subject::Order],
        Some(_) | None => {
            eprintln!("required `ptx [FOLDER]` or `order`");
            return ExitCode::FAILURE;
        }
    };
    let folder = args.next().map(PathBuf::from);
    let scratch = std::env::temp_dir().join(format!("kiln-record-{}", std::process::id()));
    let written = std::fs::create_dir_all(&scratch)
        .map_err(|error| format!("{}: {error}", scratch.display()))
        .and_then(|()| write(subjects, folder.as_deref(), &scratch));
    // What is left there is the system's to remove.
    let _ = std::fs::remove_dir_all(&scratch);
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write(subjects: &[Subject], folder: Option<&Path>, scratch: &Path) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let assembler = Assembler::named(scratch);
    for subject in subjects {
        for line in Record::renew(*subject, &root, folder, assembler.as_ref())? {
            eprintln!("{line}");
        }
    }
    Ok(())
}
