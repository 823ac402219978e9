//! Repository chores: `cargo xtask tidy`, `cargo xtask licences`, `cargo xtask ptxas`, `cargo xtask loops`,
//! `cargo xtask ptx-digest`, `cargo xtask order`, `cargo xtask mutate`, `cargo xtask launches`, `cargo xtask programs`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program that prints its findings")]

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail};
use lexopt::prelude::*;

mod programs;
mod ptxas;
mod repository;
mod tidy;

use programs::Extents;
use repository::Repository;
use tidy::licences::{self, Graph};

const USAGE: &str = "\
cargo xtask COMMAND

  tidy      check what neither rustc nor clippy checks: sizes, crate arrows, pages, tests, words
  licences  check the packages of every feature and platform against deny.toml; tidy checks those of a build
  ptxas     assemble an example of every row of the instruction table with the ptxas that KILN_PTXAS names
  loops     print what the kernels of the examples cost on Blackwell, or those of PTX files: registers, instructions of loops
  order     write tests/order.txt anew: what is known of the order of every kernel of the tests and examples before it runs
  ptx-digest [FOLDER]  write tests/ptx-digest.txt and tests/ptx-targets.txt anew: a hash of the PTX of every kernel of the tests and examples,
            and the registers and spilled bytes that the ptxas named by KILN_PTXAS gives it; and the PTX into the folder. Texts with numbers
            of this ptxas are not assembled again; without KILN_PTXAS, new ones have `-` for numbers
  mutate [OPTIONS] [KERNEL]..  leave out or weaken each synchronising instruction of the kernels of the file tests, and say which of these
            mutants the emulator does not stop; `cargo xtask mutate --help` has the options
  launches [KERNEL]..  print how much longer the launches of the file tests take on the emulator, optimised, with its checks than without
  programs  run every program for Blackwell on the emulator, optimised, in all configurations; products of 4096 in each extent with --large
";

/// Gives how many there are.
fn print(findings: &[tidy::Finding]) -> usize {
    for finding in findings {
        println!("{finding}");
    }
    findings.len()
}

/// Runs a program of the test kit, which has the compiler and the assembler, so that no other chore waits for the compiler to be built.
///
/// # Errors
/// A cargo that cannot be run.
fn of_testkit(bin: &str, arguments: &[OsString]) -> Result<usize> {
    testkit(&["--bin", bin], arguments)
}

fn testkit(options: &[&str], arguments: &[OsString]) -> Result<usize> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "kiln-gpu-testkit"])
        .args(options)
        .arg("--")
        .args(arguments)
        .status()
        .context("cargo run")?;
    Ok(usize::from(!status.success()))
}

fn main() -> Result<ExitCode> {
    // Its own program reads what comes after it.
    if std::env::args_os().nth(1).is_some_and(|command| command == "mutate") {
        let rest: Vec<OsString> = std::env::args_os().skip(2).collect();
        let failed = of_testkit("mutate", &rest)?;
        return Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let mut arguments = lexopt::Parser::from_env();
    let mut command = None;
    let mut paths = Vec::new();
    let mut extents = Extents::Small;
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            Long("large") if command.as_deref() == Some("programs") => extents = Extents::Large,
            Value(name) if command.is_none() => command = Some(name.string()?),
            Value(path)
                if matches!(command.as_deref(), Some("loops" | "ptx-digest" | "launches")) =>
            {
                paths.push(path);
            }
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
        Some("loops") => of_testkit("loops", &paths)?,
        Some("ptx-digest") => {
            let record: Vec<OsString> = std::iter::once("ptx".into()).chain(paths).collect();
            of_testkit("record", &record)?
        }
        Some("order") => of_testkit("record", &["order".into()])?,
        Some("launches") => testkit(&["--release", "--bin", "launches"], &paths)?,
        Some("programs") => programs::run(&repository::root(), extents)?,
        Some(other) => bail!("there is no command `{other}`\n\n{USAGE}"),
        None => bail!("{USAGE}"),
    };
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
