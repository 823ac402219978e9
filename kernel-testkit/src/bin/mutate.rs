//! Leaves out or weakens each synchronising instruction of the kernels, and says whether the emulator notices: `cargo xtask mutate`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints findings")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use kernel_testkit::mutate::{
    score::Score,
    subject::Kernel,
    survivors::Survivors,
    work::{Choice, Judged, judge},
};
use lexopt::prelude::*;

const USAGE: &str = "\
cargo xtask mutate [OPTIONS] [KERNEL]..

Only kernels whose name contains one of KERNEL.

  --sample N       run N of the mutants
  --seed S         which of them; 0 without it
  --fixtures DIR   also kernels of other compilers, a launch description (*.json) each; KILN_FIXTURES without it
  --needed         how many synchronising instructions each kernel has, and which of them it does not need
  --all FILE       every mutant and what became of it, as a table with tabs
";

#[derive(Default)]
struct Arguments {
    names: Vec<String>,
    sample: Option<usize>,
    seed: u64,
    fixtures: Option<PathBuf>,
    needed: bool,
    all: Option<PathBuf>,
}

fn arguments() -> Result<Option<Arguments>, lexopt::Error> {
    let fixtures = std::env::var_os("KILN_FIXTURES").map(PathBuf::from);
    let mut arguments = Arguments { fixtures, ..Arguments::default() };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("sample") => arguments.sample = Some(parser.value()?.parse()?),
            Long("seed") => arguments.seed = parser.value()?.parse()?,
            Long("fixtures") => arguments.fixtures = Some(parser.value()?.into()),
            Long("needed") => arguments.needed = true,
            Long("all") => arguments.all = Some(parser.value()?.into()),
            Value(name) => arguments.names.push(name.string()?),
            other @ (Short(_) | Long(_)) => return Err(other.unexpected()),
        }
    }
    Ok(Some(arguments))
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Gives whether every survivor is listed, and every entry of the list a survivor.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let survivors = Survivors::read(&root)?;
    let mut kernels = Kernel::of_tests(&root.join("tests/kernels"))?;
    match &arguments.fixtures {
        Some(folder) => kernels.extend(Kernel::described(folder)?),
        None => println!("left out: kernels of other compilers, KILN_FIXTURES names no folder\n"),
    }
    let names = &arguments.names;
    kernels.retain(|kernel| {
        names.is_empty() || names.iter().any(|name| kernel.name().contains(name.as_str()))
    });
    let choice = match arguments.sample {
        Some(size) => Choice::Sample { size, seed: arguments.seed },
        None => Choice::All,
    };
    let judged = judge(&kernels, choice);
    if let Some(file) = &arguments.all {
        std::fs::write(file, table(&judged)).map_err(|error| error.to_string())?;
    }
    let score = Score::of(&judged, &survivors);
    if arguments.needed {
        print!("{}", score.needed());
        return Ok(true);
    }
    print!("{}", score.tables());
    let stale = match choice {
        Choice::All => score.stale().iter().map(ToString::to_string).collect(),
        Choice::Sample { .. } => Vec::new(),
    };
    let problems = score.problems();
    let unlisted = score.unlisted();
    for (what, lines) in [
        ("missed, as listed", &score.missed()),
        ("survivors that are not listed", &unlisted),
        ("listed, but no survivor", &stale),
        ("could not be run", &problems),
    ] {
        if !lines.is_empty() {
            println!("\n{what}: {}", lines.len());
            for line in lines {
                println!("  {line}");
            }
        }
    }
    Ok(unlisted.is_empty() && stale.is_empty() && problems.is_empty())
}

/// Every mutant, a line each.
fn table(judged: &[Judged]) -> String {
    let mut text = String::new();
    for judged in judged {
        for (variant, outcomes) in &judged.variants {
            for outcome in outcomes {
                let mutant = &outcome.mutant;
                let source = mutant.source.as_ref().map_or(0, |(_, line)| *line);
                let (verdict, words) = outcome.verdict.words();
                let fields = [
                    judged.origin.name(),
                    &judged.kernel,
                    variant,
                    mutant.class.name,
                    mutant.mutation.name(),
                    &source.to_string(),
                    &mutant.ptx_line.to_string(),
                    &mutant.instruction,
                    verdict,
                    words.lines().next().unwrap_or_default(),
                ];
                text += &fields.map(|field| field.replace(['\t', '\n'], " ")).join("\t");
                text.push('\n');
            }
        }
    }
    text
}
