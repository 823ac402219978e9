//! How much longer the launches of the file tests take on the emulator with its checks than without, kernel by kernel.
//!
//! `cargo xtask launches [KERNEL]..`
//!
//! Each launch runs in turn with and without, several times, on one thread, and the shortest counts.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::{path::Path, process::ExitCode, time::Duration};

use kernel_emulator::Hazards;
use kernel_testkit::{FileTest, executors};

/// Runs of each launch, of which the shortest counts.
const RUNS: usize = 5;
/// Kernels that are printed, those with the largest ratios.
const PRINTED: usize = 30;

/// The launches of a kernel: with checks, and without.
struct Row {
    name: String,
    checked: Duration,
    unchecked: Duration,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.checked.as_secs_f64() / self.unchecked.as_secs_f64()
    }
}

/// The rows of a kernel, one a variant.
fn rows(file: &FileTest) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let with = executors::checked(executors::MOST_INSTRUCTIONS);
    let without = with.clone().with_hazards(Hazards::Off);
    for build in file.builds()? {
        for variant in file.emulated(build)? {
            let reference = file.reference(build, variant)?;
            let (mut checked, mut unchecked) = (Duration::MAX, Duration::MAX);
            for _ in 0..RUNS {
                checked = checked.min(reference.time(&with)?);
                unchecked = unchecked.min(reference.time(&without)?);
            }
            if !unchecked.is_zero() {
                let name = format!("{} {} {}", file.name, build.label, variant.name);
                rows.push(Row { name, checked, unchecked });
            }
        }
    }
    Ok(rows)
}

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let files = FileTest::all(&root).expect("the tests are part of the repository");
    let wanted = |file: &&FileTest| {
        filters.is_empty() || filters.iter().any(|filter| file.name.contains(filter))
    };
    let mut all: Vec<Row> = Vec::new();
    for file in files.iter().filter(wanted) {
        match rows(file) {
            Ok(rows) => all.extend(rows),
            Err(error) => {
                eprintln!("{}: {error}", file.name);
                return ExitCode::FAILURE;
            }
        }
    }
    if all.is_empty() {
        eprintln!("no kernel has such a name");
        return ExitCode::FAILURE;
    }
    all.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    println!("| kernel | with checks, us | without, us | times |\n|---|---|---|---|");
    for row in all.iter().take(PRINTED) {
        let [checked, unchecked] = [row.checked, row.unchecked].map(|t| t.as_secs_f64() * 1e6);
        println!("| {} | {checked:.1} | {unchecked:.1} | {:.2} |", row.name, row.ratio());
    }
    let (checked, unchecked): (Duration, Duration) =
        (all.iter().map(|row| row.checked).sum(), all.iter().map(|row| row.unchecked).sum());
    let count = u32::try_from(all.len()).expect("there are some thousands");
    let logarithms: f64 = all.iter().map(|row| row.ratio().ln()).sum();
    println!(
        "\n{count} launches: {:.1} ms with checks, {:.1} ms without, {:.2} times; geometric mean {:.2}; more than twice: {}",
        checked.as_secs_f64() * 1e3,
        unchecked.as_secs_f64() * 1e3,
        checked.as_secs_f64() / unchecked.as_secs_f64(),
        (logarithms / f64::from(count)).exp(),
        all.iter().filter(|row| row.ratio() > 2.0).count()
    );
    ExitCode::SUCCESS
}
