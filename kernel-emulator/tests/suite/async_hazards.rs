//! What goes wrong with asynchronous copies: a wrong kernel beside its twin that is right.

use kernel_emulator::{Fault, FaultKind, LaunchConfig, Options, TensorMap};

use crate::harness::Bench;
use crate::tma::{kernel, params, plain};

/// Sets up: `%p0` is true in thread 0, `%r1` is the thread's word of `tile`, `%r9` the block's rank.
const SETUP: &str = ".shared .align 1024 .b8 tile[2048]; .shared .align 8 .b64 bar[2];
    setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2;
    mov.u32 %r9, %cluster_ctarank; mov.u32 %r20, 0; mov.u32 %r21, 1;
    @%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 mbarrier.init.shared.b64 [bar+8], 1;
    @%p0 fence.mbarrier_init.release.cluster; bar.sync 0;";

const EXPECT: &str = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;";
/// 256 bytes to the start of `tile`.
const LOAD: &str =
    "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
    [tile], [%d0, {0}], [bar];";
const WAIT: &str = "W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W$;";
/// 256 bytes from the start of `tile`.
const STORE: &str =
    "@%p0 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d0, {0}], [tile];
    @%p0 cp.async.bulk.commit_group;";
const FENCE: &str = "fence.proxy.async.shared::cta;";

/// Launches a kernel on blocks of one cluster; its map is of 64 u32, its pointer 64 words.
fn launch(body: &str, threads: u32, blocks: u32) -> Result<Vec<u32>, Box<Fault>> {
    launch_after((SETUP, body), threads, blocks, &Options::default())
}

/// As [`launch`], after another beginning.
fn launch_after(
    (setup, body): (&str, &str),
    threads: u32,
    blocks: u32,
    options: &Options,
) -> Result<Vec<u32>, Box<Fault>> {
    // Every label `W$` is another one.
    let mut parts = body.split("W$: ");
    let mut text = format!("{setup}\n{}", parts.next().unwrap_or_default());
    for (i, part) in parts.enumerate() {
        text.extend([format!("W{i}: "), part.replacen("W$", &format!("W{i}"), 1)]);
    }
    let bench = Bench::new(&kernel(&text));
    let data = bench.upload_words(&(0..64).collect::<Vec<_>>());
    let map = TensorMap { dtype: 2, ..plain(data, &[64], &[], &[64]) };
    let to = bench.upload_words(&[0; 64]);
    let config = LaunchConfig {
        cluster: [blocks, 1, 1],
        ..LaunchConfig::new([blocks, 1, 1], [threads, 1, 1])
    };
    let options = options.clone().with_max_instructions(1 << 22);
    bench.try_launch(&config, &params(&map, &[to]), &options).map_err(Box::new)?;
    Ok(bench.words(data, 64))
}

/// The wrong kernel faults with a kind, the right one does not; 64 threads.
#[track_caller]
fn twins(kind: FaultKind, wrong: &str, right: &str) -> Box<Fault> {
    twins_in(kind, wrong, right, (64, 1))
}

#[track_caller]
pub(crate) fn twins_in(
    kind: FaultKind,
    wrong: &str,
    right: &str,
    (threads, blocks): (u32, u32),
) -> Box<Fault> {
    if let Err(fault) = launch(right, threads, blocks) {
        panic!("the right kernel: {fault}");
    }
    let fault = launch(wrong, threads, blocks).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, kind, "{fault}");
    fault
}

#[track_caller]
pub(crate) fn says(fault: &Fault, part: &str) {
    assert!(fault.detail.contains(part), "{fault}");
}

#[test]
fn a_loaded_tile_is_read_after_the_wait() {
    let read = "ld.shared.b32 %r3, [%r1];";
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{EXPECT} {LOAD} bar.sync 0; {read} {WAIT}"),
        &format!("{EXPECT} {LOAD} bar.sync 0; {WAIT} {read}"),
    );
    says(&fault, "which an asynchronous copy has still to write");
    says(&fault, "wait for its mbarrier first");
    // So it is where it is written, in a block of one warp too.
    let write = "st.shared.b32 [%r1], 1;";
    twins_in(
        FaultKind::AsyncInFlight,
        &format!("{EXPECT} {LOAD} {write} {WAIT}"),
        &format!("{EXPECT} {LOAD} {WAIT} {write}"),
        (32, 1),
    );
    // Bytes beside the tile are anybody's.
    let beside = "st.shared.b32 [%r1+256], 1;";
    assert!(launch(&format!("{EXPECT} {LOAD} {beside} {WAIT}"), 64, 1).is_ok());
}

#[test]
fn a_wait_whose_result_nobody_looks_at_is_none() {
    for wait in ["try_wait", "test_wait"] {
        let look = format!("mbarrier.{wait}.parity.shared.b64 %p1, [bar], 0;");
        twins(
            FaultKind::AsyncInFlight,
            &format!("{EXPECT} {LOAD} bar.sync 0; {look} ld.shared.b32 %r3, [%r1];"),
            &format!(
                "{EXPECT} {LOAD} bar.sync 0; W: {look} @!%p1 bra W; ld.shared.b32 %r3, [%r1];"
            ),
        );
        // An arrival that comes later: warp 1 waits for warp 0.
        let body = |behind: &str| {
            format!(
                "setp.ge.u32 %p2, %r0, 32; @%p2 bra READ; nanosleep.u32 100; nanosleep.u32 100; st.shared.b32 [%r1], 7;
                 bar.warp.sync -1; @%p0 mbarrier.arrive.shared.b64 _, [bar]; bra DONE;
                 READ: {look} {behind} ld.shared.b32 %r3, [tile]; DONE:"
            )
        };
        twins(FaultKind::Race, &body(""), &body("@!%p1 bra READ;"));
    }
}

#[test]
fn a_wait_for_another_phase_is_none() {
    let read = "ld.shared.b32 %r3, [%r1];";
    let other = WAIT.replace("[bar], 0", "[bar], 1");
    let fault = twins_in(
        FaultKind::AsyncInFlight,
        &format!("{EXPECT} {LOAD} bar.sync 0; {other} {read} {WAIT}"),
        &format!("{EXPECT} {LOAD} bar.sync 0; {WAIT} {read}"),
        (32, 1),
    );
    says(&fault, "which an asynchronous copy has still to write");
    says(
        &fault,
        "wait for its mbarrier first (`mbarrier.try_wait`), for phase parity 0; the last wait",
    );
    says(&fault, "of this warp, in PTX line 13, was for 1");
    // A wait for the phase before says as much of the next one; another mbarrier's wait says nothing.
    let next = format!(
        "{EXPECT} {LOAD} bar.sync 0; {WAIT} bar.sync 0; {EXPECT} {LOAD} bar.sync 0;
         mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 1;"
    );
    let second = WAIT.replace("[bar], 0", "[bar], 1");
    let fault = twins_in(
        FaultKind::AsyncInFlight,
        &format!("{next} {read} {second}"),
        &format!("{next} {second} {read}"),
        (32, 1),
    );
    says(&fault, "for phase parity 1; the last wait of this warp, in PTX line 13, was for 0");
    let fault = twins_in(
        FaultKind::AsyncInFlight,
        &format!(
            "{EXPECT} {LOAD} mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 1; {read} {WAIT}"
        ),
        &format!(
            "{EXPECT} {LOAD} mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 1; {WAIT} {read}"
        ),
        (32, 1),
    );
    assert!(!fault.detail.contains("last wait"), "{fault}");
    // Nor does it order what threads wrote before they arrived in this phase, which is for two arrivals.
    let exchange = |parity: u32| {
        format!(
            "@%p0 mbarrier.inval.shared.b64 [bar+8]; @%p0 mbarrier.init.shared.b64 [bar+8], 2; bar.sync 0;
             setp.ge.u32 %p2, %r0, 32; @%p2 bra SECOND; st.shared.b32 [%r1], 5;
             @%p0 mbarrier.arrive.shared.b64 _, [bar+8]; bra DONE;
             SECOND: nanosleep.u32 100; nanosleep.u32 100; setp.eq.u32 %p3, %r0, 32;
             @%p3 mbarrier.arrive.shared.b64 _, [bar+8+$];
             W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], {parity}; @!%p1 bra W$;
             ld.shared.b32 %r3, [tile]; DONE:"
        )
    };
    // The wrong kernel arrives somewhere else.
    let (wrong, right) = (exchange(1).replace("+8+$", ""), exchange(0).replace("+8+$", "+8"));
    twins(FaultKind::Race, &wrong, &right);
}

#[test]
fn an_mbarrier_stays_as_long_as_copies_arrive_at_it() {
    let inval = "@%p0 mbarrier.inval.shared.b64 [bar];";
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{EXPECT} {LOAD} {inval}"),
        &format!("{EXPECT} {LOAD} bar.sync 0; {WAIT} bar.sync 0; {inval}"),
    );
    says(&fault, "an asynchronous copy has still to arrive at it");
    let init = "@%p0 mbarrier.init.shared.b64 [bar], 1;";
    twins(
        FaultKind::AsyncInFlight,
        &format!("{EXPECT} {LOAD} {init}"),
        &format!("{EXPECT} {LOAD} bar.sync 0; {WAIT} bar.sync 0; {inval} {init}"),
    );
}

#[test]
fn a_valid_mbarrier_is_not_overwritten() {
    let inval = "@%p0 mbarrier.inval.shared.b64 [bar+8];";
    for (what, again) in [
        ("is initialised where one is valid", "@%p0 mbarrier.init.shared.b64 [bar+8], 1;"),
        ("a store of 4 bytes", "@%p0 st.shared.u32 [bar+12], 0;"),
        (
            "an atomic operation of 4 bytes",
            "@%p0 st.shared.u32 [tile], 0; @%p0 red.shared.add.u32 [bar+8], 1;",
        ),
    ] {
        let right = format!(
            "{inval} {}",
            again.replace("red.shared", "st.shared.u32 [bar+8], 0; @%p0 red.shared")
        );
        let fault = twins(FaultKind::IllegalOperand, again, &right);
        says(&fault, what);
        says(&fault, "an `mbarrier.inval`");
    }
    let copy = LOAD.replace("[tile]", "[wide]");
    let body = |inval: &str| {
        format!(
            ".shared .align 128 .b8 wide[256]; @%p0 mbarrier.init.shared.b64 [wide+64], 1; {inval} {EXPECT} {copy} bar.sync 0; {WAIT}"
        )
    };
    let fault = twins(
        FaultKind::IllegalOperand,
        &body(""),
        &body("@%p0 mbarrier.inval.shared.b64 [wide+64];"),
    );
    says(&fault, "an asynchronous copy of 256 bytes");
}

#[test]
fn a_warp_that_did_not_wait_does_not_know_of_the_landing() {
    // Warp 0 waits, so the tile has landed; warp 1 reads it without a wait or a barrier.
    let first = "setp.ge.u32 %p2, %r0, 32; @%p2 bra SECOND;";
    let second =
        "bar.arrive 1, 64; bra DONE; SECOND: bar.sync 1, 64; ld.shared.b32 %r3, [%r1]; DONE:";
    let wrong = format!(
        "{EXPECT} {LOAD} {first} bar.arrive 1, 64; {WAIT} bra DONE;
         SECOND: bar.sync 1, 64; nanosleep.u32 10; nanosleep.u32 10; ld.shared.b32 %r3, [%r1]; DONE:"
    );
    let right = format!("{EXPECT} {LOAD} {first} {WAIT} {second}");
    let fault = twins(FaultKind::Race, &wrong, &right);
    says(&fault, "which an asynchronous copy wrote");
}

#[test]
fn a_buffer_is_refilled_after_its_readers_are_done() {
    let round = |between: &str| {
        format!(
            "{EXPECT} {LOAD} bar.sync 0; {WAIT} ld.shared.b32 %r3, [%r1]; {between}
             @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256; {LOAD}
             W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1; @!%p1 bra W$;"
        )
    };
    // Without a barrier warp 1 may still read while thread 0 refills. Warp 1 has to have read by then to show it.
    let late = "bar.warp.sync -1; setp.lt.u32 %p2, %r0, 32; @%p2 nanosleep.u32 100;";
    let fault = twins(FaultKind::Race, &round(late), &round("bar.sync 0;"));
    says(&fault, "an asynchronous copy of 256 bytes");
    says(&fault, "which warp 1 read");
}

#[test]
fn two_copies_do_not_write_the_same_bytes_at_once() {
    let expect = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;";
    let other = LOAD.replace("[tile]", "[tile+256]");
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{expect} {LOAD} {LOAD} bar.sync 0; {WAIT}"),
        &format!("{expect} {LOAD} {other} bar.sync 0; {WAIT}"),
    );
    says(&fault, "which another asynchronous operation has still to write");
}

#[test]
fn a_copy_of_another_block_is_named_with_its_block() {
    let both = |place: &str| {
        format!(
            "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512; mov.u32 %r11, tile; mad.lo.u32 %r11, %r9, {place}, %r11;
             barrier.cluster.arrive; barrier.cluster.wait; mov.b16 %h0, 3;
             @%p0 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
                 [%r11], [%d0, {{0}}], [bar], %h0;
             W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W$; barrier.cluster.arrive; barrier.cluster.wait;"
        )
    };
    let fault = twins_in(FaultKind::AsyncInFlight, &both("0"), &both("256"), (32, 2));
    says(
        &fault,
        "which another asynchronous operation has still to write; warp 0 of block (1, 0, 0) issued it",
    );
    assert_eq!(fault.block, [0, 0, 0], "{fault}");
}

#[test]
fn only_reductions_meet_on_the_way() {
    let expect =
        "st.shared.b32 [%r1], 0; bar.sync 0; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar+8], 4;";
    let red = |barrier: &str| {
        format!(
            "@%p0 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
                 [tile], %r21, [{barrier}];"
        )
    };
    let (first, second) = (red("bar"), red("bar+8"));
    let store =
        "@%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [tile], %r21, [bar];";
    let other = WAIT.replace("[bar]", "[bar+8]");
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{expect} {store} {second} bar.sync 0; {WAIT} {other}"),
        &format!("{expect} {first} {second} bar.sync 0; {WAIT} {other}"),
    );
    says(&fault, "which another asynchronous operation has still to write");
    // When one of them has landed, the other is still on its way to the same word.
    let read = "ld.shared.b32 %r3, [tile];";
    twins(
        FaultKind::AsyncInFlight,
        &format!("{expect} {first} {second} bar.sync 0; {WAIT} {read} {other}"),
        &format!("{expect} {first} {second} bar.sync 0; {WAIT} {other} {read}"),
    );
}

#[test]
fn the_source_of_a_load_stays_as_it_is_until_the_copy_landed() {
    // The map's tensor is what `%d2` points to.
    let tensor = "ld.global.b32 %r4, [%d1]; sub.s64 %d2, %d1, 65792;";
    let write = "@%p0 st.global.b32 [%d2+8], 77;";
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{tensor} {EXPECT} {LOAD} {write} bar.sync 0; {WAIT}"),
        &format!("{tensor} {EXPECT} {LOAD} bar.sync 0; {WAIT} {write}"),
    );
    says(&fault, "was overwritten while an asynchronous copy of it was in flight");
    assert!(fault.ptx.contains("cp.async.bulk.tensor"), "{fault}");
}

#[test]
fn a_barrier_that_expects_the_wrong_bytes_does_not_complete() {
    let with = |bytes: u32| {
        format!(
            "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes}; {LOAD} bar.sync 0; {WAIT}"
        )
    };
    let fault = twins(FaultKind::Deadlock, &with(384), &with(256));
    says(
        &fault,
        "0 of 1 arrivals and 128 bytes are missing: more are expected than the copies bring",
    );
    let fault = twins(FaultKind::Deadlock, &with(128), &with(256));
    says(&fault, "256 bytes are on the way");
    says(&fault, "whose phase waits for 128");
    // Nobody said how many: the phase completes before the copy, whose bytes the next one is to expect.
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!(
            "@%p0 mbarrier.arrive.shared.b64 _, [bar]; {LOAD} bar.sync 0; {WAIT} ld.shared.b32 %r3, [%r1];"
        ),
        &format!("{EXPECT} {LOAD} bar.sync 0; {WAIT} ld.shared.b32 %r3, [%r1];"),
    );
    says(&fault, "which an asynchronous copy has still to write");
}

#[test]
fn a_block_does_not_leave_before_its_copies_landed() {
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{EXPECT} {LOAD}"),
        &format!("{EXPECT} {LOAD} bar.sync 0; {WAIT}"),
    );
    says(&fault, "the block leaves the kernel while an asynchronous copy has still to write");
    let write = format!("st.shared.b32 [%r1], %r0; {FENCE} bar.sync 0;");
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{write} {STORE}"),
        &format!("{write} {STORE} cp.async.bulk.wait_group.read 0;"),
    );
    says(&fault, "has still to read its shared memory");
    // A group that is not committed is not waited for.
    let uncommitted = STORE.replace("@%p0 cp.async.bulk.commit_group;", "");
    twins(
        FaultKind::AsyncInFlight,
        &format!("{write} {uncommitted} cp.async.bulk.wait_group.read 0;"),
        &format!("{write} {STORE} cp.async.bulk.wait_group.read 0;"),
    );
    // The groups are the thread's own: another thread's wait is none.
    twins(
        FaultKind::AsyncInFlight,
        &format!("{write} {STORE} @!%p0 cp.async.bulk.wait_group.read 0;"),
        &format!("{write} {STORE} @%p0 cp.async.bulk.wait_group.read 0;"),
    );
}

#[test]
fn the_source_of_a_store_is_overwritten_after_the_wait() {
    let write = format!("st.shared.b32 [%r1], %r0; {FENCE} bar.sync 0;");
    let again = "st.shared.b32 [%r1], 1;";
    let wait = "cp.async.bulk.wait_group.read 0;";
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{write} {STORE} bar.sync 0; {again} {wait}"),
        &format!("{write} {STORE} {wait} bar.sync 0; {again}"),
    );
    says(&fault, "which an asynchronous operation has still to read");
    says(&fault, "cp.async.bulk.wait_group.read");
    // Other threads have to learn of the wait: a barrier after it.
    let late = "bar.warp.sync -1; setp.ge.u32 %p2, %r0, 32; @%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100;";
    let fault = twins(
        FaultKind::Race,
        &format!("{write} {STORE} {wait} {late} {again}"),
        &format!("{write} {STORE} {wait} bar.sync 0; {again}"),
    );
    says(&fault, "which an asynchronous copy of warp 0 read until the wait in PTX line 13");
    says(&fault, "and no barrier lies between that wait and this instruction");
    // One before it is not enough, for the copy goes on reading.
    twins(
        FaultKind::Race,
        &format!("{write} {STORE} bar.sync 0; {wait} {late} {again}"),
        &format!("{write} {STORE} bar.sync 0; {wait} bar.sync 0; {again}"),
    );
    // Reading the source meanwhile is fine.
    let read = "ld.shared.b32 %r3, [%r1];";
    assert!(launch(&format!("{write} {STORE} {read} {wait}"), 64, 1).is_ok());
    // A load into it is not, here one from behind the tensor.
    let behind = LOAD.replace("{0}", "{64}");
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{write} {STORE} {EXPECT} {behind} {wait} bar.sync 0; {WAIT}"),
        &format!("{write} {STORE} {wait} {EXPECT} {behind} bar.sync 0; {WAIT}"),
    );
    says(&fault, "which another asynchronous operation has still to read");
}

#[test]
fn what_is_stored_was_written() {
    let half = "setp.lt.u32 %p2, %r0, 63; @%p2 st.shared.b32 [%r1], 1;";
    let fault = twins(
        FaultKind::Uninitialised,
        &format!("{half} {FENCE} bar.sync 0; {STORE} cp.async.bulk.wait_group 0;"),
        &format!("st.shared.b32 [%r1], 1; {FENCE} bar.sync 0; {STORE} cp.async.bulk.wait_group 0;"),
    );
    says(&fault, "shared memory never written");
}

#[test]
fn what_threads_wrote_is_stored_after_their_proxy_fence() {
    let tail = format!("{STORE} cp.async.bulk.wait_group.read 0;");
    let write = "st.shared.b32 [%r1], %r0;";
    let right = format!("{write} {FENCE} bar.sync 0; {tail}");
    let fault = twins(FaultKind::ProxyFence, &format!("{write} bar.sync 0; {tail}"), &right);
    says(
        &fault,
        "the asynchronous proxy reads the 16 bytes at shared address 0x400, which lane 3 of",
    );
    says(&fault, "of warp 0 wrote last, in PTX line ");
    says(
        &fault,
        "that thread has executed no `fence.proxy.async.shared::cta` since, nor has this warp",
    );
    assert!(!fault.detail.contains("without a barrier"), "{fault}");
    // The thread that issues the copy may fence for the others, once it has synchronised with them.
    assert!(launch(&format!("{write} bar.sync 0; {FENCE} {tail}"), 64, 1).is_ok());
    assert!(launch(&format!("{write} bar.sync 0; @%p0 {FENCE} {tail}"), 64, 1).is_ok());
    let first = "setp.lt.u32 %p2, %r0, 32;";
    let fault = twins(
        FaultKind::ProxyFence,
        &format!("{first} {write} @%p2 {FENCE} bar.sync 0; {tail}"),
        &right,
    );
    says(&fault, "of warp 1 wrote last");
    // That the others come first by chance is not enough.
    let late = "@%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100;";
    twins(
        FaultKind::ProxyFence,
        &format!("{first} {write} {late} @%p2 {FENCE} bar.sync 0; {tail}"),
        &format!("{first} {write} {late} bar.sync 0; @%p2 {FENCE} {tail}"),
    );
    // The fence comes after the write, and is one of shared memory.
    twins(FaultKind::ProxyFence, &format!("{FENCE} {write} bar.sync 0; {tail}"), &right);
    twins(
        FaultKind::ProxyFence,
        &format!("{write} fence.proxy.async.global; bar.sync 0; {tail}"),
        &right,
    );
    for fence in ["fence.proxy.async;", "fence.proxy.async.shared::cluster;"] {
        assert!(launch(&format!("{write} {fence} bar.sync 0; {tail}"), 64, 1).is_ok());
    }
}

#[test]
fn a_fence_counts_only_before_the_barrier() {
    // Warp 1 fences after the barrier that thread 0 waits at, and before thread 0 comes to its copy.
    let write = "st.shared.b32 [%r1], %r0; setp.ge.u32 %p2, %r0, 32;";
    let late = "@!%p2 nanosleep.u32 100; @!%p2 nanosleep.u32 100;";
    let tail = format!("{STORE} cp.async.bulk.wait_group.read 0;");
    let fault = twins(
        FaultKind::ProxyFence,
        &format!("{write} @!%p2 {FENCE} bar.sync 0; @%p2 {FENCE} {late} {tail}"),
        &format!("{write} {FENCE} bar.sync 0; {late} {tail}"),
    );
    says(&fault, "no barrier lies between that fence and this instruction");
}

#[test]
fn every_way_of_writing_needs_the_fence() {
    let tail = format!("{STORE} cp.async.bulk.wait_group.read 0;");
    let fill = "st.shared.b32 [%r1], 0;";
    let matrix = "mov.u32 %r5, tile; and.b32 %r6, %r0, 7; shl.b32 %r6, %r6, 4; add.u32 %r5, %r5, %r6;
        setp.lt.u32 %p2, %r0, 32; @!%p2 bra NOT; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r0}; NOT:";
    let copy =
        "setp.lt.u32 %p2, %r0, 16; shl.b32 %r6, %r0, 4; mov.u32 %r5, tile; add.u32 %r5, %r5, %r6;
        cvt.u64.u32 %d5, %r6; add.s64 %d5, %d1, %d5;
        @%p2 cp.async.cg.shared.global [%r5], [%d5], 16; cp.async.wait_all;";
    let atomic = "red.shared.add.u32 [%r1], 1;";
    for write in [matrix, copy, atomic] {
        twins(
            FaultKind::ProxyFence,
            &format!("{fill} {FENCE} bar.sync 0; {write} bar.sync 0; {tail}"),
            &format!("{fill} {FENCE} bar.sync 0; {write} {FENCE} bar.sync 0; {tail}"),
        );
    }
    // What a copy brought needs none, also over what was written before.
    let right = format!("{fill} bar.sync 0; {EXPECT} {LOAD} bar.sync 0; {WAIT} {tail}");
    assert!(launch(&right, 64, 1).is_ok());
}

#[test]
fn a_push_to_another_block_reads_through_the_asynchronous_proxy() {
    let push = |fence: &str| {
        format!(
            "st.shared.b32 [%r1], %r0; {fence} @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar+8], 128;
             barrier.cluster.arrive; barrier.cluster.wait;
             xor.b32 %r10, %r9, 1; mov.u32 %r11, tile; mov.u32 %r12, bar;
             mapa.shared::cluster.u32 %r13, %r11, %r10; mapa.shared::cluster.u32 %r14, %r12, %r10;
             @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
                 [%r13+1024], [tile], 128, [%r14+8];
             W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 0; @!%p1 bra W$;
             ld.shared.b32 %r3, [tile+1024]; barrier.cluster.arrive; barrier.cluster.wait;"
        )
    };
    twins_in(FaultKind::ProxyFence, &push(""), &push(FENCE), (32, 2));
}

#[test]
fn a_block_stays_until_another_one_has_what_it_pushed() {
    // Block 0 pushes, block 1 waits; the second barrier of the cluster keeps block 0 until then.
    let push = |stay: &str| {
        format!(
            "st.shared.b32 [%r1], %r0; {FENCE} setp.eq.u32 %p2, %r9, 0; and.pred %p3, %p2, %p0;
             @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar+8], 128;
             barrier.cluster.arrive; barrier.cluster.wait;
             mov.u32 %r11, tile; mov.u32 %r12, bar;
             mapa.shared::cluster.u32 %r13, %r11, 1; mapa.shared::cluster.u32 %r14, %r12, 1;
             @%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
                 [%r13+1024], [tile], 128, [%r14+8];
             @%p2 bra OVER; W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 0; @!%p1 bra W$;
             OVER: {stay}"
        )
    };
    let stay = "barrier.cluster.arrive; barrier.cluster.wait;";
    let fault = twins_in(FaultKind::AsyncInFlight, &push(""), &push(stay), (32, 2));
    says(&fault, "the block leaves the kernel while an asynchronous copy has still to read");
    says(
        &fault,
        "until a wait for the mbarrier of the other block, at shared address 0x1000c08, is over",
    );
    says(&fault, "is a `barrier.cluster.arrive` and `.wait` missing at its end?");
}

#[test]
fn nothing_is_copied_into_a_block_that_left() {
    let copy = |wait: &str| {
        format!(
            "setp.eq.u32 %p2, %r9, 1; mov.u32 %r11, tile; mov.u32 %r12, bar; mapa.shared::cluster.u32 %r13, %r11, 1;
             mapa.shared::cluster.u32 %r14, %r12, 1; and.pred %p3, %p0, %p2;
             @%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
             barrier.cluster.arrive; barrier.cluster.wait; @%p2 bra WAIT;
             nanosleep.u32 100; nanosleep.u32 100;
             @%p0 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                 [%r13], [%d0, {{%r20}}], [%r14];
             bra DONE; WAIT: {wait} DONE:"
        )
    };
    let wait = "W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W$;";
    let fault = twins_in(FaultKind::AsyncInFlight, &copy(""), &copy(wait), (32, 2));
    says(&fault, "which has left the kernel");
}

#[test]
fn copies_arrive_at_mbarriers_that_a_fence_made_visible() {
    let body = format!("{EXPECT} {LOAD} bar.sync 0; {WAIT}");
    let fence = "@%p0 fence.mbarrier_init.release.cluster;";
    let run = |instead: &str, asked: bool| {
        let setup = SETUP.replace(fence, instead);
        let options = Options::default().with_check_init_fences(asked);
        launch_after((&setup, &body), 64, 1, &options)
    };
    assert!(SETUP.contains(fence));
    // A proxy fence orders the same write, and more.
    for right in [fence, "@%p0 fence.proxy.async.shared::cta;"] {
        run(right, true).unwrap_or_else(|fault| panic!("{fault}"));
    }
    // Other compilers leave it out.
    run("", false).unwrap_or_else(|fault| panic!("{fault}"));
    // One of another thread is none, nor one of another kind.
    for wrong in ["", "@!%p0 fence.mbarrier_init.release.cluster;", "fence.acq_rel.cluster;"] {
        let fault = run(wrong, true).expect_err("the fence is missing");
        assert_eq!(fault.kind, FaultKind::ProxyFence, "{fault}");
        says(&fault, "an asynchronous copy arrives at the mbarrier at shared address 0xc00, which");
        says(&fault, "lane 0 of warp 0 initialised, in PTX line ");
        says(&fault, "has executed no `fence.mbarrier_init.release.cluster` since");
        assert!(fault.ptx.contains("cp.async.bulk.tensor"), "{fault}");
    }
    // An mbarrier that is initialised anew needs it anew; the others do not.
    let again = |fence: &str| {
        let inval =
            "@%p0 mbarrier.inval.shared.b64 [bar+8]; @%p0 mbarrier.init.shared.b64 [bar+8], 1;";
        let load = LOAD.replace("[bar]", "[bar+8]");
        let expect = EXPECT.replace("[bar]", "[bar+8]");
        let wait = WAIT.replace("[bar]", "[bar+8]");
        let body = format!(
            "{inval} {fence} bar.sync 0; {EXPECT} {LOAD} bar.sync 0; {WAIT} bar.sync 0; {expect} {load} bar.sync 0; {wait}"
        );
        let options = Options::default().with_check_init_fences(true);
        launch_after((SETUP, &body), 64, 1, &options)
    };
    again(fence).unwrap_or_else(|fault| panic!("{fault}"));
    let fault = again("").expect_err("the second fence is missing");
    says(&fault, "0xc08");
}
