//! Writes what is on record of all kernels: `cargo xtask ptx-digest [FOLDER]` the hashes of their PTX, and into the folder the PTX itself;
//! `cargo xtask order` what is known of their order.
#![expect(clippy::print_stderr, reason = "a program that says what went wrong")]

use std::{path::Path, process::ExitCode};

use kernel_testkit::record::{Record, Subject};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut args = std::env::args_os().skip(1);
    let subject = match args.next() {
        Some(subject) if subject == "ptx" => Subject::Ptx,
        Some(subject) if subject == "order" => Subject::Order,
        Some(_) | None => {
            eprintln!("required `ptx [FOLDER]` or `order`");
            return ExitCode::FAILURE;
        }
    };
    let folder = args.next();
    match Record::compiled(subject, &root, folder.as_deref().map(Path::new))
        .and_then(|record| record.write(&root))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
