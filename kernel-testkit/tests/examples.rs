//! What the kernels of the examples cost: each fits the registers of a multiprocessor, none for Blackwell spills, and the loops of
//! products repeat no more than those of another compiler. Assembled where `KILN_PTXAS` names an assembler and the record has no numbers.
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use kernel_testkit::{
    Assembler,
    assembler::Assemble,
    examples::{self, Example},
    ideal,
    instructions::{Counts, Part},
    record::{Record, Subject},
};
use libtest_mimic::{Arguments, Failed, Trial};

/// A loop of another compiler, as [`Part::of`] counts it, and the example that does the same.
struct Peer {
    fixture: &'static str,
    step: Counts,
    example: &'static str,
    /// What the generic parameters of an instance are that is compared with it.
    of: &'static [(&'static str, &'static str)],
    variants: Variants,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Variants {
    /// The loop has nothing to do with tensors.
    All,
    /// The loop also copies: the variant that knows most of its tensors does.
    First,
}

/// The architecture whose programs have ideal counts, and no spills.
const BLACKWELL: &str = "sm_100f";

/// Triton's Gluon 3.6.0.
const PLUS_C: (&str, Counts) = (
    "matmul_plus_c_ws_256x192x128_b128x64x64_sm100a",
    Counts { products: 4, copies: 0, waits: 1, synchronises: 2, others: 35 },
);
const FUSED: (&str, Counts) = (
    "gather_matmul_scatter_256x256x256_b128x128x64_sm100a",
    Counts { products: 4, copies: 9, waits: 2, synchronises: 6, others: 110 },
);

const PEERS: [Peer; 3] = [
    Peer {
        fixture: PLUS_C.0,
        step: PLUS_C.1,
        example: "matmul_tcgen05",
        of: &[],
        variants: Variants::All,
    },
    Peer {
        fixture: PLUS_C.0,
        step: PLUS_C.1,
        example: "matmul_accumulate_tcgen05",
        of: &[],
        variants: Variants::All,
    },
    Peer {
        fixture: FUSED.0,
        step: FUSED.1,
        example: "matmul_gather_scatter_tcgen05",
        of: &[("BN", "128"), ("BK", "64")],
        variants: Variants::First,
    },
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let package = package.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let examples = examples::all(&package.join("../examples")).expect("the examples can be read");
    let examples: Vec<Arc<Example>> = examples.into_iter().map(Arc::new).collect();
    let assembler = Assembler::named(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let named = std::env::var_os("KILN_FIXTURES").map(PathBuf::from);
    let fixtures = named.unwrap_or_else(|| package.join("../../shared/fixtures"));
    if !args.list {
        if assembler.is_none() {
            eprintln!("ptxas: left out, KILN_PTXAS names none");
        }
        if !fixtures.is_dir() {
            eprintln!(
                "left out: counting the loops of another compiler, there are none in {} (KILN_FIXTURES names another folder)",
                fixtures.display()
            );
        }
    }
    let records = [("digest", Subject::Ptx), ("order", Subject::Order)].map(|(kind, subject)| {
        let record = Record::committed(subject, &package.join(".."));
        (kind, Arc::new(record.expect("it is part of the repository")))
    });
    let recorded = assembler.map(|assembler| {
        let [(_, digest), _] = &records;
        Arc::new(digest.spare(assembler).expect("KILN_PTXAS names a program that runs"))
    });
    let mut trials = Vec::new();
    for example in &examples {
        if example.needs_library() {
            continue;
        }
        for (kind, record) in &records {
            let committed = Arc::clone(record);
            trials.push(trial(kind, example, move |example| {
                committed.compare(&example.in_records(), example.compiled())
            }));
        }
        if example.names(BLACKWELL) && !example.multiplies_in_registers() {
            trials.push(trial("ideal", example, starts_no_more_than_its_shapes_need));
        }
        if let Some(recorded) = recorded.clone() {
            trials.push(trial("ptxas", example, move |example| fits(example, &*recorded)));
        }
        for peer in PEERS.iter().filter(|peer| peer.example == example.example) {
            trials.push(trial("loop", example, |example| repeats_no_more_than(example, peer)));
        }
    }
    for (name, step) in [PLUS_C, FUSED] {
        let file = fixtures.join(name).with_extension("ptx");
        if let Ok(text) = std::fs::read_to_string(file) {
            trials.push(Trial::test(format!("fixture::{name}"), move || {
                let actual = Part::of(&text);
                same(actual, Part::Loop(step)).map_err(Failed::from)
            }));
        }
    }
    let conclusion = libtest_mimic::run(&args, trials);
    if let Some(recorded) = recorded.filter(|_| !args.list) {
        eprintln!("{}", recorded.summary());
    }
    conclusion.exit_code()
}

fn trial(
    kind: &str,
    example: &Arc<Example>,
    check: impl Fn(&Example) -> Result<(), String> + Send + 'static,
) -> Trial {
    let shared = Arc::clone(example);
    let name = format!("{kind}::{}", example.name());
    Trial::test(name, move || check(&shared).map_err(Failed::from))
}

fn same(actual: Part, required: Part) -> Result<(), String> {
    if actual == required {
        return Ok(());
    }
    Err(format!("required {required:?}\nactual   {actual:?}"))
}

/// The registers that a multiprocessor has for all threads of its blocks; a warp is given them by eights for each thread.
const REGISTERS: u32 = 65536;

/// Asks what every variant costs. Those for Blackwell keep everything in registers; of others, what they spill is said.
fn fits(example: &Example, assembler: &impl Assemble) -> Result<(), String> {
    for build in example.compiled().builds()? {
        for (place, variant) in build.variants.iter().enumerate() {
            let threads = threads(&variant.ptx).ok_or_else(|| {
                format!("{} [{}]: no number of threads", example.name(), build.label)
            })?;
            for target in build.assembled_for(place) {
                let what =
                    format!("{} [{}] {} {target}", example.name(), build.label, variant.name);
                let cost = assembler
                    .cost(&what, &variant.ptx, target)
                    .map_err(|error| format!("{what}: {error}"))?;
                let taken = cost.registers.next_multiple_of(8) * threads;
                if taken > REGISTERS {
                    return Err(format!(
                        "{what}: required at most {REGISTERS} registers for {threads} threads, actual {taken}"
                    ));
                }
                match cost.spilled_bytes {
                    0 => {}
                    bytes if target == BLACKWELL && !example.multiplies_in_registers() => {
                        return Err(format!("{what}: {bytes} bytes of registers are spilled"));
                    }
                    bytes => eprintln!("spill: {what}: {bytes} bytes"),
                }
            }
        }
    }
    Ok(())
}

/// The threads of a block that an entry asks for.
fn threads(ptx: &str) -> Option<u32> {
    let (_, rest) = ptx.split_once(".reqntid ")?;
    rest.lines().next()?.split(',').map(|extent| extent.trim().parse::<u32>().ok()).product()
}

/// Products, copies and waits are as many as the shapes of the tiles need. Variants that know less of their tensors may copy in more
/// pieces: extents that are no multiples of a box cannot share one.
fn starts_no_more_than_its_shapes_need(example: &Example) -> Result<(), String> {
    for build in example.compiled().builds()? {
        if build.target != BLACKWELL {
            continue;
        }
        let what = format!("{} [{}]", example.name(), build.label);
        let ideal = ideal::of(&example.example, &build.generics)
            .ok_or(format!("{what}: `ideal.rs` does not say how many instructions it needs"))?;
        for (place, variant) in build.variants.iter().enumerate() {
            let actual = Part::of(&variant.ptx).counts();
            let copies_fit = if place == 0 {
                actual.copies == ideal.copies
            } else {
                actual.copies >= ideal.copies
            };
            if !(actual.products == ideal.products && copies_fit && actual.waits == ideal.waits) {
                return Err(format!(
                    "{what} {}:\nrequired {ideal:?}\nactual   {actual:?}",
                    variant.name
                ));
            }
        }
    }
    Ok(())
}

/// For each product that a step starts, the loop has at most as many other instructions of each kind as the peer's.
fn repeats_no_more_than(example: &Example, peer: &Peer) -> Result<(), String> {
    let mut compared = 0;
    for build in example.compiled().builds()? {
        let is = |(name, value): &(&str, &str)| {
            build.generics.iter().any(|(known, actual)| known == name && actual == value)
        };
        if !peer.of.iter().all(is) {
            continue;
        }
        let count = if peer.variants == Variants::All { build.variants.len() } else { 1 };
        for variant in &build.variants[..count] {
            let Part::Loop(actual) = Part::of(&variant.ptx) else {
                return Err(format!("[{}] {}: no loop of products", build.label, variant.name));
            };
            let most = |of: fn(&Counts) -> usize| {
                of(&actual) * peer.step.products <= of(&peer.step) * actual.products
            };
            if !(most(|step| step.copies)
                && most(|step| step.waits)
                && most(|step| step.synchronises)
                && most(|step| step.others))
            {
                return Err(format!(
                    "[{}] {}: a step\nrequired at most {:?}, as {} has\nactual           {actual:?}",
                    build.label, variant.name, peer.step, peer.fixture
                ));
            }
            compared += 1;
        }
    }
    if compared == 0 { Err("no variant was compared".to_owned()) } else { Ok(()) }
}
