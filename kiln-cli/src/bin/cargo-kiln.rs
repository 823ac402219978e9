//! `cargo kiln`: the `kiln` command as one of cargo's.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use kiln_cli::command_line;

fn main() -> ExitCode {
    // cargo runs `cargo-kiln kiln ..` for `cargo kiln ..`.
    let mut arguments = std::env::args_os().skip(1).peekable();
    arguments.next_if(|first| first == "kiln");
    command_line::run("cargo kiln", arguments)
}
