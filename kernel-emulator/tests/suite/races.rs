//! Races on shared memory: kernels with a barrier missing, beside their twins that have it.

use kernel_emulator::{Fault, FaultKind, Options};

use crate::faults::{SETUP, twins};
use crate::harness::{Bench, entry, one_block, outcome};

#[test]
fn races() {
    let twins = |wrong: &str, right: &str| {
        let tile = ".shared .align 16 .b32 tile[64]; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1;
             xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1;";
        twins(FaultKind::Race, 64, &format!("{tile} {wrong}"), &format!("{tile} {right}"))
    };
    // A read of what another warp writes; warp 0 comes first, so the write is blamed.
    let fault = twins(
        "st.shared.u32 [%r2], %r0; ld.shared.u32 %r4, [%r3];",
        "st.shared.u32 [%r2], %r0; bar.sync 0; ld.shared.u32 %r4, [%r3];",
    );
    assert!(fault.detail.contains("which warp 0 read in PTX line 8"), "{fault}");
    // A write over what another warp reads: in a loop, the second barrier matters.
    let exchange = |second: &str| {
        format!(
            "mov.u32 %r5, 0; LOOP: st.shared.u32 [%r2], %r0; bar.sync 0; ld.shared.u32 %r4, [%r3]; {second}
             add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 3; @%p0 bra LOOP;"
        )
    };
    twins(&exchange(""), &exchange("bar.sync 0;"));
    // Two writes, of 16 bytes and of 4.
    twins(
        "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.v4.u32 [tile+128], {1, 2, 3, 4}; setp.eq.u32 %p1, %r0, 33; @%p1 st.shared.u32 [%r2], 5;",
        "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.v4.u32 [tile+112], {1, 2, 3, 4}; setp.eq.u32 %p1, %r0, 33; @%p1 st.shared.u32 [%r2], 5;",
    );
    // An asynchronous copy, waited for by its own warp only.
    let copy = |barrier: &str| {
        format!(
            "cp.async.ca.shared.global [%r2], [%d1], 4; cp.async.wait_all; {barrier} ld.shared.u32 %r4, [%r3];"
        )
    };
    twins(&copy(""), &copy("bar.sync 0;"));
    // A barrier between, but of other threads.
    twins(
        "st.shared.u32 [%r2], %r0; shr.u32 %r5, %r0, 5; bar.sync %r5, 32; ld.shared.u32 %r4, [%r3];",
        "st.shared.u32 [%r2], %r0; bar.sync 2, 64; ld.shared.u32 %r4, [%r3];",
    );
    // An mbarrier orders those who arrive before those who wait.
    let through = |arrive: &str| {
        format!(
            ".shared .align 8 .b64 bar; setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;
             setp.ge.u32 %p1, %r0, 32; @%p1 bra READER; {arrive} bra DONE;
             READER: W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W; ld.shared.u32 %r4, [%r3]; DONE:"
        )
    };
    let (write, arrive) = ("st.shared.u32 [%r2], %r0;", "mbarrier.arrive.shared.b64 _, [bar];");
    twins(&through(&format!("{arrive} {write}")), &through(&format!("{write} {arrive}")));
}

#[test]
fn races_are_not_looked_for_where_they_are_not_wanted() {
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} .shared .b32 cell; st.shared.u32 [cell], %r0; ld.shared.u32 %r1, [cell];"
        ),
    ));
    let options = Options::default();
    assert!(bench.try_launch(&one_block(64), &[0], &options).is_err());
    let options = options.with_check_races(false);
    assert!(bench.try_launch(&one_block(64), &[0], &options).is_ok());
}

/// Thread 0 writes, and `hand` hands that on by `flag`; the second warp takes it over by `take` until `%r1` is not 0, and reads.
fn by_flag(hand: &str, take: &str, after: &str) -> Result<(), Box<Fault>> {
    let text = entry(
        1,
        &format!(
            "{SETUP} .shared .b32 tile; .shared .b32 flag; setp.ne.u32 %p1, %r0, 0; @!%p1 st.shared.u32 [flag], 0; bar.sync 0;
             setp.ge.u32 %p0, %r0, 32; @%p0 bra READ; @%p1 bra DONE; st.shared.u32 [tile], 7; {hand} bra DONE;
             READ: {take} setp.eq.u32 %p2, %r1, 0; @%p2 bra READ; {after} ld.shared.u32 %r2, [tile]; DONE:"
        ),
    );
    outcome(&text, &one_block(64), 256)
}

#[test]
fn flags_and_atomics_order_what_they_say() {
    let (fence, none) = ("fence.acq_rel.cta;", "");
    let hands = [
        ("st.release.cta.shared.u32 [flag], 1;", true),
        ("fence.acq_rel.cta; st.relaxed.cta.shared.u32 [flag], 1;", true),
        ("st.relaxed.cta.shared.u32 [flag], 1;", false),
        ("st.volatile.shared.u32 [flag], 1;", false),
        ("atom.release.cta.shared.exch.b32 %r3, [flag], 1;", true),
        ("fence.acq_rel.cta; red.shared.add.u32 [flag], 1;", true),
        // `.relaxed` is what an atomic operation is that says nothing.
        ("atom.shared.exch.b32 %r3, [flag], 1;", false),
    ];
    let takes = [
        ("ld.acquire.cta.shared.u32 %r1, [flag];", none, true),
        ("ld.relaxed.cta.shared.u32 %r1, [flag];", fence, true),
        ("ld.relaxed.cta.shared.u32 %r1, [flag];", none, false),
        ("ld.volatile.shared.u32 %r1, [flag];", none, false),
        ("atom.acquire.cta.shared.or.b32 %r1, [flag], 0;", none, true),
        ("atom.shared.or.b32 %r1, [flag], 0;", fence, true),
        ("atom.shared.or.b32 %r1, [flag], 0;", none, false),
    ];
    for (hand, hands_on) in hands {
        for (take, after, learns) in takes {
            let actual = by_flag(hand, take, after).map_err(|fault| fault.kind);
            let required = if hands_on && learns { Ok(()) } else { Err(FaultKind::Race) };
            assert_eq!(actual, required, "{hand} {take} {after}");
        }
    }
}

#[test]
fn relaxed_arrivals_and_waits_order_only_by_fences() {
    let body = |arrive: &str, wait: &str| {
        format!(
            ".shared .b32 tile; .shared .align 8 .b64 bar; setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;
             setp.ge.u32 %p1, %r0, 32; @%p1 bra W; @!%p0 bra DONE; st.shared.u32 [tile], 7; {arrive} bra DONE;
             W: {wait} ld.shared.u32 %r2, [tile]; DONE:"
        )
    };
    let arrive = |order: &str| format!("mbarrier.arrive{order}.shared.b64 _, [bar];");
    let wait = |order: &str| {
        format!("mbarrier.try_wait.parity{order}.shared.b64 %p2, [bar], 0; @!%p2 bra W;")
    };
    let right = body(&arrive(""), &wait(""));
    let fence = "fence.acq_rel.cta;";
    twins(FaultKind::Race, 64, &body(&arrive(".relaxed.cta"), &wait("")), &right);
    twins(FaultKind::Race, 64, &body(&arrive(""), &wait(".relaxed.cta")), &right);
    let fenced =
        body(&(fence.to_owned() + &arrive(".relaxed.cta")), &(wait(".relaxed.cta") + fence));
    twins(
        FaultKind::Race,
        64,
        &body(&arrive(".relaxed.cta"), &(wait(".relaxed.cta") + fence)),
        &fenced,
    );
}

/// Two warps and 64 elements of `bytes` bytes: `%r2` is the address of the thread's own one, `%r3` of
/// that in the other warp. `%p0` holds in the first warp, `%s0` is a value.
fn narrow(bytes: u32, body: &str) -> String {
    let log2 = bytes.ilog2();
    format!(
        "{SETUP} .reg .b16 %s<4>; .shared .align 16 .b8 tile[256]; mov.u32 %r1, tile;
         shl.b32 %r2, %r0, {log2}; add.u32 %r2, %r2, %r1;
         xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, {log2}; add.u32 %r3, %r3, %r1;
         setp.lt.u32 %p0, %r0, 32; mov.u16 %s0, 7;
         {body}"
    )
}

fn run(body: &str) -> Result<(), Box<Fault>> {
    outcome(&entry(1, body), &one_block(64), 256)
}

/// The body is a race without barrier at `BARRIER`, and none with one.
#[track_caller]
fn needs_barrier(bytes: u32, body: &str) -> Box<Fault> {
    let body = narrow(bytes, body);
    if let Err(fault) = run(&body.replace("BARRIER", "bar.sync 0;")) {
        panic!("with a barrier: {fault}");
    }
    let fault = run(&body.replace("BARRIER", "")).expect_err("there is no barrier");
    assert_eq!(fault.kind, FaultKind::Race, "{fault}");
    fault
}

#[track_caller]
fn is_no_race(bytes: u32, body: &str) {
    if let Err(fault) = run(&narrow(bytes, body)) {
        panic!("{fault}");
    }
}

#[test]
fn elements_of_one_and_two_bytes() {
    for (bytes, ty) in [(2, "b16"), (1, "b8")] {
        // Read after write.
        let fault = needs_barrier(
            bytes,
            &format!("@%p0 st.shared.{ty} [%r2], %s0; BARRIER @!%p0 ld.shared.{ty} %s1, [%r3];"),
        );
        assert_eq!((fault.warp, fault.lane), (1, Some(0)), "{fault}");
        assert!(fault.detail.starts_with(&format!("a load of {bytes} byte")), "{fault}");
        assert!(fault.detail.contains("which warp 0 wrote in PTX line"), "{fault}");
        // Write after read; the last warp at a barrier is the first to go on.
        let fault = needs_barrier(
            bytes,
            &format!(
                "@%p0 st.shared.{ty} [%r2], %s0; bar.sync 0;
                 @!%p0 ld.shared.{ty} %s1, [%r3]; BARRIER @%p0 st.shared.{ty} [%r2], %s0;"
            ),
        );
        assert!(fault.detail.contains("which warp 1 read in PTX line"), "{fault}");
        // Write after write.
        needs_barrier(
            bytes,
            &format!(
                "mov.b16 %s1, 77; @%p0 st.shared.{ty} [%r2], %s0; BARRIER @!%p0 st.shared.{ty} [%r3], %s1;"
            ),
        );
        // The lanes of a warp among each other.
        is_no_race(
            bytes,
            &format!(
                "xor.b32 %r4, %r0, 1; shl.b32 %r4, %r4, {}; add.u32 %r4, %r4, %r1;
                 st.shared.{ty} [%r2], %s0; bar.warp.sync -1; ld.shared.{ty} %s1, [%r4]; st.shared.{ty} [%r4], %s0;",
                bytes.ilog2()
            ),
        );
    }
}

#[test]
fn a_tile_stored_by_halves_and_read_as_a_matrix() {
    // Each warp stores 128 bytes by halves; the first one reads what the second wrote.
    needs_barrier(
        2,
        "st.shared.b16 [%r2], %s0; st.shared.b16 [%r2+128], %s0; BARRIER
         @!%p0 bra DONE; and.b32 %r5, %r0, 7; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r1;
         ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r5]; DONE:",
    );
}

#[test]
fn a_tile_copied_asynchronously_and_read_by_halves() {
    needs_barrier(
        2,
        "shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r1; and.b32 %r5, %r0, 31; mul.wide.u32 %d2, %r5, 4; add.s64 %d2, %d2, %d0;
         @%p0 cp.async.ca.shared.global [%r4], [%d2], 4; cp.async.wait_all; BARRIER @!%p0 ld.shared.b16 %s1, [%r3];",
    );
}

#[test]
fn two_warps_may_share_a_word() {
    // The address of a half, or of a byte, of the word with the number of the lane.
    let own = |step: &str| {
        format!(
            "and.b32 %r4, %r0, 31; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r1; @!%p0 add.u32 %r4, %r4, {step};"
        )
    };
    for (bytes, ty) in [(2, "b16"), (1, "b8")] {
        for step in ["2", "3"].iter().take(3 - bytes as usize) {
            let own = own(step);
            let words = "and.b32 %r5, %r0, 31; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r1;";
            is_no_race(
                bytes,
                &format!(
                    "{own} st.shared.{ty} [%r4], %s0; ld.shared.{ty} %s1, [%r4]; bar.sync 0; {words}
                     ld.shared.b32 %r6, [%r5]; bar.sync 0; st.shared.{ty} [%r4], %s0;"
                ),
            );
            // The whole word belongs to both.
            needs_barrier(
                bytes,
                &format!(
                    "{own} {words} st.shared.{ty} [%r4], %s0; BARRIER ld.shared.b32 %r6, [%r5];"
                ),
            );
            needs_barrier(
                bytes,
                &format!(
                    "{own} {words} st.shared.{ty} [%r4], %s0; bar.sync 0; ld.shared.b32 %r6, [%r5]; BARRIER st.shared.{ty} [%r4], %s0;"
                ),
            );
        }
    }
    // A byte of the half that the other warp writes.
    needs_barrier(
        1,
        &format!(
            "{} @%p0 st.shared.b8 [%r4+1], %s0; BARRIER @!%p0 st.shared.b16 [%r4], %s0;",
            own("0")
        ),
    );
}

#[test]
fn narrow_flags_and_atomics_are_no_races() {
    is_no_race(
        2,
        ".shared .align 4 .b8 flag[4]; setp.ne.u32 %p1, %r0, 0; @!%p1 st.shared.u16 [flag], 0; bar.sync 0; @!%p0 bra READ;
         @!%p1 st.shared.b16 [tile], %s0; fence.acq_rel.cta; @!%p1 st.relaxed.cta.shared.u16 [flag], 1; bra DONE;
         READ: ld.acquire.cta.shared.u16 %s1, [flag]; setp.eq.u16 %p2, %s1, 0; @%p2 bra READ; ld.shared.b16 %s2, [tile]; DONE:",
    );
}

#[test]
fn an_unwritten_value_from_shared_memory_says_which_load_and_who_writes_later() {
    let kernel = |barrier: &str| {
        format!(
            "{}.file 1 \"src/kernel.rs\"\n",
            entry(
                1,
                &format!(
                    "{SETUP} .shared .b32 tile[64]; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1;
                     xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1;
                     .loc 1 20 5
                     st.shared.u32 [%r2], %r0; {barrier}
                     .loc 1 21 9
                     ld.shared.u32 %r4, [%r3];
                     .loc 1 22 5
                     st.global.u32 [%d1], %r4;"
                ),
            )
        )
    };
    let run = |barrier: &str, threads: u32| outcome(&kernel(barrier), &one_block(threads), 256);
    if let Err(fault) = run("bar.sync 0;", 64) {
        panic!("{fault}");
    }
    let fault = run("", 64).expect_err("there is no barrier");
    assert_eq!(fault.kind, FaultKind::Uninitialised, "{fault}");
    assert_eq!(fault.source.as_ref().map(|source| source.line), Some(22), "{fault}");
    for part in [
        "is stored to global memory",
        "last loaded from shared memory in PTX line 11 (src/kernel.rs:21:9), by lane 0 at 0x480",
        "; warp 1 writes shared memory that this warp had read, in PTX line 9 (src/kernel.rs:20:5), without a barrier between: is a barrier missing before the load?",
    ] {
        assert!(fault.detail.contains(part), "{part}: {fault}");
    }
    // Nobody writes it: no barrier would help.
    let fault = run("", 32).expect_err("nothing writes the other half");
    assert!(fault.detail.contains("(src/kernel.rs:21:9)"), "{fault}");
    assert!(!fault.detail.contains("is a barrier missing"), "{fault}");
}

#[test]
fn warps_may_store_the_same_in_one_place() {
    // Two warps, each all of its lanes: the same word, and words that differ by warp.
    let store = |value: &str| {
        format!(
            ".shared .align 16 .b8 tile[16]; shr.u32 %r1, %r0, 5; mov.b64 %d2, {{%r1, 7}}; mov.b64 %d3, 5;
             {value}"
        )
    };
    for (wrong, right) in [
        ("st.shared.u32 [tile], %r1;", "st.shared.u32 [tile], 7;"),
        ("st.shared.u8 [tile+3], %r1;", "st.shared.u8 [tile+3], 7;"),
        ("st.shared.b64 [tile], %d2;", "st.shared.b64 [tile], %d3;"),
        ("st.shared.v2.b64 [tile], {%d3, %d2};", "st.shared.v2.b64 [tile], {%d3, %d3};"),
        (
            "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%r1};",
            "mov.u32 %r1, 7; stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%r1};",
        ),
    ] {
        twins(FaultKind::Race, 64, &store(wrong), &store(right));
    }
    // A load in between makes the order matter.
    twins(
        FaultKind::Race,
        64,
        ".shared .b32 cell; st.shared.u32 [cell], 7; ld.shared.u32 %r1, [cell];",
        ".shared .b32 cell; st.shared.u32 [cell], 7; bar.sync 0; ld.shared.u32 %r1, [cell];",
    );
}
