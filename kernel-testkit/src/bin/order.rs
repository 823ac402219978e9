//! Writes what the compiler knows of the order of all kernels: `cargo xtask order`.
#![expect(clippy::print_stderr, reason = "a program that says what went wrong")]

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    match kernel_testkit::order::write(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
