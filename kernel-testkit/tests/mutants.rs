//! What mutants are made of an instruction, that each is PTX still, and what the emulator says of kernels that lack an instruction which
//! the compiler puts in by itself, or which the language makes everybody write. How many mutants it stops in all, `cargo xtask mutate`
//! says.

use std::path::Path;

use kernel_ptx::Reason;
use kernel_testkit::mutate::{
    Mutation, mutants,
    subject::{Kernel, Verdict},
};

/// A file test by name.
fn kernel(name: &str) -> Kernel {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let kernels = Kernel::of_tests(&root).expect("the tests are part of the repository");
    kernels.into_iter().find(|kernel| kernel.name() == name).expect("there is such a test")
}

/// Every variant of a file test without the `nth` instruction of a class stops with a message that has these words, one after the
/// other.
#[track_caller]
fn stops(test: &str, (class, nth): (&str, usize), words: &[&str]) {
    let kernel = kernel(test);
    let mut stopped = 0;
    for subject in kernel.subjects().expect("it compiles") {
        let mut mutants = subject.mutants().expect("it is PTX");
        mutants.retain(|mutant| {
            (mutant.class.name, mutant.mutation, mutant.ordinal) == (class, Mutation::Delete, nth)
        });
        for outcome in subject.judge(mutants).expect("it passes as it is") {
            let Verdict::Fault(_, message) = outcome.verdict else {
                panic!("an instruction is missing: {:?}", outcome.verdict)
            };
            let mut rest = message.as_str();
            for word in words {
                let Some(at) = rest.find(word) else {
                    panic!("required: {word}\nactual: {message}")
                };
                rest = &rest[at + word.len()..];
            }
            stopped += 1;
        }
    }
    assert!(stopped > 0, "the instruction is there");
}

#[test]
fn a_fence_between_what_threads_wrote_and_a_tma_copy_is_asked_for() {
    let words = [
        "missing proxy fence: the asynchronous proxy reads the 16 bytes at shared address 0x",
        "wrote last, in PTX line ",
        "(hopper/partition_writes.rs:14:30)",
        "that thread has executed no `fence.proxy.async.shared::cta` since, nor has this warp",
        "at hopper/partition_writes.rs:16:5",
        ": @%p",
        "cp.async.bulk.tensor.",
    ];
    stops("hopper/partition_writes", ("fence.proxy.async", 0), &words);
    // One that the user wrote.
    let words = ["missing proxy fence", "(hopper/tma_copy.rs:", "at hopper/tma_copy.rs:27:5"];
    stops("hopper/tma_copy", ("fence.proxy.async", 0), &words);
}

#[test]
fn a_fence_between_what_threads_wrote_and_a_product_is_asked_for() {
    let words = [
        "missing proxy fence",
        "(hopper/wgmma_extents.rs:20:5)",
        "at hopper/wgmma_extents.rs:24:30",
        "wgmma.mma_async",
    ];
    stops("hopper/wgmma_extents", ("fence.proxy.async", 0), &words);
}

#[test]
fn the_fence_of_the_registers_of_a_product_is_asked_for() {
    let words = ["missing wgmma fence: ", "at hopper/wgmma_registers.rs:25:30", "wgmma.mma_async"];
    stops("hopper/wgmma_registers", ("wgmma.fence", 0), &words);
}

#[test]
fn a_wait_for_a_product_is_asked_for() {
    let words = [
        "is part of D",
        "`wgmma.wait_group 0` is missing before",
        "at hopper/wgmma_extents.rs:25:5",
    ];
    stops("hopper/wgmma_extents", ("wgmma.wait_group", 0), &words);
}

#[test]
fn a_wait_for_a_store_is_asked_for() {
    let words = [
        "the block leaves the kernel while an asynchronous copy has still to read its shared memory",
        "at hopper/partition_writes.rs:16:5",
    ];
    stops("hopper/partition_writes", ("cp.async.bulk.wait_group", 0), &words);
}

#[test]
fn the_fence_of_mbarriers_is_asked_for() {
    let words = [
        "missing proxy fence: an asynchronous copy arrives at the mbarrier at shared address 0x",
        "initialised, in PTX line ",
        "has executed no `fence.mbarrier_init.release.cluster` since",
        "at hopper/tma_copy.rs:",
    ];
    stops("hopper/tma_copy", ("fence.mbarrier_init", 0), &words);
    stops("hopper/bulk_copy", ("fence.mbarrier_init", 0), &words[..3]);
}

/// A module for `sm_90a` with these instructions in its entry.
fn module(instructions: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.file 1 \"area/name.rs\"\n.visible .entry e()\n{{\n\t.reg .pred %p<4>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\t.loc 1 7 3\n{instructions}\n\tret;\n}}\n"
    )
}

/// What becomes of one instruction, by mutation.
fn changes(instruction: &str) -> Vec<(&'static str, String)> {
    let text = module(instruction);
    let line = |text: &str| text.lines().nth(10).unwrap_or_default().to_owned();
    let made = mutants(&text).expect("it is PTX");
    made.iter().map(|mutant| (mutant.mutation.name(), line(&mutant.apply(&text)))).collect()
}

#[track_caller]
fn makes(instruction: &str, required: &[(&str, &str)]) {
    let required: Vec<(&str, String)> =
        required.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    assert_eq!(changes(instruction), required);
}

#[test]
fn a_wait_on_an_mbarrier_says_yes_at_once_or_is_for_the_other_parity() {
    makes(
        "@!%p1 mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r0+8], %r1;",
        &[
            ("delete", "@!%p1 mov.pred %p0, 1;"),
            (
                "parity",
                "{ .reg .b32 %mutant; xor.b32 %mutant, %r1, 1; @!%p1 mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r0+8], %mutant; }",
            ),
            (
                "relax",
                "@!%p1 mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p0, [%r0+8], %r1;",
            ),
        ],
    );
}

#[test]
fn arrivals_count_more_expect_other_bytes_and_hand_on_nothing() {
    makes(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0];",
        &[
            ("delete", ""),
            ("count+1", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0], 2;"),
            ("relax", "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r0];"),
            ("scope", "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r0];"),
        ],
    );
    makes(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 64;",
        &[
            ("delete", ""),
            ("bytes+16", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 80;"),
            ("bytes-16", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 48;"),
            ("relax", "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%r0], 64;"),
        ],
    );
    // A count of 0 is no mutant: the instruction does not permit it.
    makes(
        "mbarrier.init.shared::cta.b64 [%r0], 1;",
        &[("delete", ""), ("count+1", "mbarrier.init.shared::cta.b64 [%r0], 2;")],
    );
}

#[test]
fn fences_and_atomic_operations_lose_their_order_and_their_scope() {
    makes(
        "fence.sc.gpu;",
        &[("delete", ""), ("weaken", "fence.acq_rel.gpu;"), ("scope", "fence.sc.cta;")],
    );
    makes(
        "atom.acq_rel.gpu.global.add.u32 %r0, [%rd0], 1;",
        &[
            ("relax", "atom.relaxed.gpu.global.add.u32 %r0, [%rd0], 1;"),
            ("scope", "atom.acq_rel.cta.global.add.u32 %r0, [%rd0], 1;"),
        ],
    );
    makes("red.global.add.u32 [%rd0], 1;", &[("scope", "red.cta.global.add.u32 [%rd0], 1;")]);
    makes("red.shared.add.u32 [%r0], 1;", &[]);
    makes(
        "ld.relaxed.gpu.global.u32 %r0, [%rd0];",
        &[
            ("weaken", "ld.global.u32 %r0, [%rd0];"),
            ("scope", "ld.relaxed.cta.global.u32 %r0, [%rd0];"),
        ],
    );
}

#[test]
fn waits_for_groups_let_one_more_be_in_flight() {
    makes(
        "cp.async.bulk.wait_group 0;",
        &[
            ("delete", ""),
            ("one-more", "cp.async.bulk.wait_group 1;"),
            ("weaken", "cp.async.bulk.wait_group.read 0;"),
        ],
    );
    // 7 is the most.
    makes("wgmma.wait_group.sync.aligned 7;", &[("delete", "")]);
}

#[test]
fn barriers_of_a_block_become_others_of_the_kernel() {
    let text = module("bar.sync 0, 64; bar.sync 3, 64;");
    let made = mutants(&text).expect("it is PTX");
    let lines: Vec<String> = made
        .iter()
        .map(|mutant| mutant.apply(&text).lines().nth(10).unwrap_or_default().to_owned())
        .collect();
    let required = [
        " bar.sync 3, 64;",
        "bar.sync 3, 64; bar.sync 3, 64;",
        "bar.sync 0, 96; bar.sync 3, 64;",
        "bar.sync 0, 32; bar.sync 3, 64;",
        "bar.sync 0, 64; ",
        "bar.sync 0, 64; bar.sync 0, 64;",
        "bar.sync 0, 64; bar.sync 3, 96;",
        "bar.sync 0, 64; bar.sync 3, 32;",
    ];
    assert_eq!(lines, required);
    assert_eq!(made[7].source, Some(("area/name.rs".to_owned(), 7)));
    assert_eq!((made[7].ptx_line, made[7].ordinal), (11, 1));
}

#[test]
fn both_halves_of_a_barrier_of_a_cluster_go_together() {
    let text = module("barrier.cluster.arrive;\nbarrier.cluster.wait;");
    let made = mutants(&text).expect("it is PTX");
    let both = made.iter().find(|mutant| mutant.mutation == Mutation::DeleteBoth);
    let lines: Vec<String> = both
        .expect("there is a wait")
        .apply(&text)
        .lines()
        .skip(10)
        .take(3)
        .map(str::to_owned)
        .collect();
    assert_eq!(lines, ["", "", "\tret;"]);
}

/// Kernels with most of the classes between them.
const KERNELS: [&str; 6] = [
    "hopper/gemm_specialized",
    "hopper/wgmma_cluster",
    "copy/ring",
    "atomic/once_a_block",
    "blackwell/pair_ring",
    "grid/dependents",
];

/// Only the version may be too old for a weaker form.
#[test]
fn every_mutant_of_a_kernel_is_ptx_with_as_many_lines() {
    for name in KERNELS {
        for subject in kernel(name).subjects().expect("it compiles") {
            for mutant in subject.mutants().expect("it is PTX") {
                let text = mutant.apply(subject.ptx);
                let what = format!("{name} {}: {mutant:?}", subject.variant);
                assert_eq!(text.lines().count(), subject.ptx.lines().count(), "{what}");
                assert_ne!(text, subject.ptx, "{what}");
                let module = kernel_ptx::parse(&text).expect(&what);
                let found = module.validate().err().unwrap_or_default();
                let version = |reason: &Reason| matches!(reason, Reason::Version { .. });
                assert!(found.iter().all(|found| version(&found.reason)), "{what}: {found:?}");
            }
        }
    }
}
