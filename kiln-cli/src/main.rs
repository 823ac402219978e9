//! The `kiln` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use kiln_cli::command_line;

fn main() -> ExitCode {
    command_line::run("kiln", std::env::args_os().skip(1))
}
