//! Kernels of which an instruction is left out that the compiler puts in by itself, or that the language makes everybody write: the
//! emulator says of each what is missing, and where. With it they are file tests, which pass.

use std::path::Path;

use kernel_testkit::FileTest;

/// Every variant of a file test without the `nth` of the instructions that begin like this stops with a message that has
/// these words, one after the other.
#[track_caller]
fn stops(test: &str, (instruction, nth): (&str, usize), words: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let mut files = FileTest::all(&root).expect("the tests are part of the repository").into_iter();
    let file = files.find(|file| file.name == test).expect("there is such a test");
    let without = |text: &str| {
        let begins = |line: &str| {
            let line = line.trim_start();
            let guarded = line.strip_prefix('@').and_then(|rest| rest.split_once(' '));
            guarded.map_or(line, |(_, rest)| rest).starts_with(instruction)
        };
        let (left_out, _) = text.lines().enumerate().filter(|(_, line)| begins(line)).nth(nth)?;
        let mut lines: Vec<&str> = text.lines().collect();
        // An empty line leaves the others where they are.
        lines[left_out] = "";
        Some(lines.join("\n"))
    };
    for outcome in file.altered(without).expect("the instruction is there") {
        let message = outcome.expect_err("an instruction is missing");
        let mut rest = message.as_str();
        for word in words {
            let Some(at) = rest.find(word) else { panic!("required: {word}\nactual: {message}") };
            rest = &rest[at + word.len()..];
        }
    }
}

const PROXY: &str = "fence.proxy.async.shared::cta";

#[test]
fn a_fence_between_what_threads_wrote_and_a_copy_by_tensor_map() {
    let words = [
        "missing proxy fence: the asynchronous proxy reads the 16 bytes at shared address 0x",
        "wrote last, in PTX line ",
        "(hopper/partition_writes.rs:14:30)",
        "that thread has executed no `fence.proxy.async.shared::cta` since, nor has this warp",
        "at hopper/partition_writes.rs:16:5",
        ": @%p",
        "cp.async.bulk.tensor.",
    ];
    stops("hopper/partition_writes", (PROXY, 0), &words);
    // One that the user wrote.
    stops(
        "hopper/tma_copy",
        (PROXY, 0),
        &["missing proxy fence", "(hopper/tma_copy.rs:", "at hopper/tma_copy.rs:27:5"],
    );
}

#[test]
fn a_fence_between_what_threads_wrote_and_a_product() {
    let words = [
        "missing proxy fence",
        "(hopper/wgmma_extents.rs:20:5)",
        "at hopper/wgmma_extents.rs:24:30",
        "wgmma.mma_async",
    ];
    stops("hopper/wgmma_extents", (PROXY, 0), &words);
}

#[test]
fn the_fence_of_the_registers_of_a_product() {
    let words = ["missing wgmma fence: ", "at hopper/wgmma_registers.rs:25:30", "wgmma.mma_async"];
    stops("hopper/wgmma_registers", ("wgmma.fence", 0), &words);
}

#[test]
fn a_wait_for_a_product() {
    let words = [
        "is part of D",
        "`wgmma.wait_group 0` is missing before",
        "at hopper/wgmma_extents.rs:25:5",
    ];
    stops("hopper/wgmma_extents", ("wgmma.wait_group", 0), &words);
}

#[test]
fn a_wait_for_a_store() {
    let words = [
        "the block leaves the kernel while an asynchronous copy has still to read its shared memory",
        "at hopper/partition_writes.rs:16:5",
    ];
    stops("hopper/partition_writes", ("cp.async.bulk.wait_group", 0), &words);
}

#[test]
fn the_fence_of_mbarriers() {
    let words = [
        "missing proxy fence: an asynchronous copy arrives at the mbarrier at shared address 0x",
        "initialised, in PTX line ",
        "has executed no `fence.mbarrier_init.release.cluster` since",
        "at hopper/tma_copy.rs:",
    ];
    stops("hopper/tma_copy", ("fence.mbarrier_init", 0), &words);
    stops("hopper/bulk_copy", ("fence.mbarrier_init", 0), &words[..3]);
}
