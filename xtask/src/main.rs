//! Repository chores: `cargo xtask tidy`, `cargo xtask licences`, `cargo xtask ptxas`, `cargo xtask loops`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program that prints its findings")]

use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::prelude::*;

mod loops;
mod ptxas;
mod repository;
mod tidy;

use repository::Repository;
use tidy::licences::{self, Graph};

const USAGE: &str = "\
cargo xtask COMMAND

  tidy      check what neither rustc nor clippy checks: sizes, crate arrows, pages, tests, words
  licences  check the packages of every feature and platform against deny.toml; tidy checks those of a build
  ptxas     assemble an example of every row of the instruction table with the ptxas that KILN_PTXAS names
  loops     count the instructions of loops with products in PTX for Blackwell: files, or folders that KILN_DUMP filled
";

/// Gives how many there are.
fn print(findings: &[tidy::Finding]) -> usize {
    for finding in findings {
        println!("{finding}");
    }
    findings.len()
}

fn main() -> Result<ExitCode> {
    let mut arguments = lexopt::Parser::from_env();
    let mut command = None;
    let mut paths = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            Value(name) if command.is_none() => command = Some(name.string()?),
            Value(path) if command.as_deref() == Some("loops") => paths.push(path.into()),
            other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected().into()),
        }
    }
    let findings = match command.as_deref() {
        Some("tidy") => print(&tidy::check(&repository::root())?),
        Some("licences") => {
            let root = repository::root();
            let metadata = licences::packages(&root, Graph::Whole)?;
            print(&licences::check(&Repository::read(&root)?, &metadata))
        }
        Some("ptxas") => ptxas::run()?,
        Some("loops") => loops::run(&paths)?,
        Some(other) => bail!("there is no command `{other}`\n\n{USAGE}"),
        None => bail!("{USAGE}"),
    };
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
