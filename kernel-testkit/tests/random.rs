//! Kernels made at random: for each seed one that is well typed, run by the reference evaluator and, in every variant, by
//! the emulator and a GPU, whose results are the same bit for bit. A kernel that fails is printed with its seed.
//!
//! `KILN_SEEDS=1000..5000` chooses other seeds than the first few.
#![expect(
    clippy::print_stderr,
    reason = "a choice that is not understood, or not followed, has to be said"
)]

use std::{ops::Range, process::ExitCode};

use kernel_testkit::{FileTest, gpu};
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "random/copies.rs"]
mod copies;
#[path = "random/hopper.rs"]
mod hopper;
#[path = "random/operations.rs"]
mod operations;
#[path = "random/program.rs"]
mod program;
#[path = "random/statements.rs"]
mod statements;

/// As many as a test run has time for.
const SEEDS: Range<u64> = 0..60;

/// Makes the kernel of a seed.
type Maker = fn(u64) -> String;

/// The families of kernels.
const FAMILIES: [(&str, Maker); 3] =
    [("seed", program::kernel), ("copies", copies::kernel), ("hopper", hopper::kernel)];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let chosen = std::env::var("KILN_SEEDS").ok();
    let Some(seeds) = chosen.as_deref().map_or(Some(SEEDS), range) else {
        eprintln!("KILN_SEEDS: required a range such as 1000..5000");
        return ExitCode::FAILURE;
    };
    if let Err(reason) = gpu() {
        eprintln!("gpu: skipped, no device, for all seeds: {reason}");
    }
    let trials = seeds.flat_map(|seed| {
        FAMILIES.map(|(family, kernel)| {
            let name = format!("{family}_{seed}");
            Trial::test(name.clone(), move || agrees(&name, &kernel(seed)))
        })
    });
    libtest_mimic::run(&args, trials.collect()).exit_code()
}

fn range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    Some(start.trim().parse().ok()?..end.trim().parse().ok()?)
}

fn agrees(name: &str, text: &str) -> Result<(), Failed> {
    // A panic of the compiler has to name the kernel too.
    let run = std::panic::catch_unwind(|| FileTest::of(name, text).run());
    let outcome = run.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        Err(words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned())
    });
    outcome.map_err(|error| Failed::from(format!("{name}: {error}\n\n{text}")))
}
