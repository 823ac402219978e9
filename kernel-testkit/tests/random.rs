//! Kernels made at random: for each seed one that is well typed, run by the reference evaluator and, in every variant, by
//! the emulator and a GPU, whose results are the same bit for bit; those that no GPU here runs are assembled where `KILN_PTXAS`
//! names an assembler. A kernel that fails is printed with its seed.
//!
//! `KILN_SEEDS=1000..5000` chooses other seeds than the first few.
#![expect(
    clippy::print_stderr,
    reason = "a choice that is not understood, or not followed, has to be said"
)]

use std::{ops::Range, path::Path, process::ExitCode};

use kernel_testkit::{Assembler, FileTest, gpu};
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "random/copies.rs"]
mod copies;
#[path = "random/filters.rs"]
mod filters;
#[path = "random/hopper.rs"]
mod hopper;
#[path = "random/operand.rs"]
mod operand;
#[path = "random/operations.rs"]
mod operations;
#[path = "random/order.rs"]
mod order;
#[path = "random/pairs.rs"]
mod pairs;
#[path = "random/pipelines.rs"]
mod pipelines;
#[path = "random/positions.rs"]
mod positions;
#[path = "random/product.rs"]
mod product;
#[path = "random/program.rs"]
mod program;
#[path = "random/scaled.rs"]
mod scaled;
#[path = "random/slices.rs"]
mod slices;
#[path = "random/sorts.rs"]
mod sorts;
#[path = "random/sparse.rs"]
mod sparse;
#[path = "random/statements.rs"]
mod statements;
#[path = "random/tcgen05.rs"]
mod tcgen05;
#[path = "random/tensor_memory.rs"]
mod tensor_memory;

/// As many as a test run has time for.
const SEEDS: Range<u64> = 0..60;

/// Makes the kernel of a seed.
type Maker = fn(u64) -> String;

/// The families of kernels.
const FAMILIES: [(&str, Maker); 15] = [
    ("seed", program::kernel),
    ("sorts", sorts::kernel),
    ("copies", copies::kernel),
    ("hopper", hopper::kernel),
    ("tcgen05", tcgen05::kernel),
    ("order", order::kernel),
    ("pairs", pairs::kernel),
    ("scaled", scaled::kernel),
    ("sparse", sparse::kernel),
    ("kept", sparse::in_tensor_memory),
    ("memory", tensor_memory::kernel),
    ("positions", positions::kernel),
    ("filters", filters::kernel),
    ("slices", slices::kernel),
    ("pipelines", pipelines::kernel),
];

/// The families that are only emulated, and whose forms are their own.
const UNSEEN: [&str; 5] = ["tcgen05", "pairs", "scaled", "kept", "memory"];

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
    let assembler = Assembler::named(Path::new(env!("CARGO_TARGET_TMPDIR")));
    if assembler.is_none() {
        eprintln!("ptxas: left out, KILN_PTXAS names none");
    }
    let trials = seeds.flat_map(|seed| {
        FAMILIES.map(|(family, kernel)| {
            let name = format!("{family}_{seed}");
            let assembler = assembler.clone();
            Trial::test(name.clone(), move || {
                let text = kernel(seed);
                let assembler = assembler.as_ref().filter(|_| UNSEEN.contains(&family));
                agrees(&name, &text, assembler)
                    .map_err(|error| Failed::from(format!("{name}: {error}\n\n{text}")))
            })
        })
    });
    libtest_mimic::run(&args, trials.collect()).exit_code()
}

fn range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    Some(start.trim().parse().ok()?..end.trim().parse().ok()?)
}

/// Compiles and runs a kernel, and has its PTX assembled.
fn agrees(name: &str, text: &str, assembler: Option<&Assembler>) -> Result<(), String> {
    // A panic of the compiler has to name the kernel too.
    let run = std::panic::catch_unwind(|| {
        let test = FileTest::of(name, text);
        test.run()?;
        assembler.map_or(Ok(()), |assembler| test.assemble(assembler).map(|_| ()))
    });
    run.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        Err(words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned())
    })
}
