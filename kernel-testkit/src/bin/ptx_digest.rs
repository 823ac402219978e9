//! Writes the digest of all kernels' PTX: `cargo xtask ptx-digest`.
#![expect(clippy::print_stderr, reason = "a program that says what went wrong")]

use std::{path::Path, process::ExitCode};

use kernel_testkit::digest::Digest;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match Digest::compiled(&root).and_then(|digest| digest.write(&root)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
