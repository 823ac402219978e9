//! Writes the digest of all kernels' PTX: `cargo xtask ptx-digest [FOLDER]`, and into the folder the PTX itself.
#![expect(clippy::print_stderr, reason = "a program that says what went wrong")]

use std::{path::Path, process::ExitCode};

use kernel_testkit::digest::Digest;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::args_os().nth(1);
    match Digest::compiled(&root, folder.as_deref().map(Path::new))
        .and_then(|digest| digest.write(&root))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
