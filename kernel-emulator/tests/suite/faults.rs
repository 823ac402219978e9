//! A failing kernel for each kind of fault, beside its twin that is right.

use kernel_emulator::{Fault, FaultKind, LaunchConfig, Options, SourceLine};

use crate::harness::{Bench, entry, one_block, outcome};

pub(crate) const SETUP: &str = ".reg .b64 %d<6>; .reg .b32 %r<12>; .reg .pred %p<6>;
    ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1;";

/// The wrong kernel faults with a kind, the right one does not.
#[track_caller]
pub(crate) fn twins(kind: FaultKind, threads: u32, wrong: &str, right: &str) -> Box<Fault> {
    let run =
        |body: &str| outcome(&entry(1, &format!("{SETUP}\n{body}")), &one_block(threads), 256);
    if let Err(fault) = run(right) {
        panic!("the right kernel: {fault}");
    }
    let fault = run(wrong).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, kind, "{fault}");
    fault
}

#[test]
fn out_of_bounds() {
    let fault = twins(
        FaultKind::OutOfBounds,
        64,
        "st.global.u32 [%d1+4], %r0;",
        "st.global.u32 [%d1], %r0;",
    );
    assert_eq!((fault.warp, fault.lane), (1, Some(31)));
    assert!(
        fault.detail.contains("0 bytes behind the end of the allocation of 256 bytes"),
        "{fault}"
    );
    let fault = twins(FaultKind::OutOfBounds, 1, "mov.u64 %d2, 0; ld.global.u32 %r1, [%d2];", "");
    assert_eq!(fault.address, Some(0));
    twins(
        FaultKind::OutOfBounds,
        1,
        ".shared .b32 tile[4]; st.shared.u32 [tile+16], 1;",
        ".shared .b32 tile[4]; st.shared.u32 [tile+12], 1;",
    );
    twins(FaultKind::OutOfBounds, 1, "mov.u32 %r1, 0; ld.shared.u32 %r2, [%r1];", "");
    twins(
        FaultKind::OutOfBounds,
        1,
        ".local .b8 frame[8]; mov.u32 %r1, frame; st.local.u32 [%r1+8], 1;",
        ".local .b8 frame[8]; mov.u32 %r1, frame; st.local.u32 [%r1+4], 1;",
    );
}

#[test]
fn misaligned() {
    twins(FaultKind::Misaligned, 1, "ld.global.u32 %r1, [%d0+2];", "ld.global.u16 %r1, [%d0+2];");
    twins(
        FaultKind::Misaligned,
        1,
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0+8];",
        "ld.global.v2.u32 {%r1, %r2}, [%d0+8];",
    );
}

#[test]
fn uninitialised() {
    // A register.
    let fault = twins(
        FaultKind::Uninitialised,
        1,
        "add.u32 %r1, %r2, 1; st.global.u32 [%d0], %r1;",
        "mov.u32 %r2, 0; add.u32 %r1, %r2, 1; st.global.u32 [%d0], %r1;",
    );
    assert!(fault.detail.contains("`%r1` was never written"), "{fault}");
    // Shared memory: the load is fine, its use is not; the fault names the load.
    let fault = twins(
        FaultKind::Uninitialised,
        1,
        ".shared .b32 tile[2]; st.shared.u32 [tile], 3; ld.shared.u32 %r1, [tile+4]; st.global.u32 [%d0], %r1;",
        ".shared .b32 tile[2]; st.shared.u32 [tile], 3; ld.shared.u32 %r1, [tile]; st.global.u32 [%d0], %r1;",
    );
    assert!(
        fault.detail.contains("last loaded from shared memory in PTX line 7, by lane 0 at 0x404"),
        "{fault}"
    );
    // A branch, an address, a guard.
    twins(FaultKind::Uninitialised, 1, "setp.eq.u32 %p0, %r1, 0; @%p0 bra L; L:", "");
    twins(FaultKind::Uninitialised, 1, "add.s64 %d3, %d2, 8; ld.global.u32 %r1, [%d3];", "");
    twins(
        FaultKind::Uninitialised,
        1,
        "@%p1 mov.u32 %r1, 0;",
        "setp.eq.u32 %p1, 1, 1; @%p1 mov.u32 %r1, 0;",
    );
    // Only some lanes.
    let fault = twins(
        FaultKind::Uninitialised,
        32,
        "setp.lt.u32 %p0, %r0, 30; @%p0 mov.u32 %r1, 5; st.global.u32 [%d1], %r1;",
        "setp.lt.u32 %p0, %r0, 30; @%p0 mov.u32 %r1, 5; @%p0 st.global.u32 [%d1], %r1;",
    );
    assert_eq!(fault.lane, Some(30));
    // Selection takes only what it selects; a shuffle takes what its lane takes.
    twins(
        FaultKind::Uninitialised,
        32,
        "setp.lt.u32 %p0, %r0, 30; @%p0 mov.u32 %r1, 5; shfl.sync.idx.b32 %r2, %r1, 31, 31, -1; st.global.u32 [%d1], %r2;",
        "setp.lt.u32 %p0, %r0, 30; @%p0 mov.u32 %r1, 5; selp.b32 %r3, %r1, 0, %p0; shfl.sync.idx.b32 %r2, %r1, 3, 31, -1; add.u32 %r2, %r2, %r3; st.global.u32 [%d1], %r2;",
    );
    // Written, then overwritten with what was never written.
    twins(
        FaultKind::Uninitialised,
        1,
        ".shared .b32 tile; st.shared.u32 [tile], 3; st.shared.u32 [tile], %r9; ld.shared.u32 %r1, [tile]; st.global.u32 [%d0], %r1;",
        ".shared .b32 tile; st.shared.u32 [tile], %r9; st.shared.u32 [tile], 3; ld.shared.u32 %r1, [tile]; st.global.u32 [%d0], %r1;",
    );
    // An atomic operation on shared memory that nothing wrote.
    twins(
        FaultKind::Uninitialised,
        1,
        ".shared .b32 tile; red.shared.add.u32 [tile], 1;",
        ".shared .b32 tile; st.shared.u32 [tile], 0; red.shared.add.u32 [tile], 1;",
    );
}

#[test]
fn wrong_space() {
    twins(
        FaultKind::WrongSpace,
        1,
        "ld.shared.u32 %r1, [%d0];",
        ".shared .b32 tile; mov.u64 %d2, tile; ld.shared.u32 %r1, [%d2];",
    );
    twins(
        FaultKind::WrongSpace,
        1,
        "mov.u64 %d2, p0; cvta.param.u64 %d2, %d2; st.u32 [%d2], 1;",
        "mov.u64 %d2, p0; cvta.param.u64 %d2, %d2; ld.u32 %r1, [%d2];",
    );
}

#[test]
fn barrier_divergence() {
    // Some warps leave before the barrier.
    let fault = twins(
        FaultKind::BarrierDivergence,
        64,
        "setp.ge.u32 %p0, %r0, 32; @%p0 exit; bar.sync 0;",
        "bar.sync 0; setp.ge.u32 %p0, %r0, 32; @%p0 exit;",
    );
    assert!(fault.detail.contains("32 of 64 threads are at barrier 0"), "{fault}");
    // Some lanes of a warp leave.
    twins(
        FaultKind::BarrierDivergence,
        64,
        "setp.eq.u32 %p0, %r0, 3; @%p0 exit; bar.sync 0;",
        "bar.sync 0; setp.eq.u32 %p0, %r0, 3; @%p0 exit;",
    );
    // Lanes of one warp go to different barriers.
    twins(
        FaultKind::BarrierDivergence,
        32,
        "setp.lt.u32 %p0, %r0, 16; @%p0 bra L; bar.sync 1; bra D; L: bar.sync 2; D:",
        "setp.lt.u32 %p0, %r0, 16; @%p0 bra L; mov.u32 %r1, 1; bra D; L: mov.u32 %r1, 2; D: bar.sync 1;",
    );
    // Warps wait at different barriers.
    twins(
        FaultKind::BarrierDivergence,
        64,
        "shr.u32 %r1, %r0, 5; bar.sync %r1;",
        "shr.u32 %r1, %r0, 5; bar.sync %r1, 32;",
    );
    // The number of threads differs.
    twins(
        FaultKind::BarrierDivergence,
        64,
        "setp.ge.u32 %p1, %r0, 32; @%p1 bra M; bar.sync 1, 64; bra D; M: bar.sync 1, 32; D:",
        "bar.sync 1, 64;",
    );
}

#[test]
fn warp_divergence() {
    twins(
        FaultKind::WarpDivergence,
        32,
        "setp.lt.u32 %p0, %r0, 16; @%p0 bra L; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; bra D; L: redux.sync.add.u32 %r1, %r0, -1; D:",
        "setp.lt.u32 %p0, %r0, 16; @%p0 bra L; shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xFFFF0000; bra D; L: nanosleep.u32 1; D:",
    );
    // A lane outside its own member mask.
    let fault = twins(
        FaultKind::WarpDivergence,
        32,
        "bar.warp.sync 0xFF;",
        "setp.lt.u32 %p0, %r0, 8; @%p0 bar.warp.sync 0xFF;",
    );
    assert_eq!(fault.lane, Some(8));
    twins(
        FaultKind::WarpDivergence,
        31,
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r0, %r0}, {%r0}, {%r0, %r0, %r0, %r0};",
        "",
    );
}

#[test]
fn deadlock() {
    // Two warps wait for each other's mbarrier.
    let body = |first: &str, second: &str| {
        format!(
            ".shared .align 8 .b64 bar0; .shared .align 8 .b64 bar1;
             setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
             mbarrier.init.shared.b64 [bar0], 32; mbarrier.init.shared.b64 [bar1], 32;
             READY: bar.sync 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra SECOND;
             {first} bra DONE; SECOND: {second} DONE:"
        )
    };
    let wait = |name: &str, bar: u32| {
        format!("{name}: mbarrier.try_wait.parity.shared.b64 %p2, [bar{bar}], 0; @!%p2 bra {name};")
    };
    let arrive = |bar: u32| format!("mbarrier.arrive.shared.b64 _, [bar{bar}];");
    let fault = twins(
        FaultKind::Deadlock,
        64,
        &body(&(wait("W0", 0) + &arrive(1)), &(wait("W1", 1) + &arrive(0))),
        &body(&(arrive(1) + &wait("W0", 0)), &(wait("W1", 1) + &arrive(0))),
    );
    assert!(fault.ptx.contains("try_wait"), "{fault}");
    // Fewer threads than a barrier is for.
    twins(
        FaultKind::Deadlock,
        64,
        "setp.ge.u32 %p0, %r0, 32; @%p0 bra OTHER; bar.sync 1, 64; bra DONE; OTHER: .shared .align 8 .b64 bar; setp.eq.u32 %p3, %r0, 32; @%p3 mbarrier.init.shared.b64 [bar], 64; bar.warp.sync -1; W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W; DONE:",
        "bar.sync 1, 64;",
    );
}

#[test]
fn traps() {
    let fault = twins(
        FaultKind::Trap,
        32,
        "setp.ne.u32 %p0, %r0, 9; @%p0 bra D; trap; D:",
        "setp.ne.u32 %p0, %r0, 99; @%p0 bra D; trap; D:",
    );
    assert_eq!(fault.lane, Some(9));
    twins(FaultKind::Trap, 1, "brkpt;", "");
}

#[test]
fn asynchronous_copies_in_flight() {
    let copy = ".shared .align 16 .b8 tile[16]; cp.async.ca.shared.global [tile], [%d0], 16; cp.async.commit_group;";
    let twins = |wrong: &str, right: &str| {
        twins(FaultKind::AsyncInFlight, 1, &format!("{copy} {wrong}"), &format!("{copy} {right}"))
    };
    let fault = twins(
        "ld.shared.u32 %r1, [tile+4];",
        "cp.async.wait_group 0; ld.shared.u32 %r1, [tile+4];",
    );
    assert!(fault.detail.contains("warp 0 issued it in PTX line"), "{fault}");
    assert!(fault.detail.contains(": wait for the copy first"), "{fault}");
    assert!(!fault.detail.contains("sync()"), "{fault}");
    twins("st.shared.u32 [tile], 1;", "cp.async.wait_all; st.shared.u32 [tile], 1;");
    twins(
        "cp.async.ca.shared.global [tile], [%d0+16], 16;",
        "cp.async.wait_all; cp.async.ca.shared.global [tile], [%d0+16], 16;",
    );
}

#[test]
fn a_copy_in_flight_of_another_warp_is_named() {
    let body = |read: &str| {
        format!(
            ".shared .align 16 .b8 tile[16]; setp.ge.u32 %p0, %r0, 32; @%p0 bra READ;
             setp.ne.u32 %p1, %r0, 0; @%p1 bra ISSUED;
             cp.async.ca.shared.global [tile], [%d0], 16;
             ISSUED: bar.sync 0; bar.sync 0; cp.async.wait_all; bra DONE;
             READ: bar.sync 0; {read} bar.sync 0; DONE:"
        )
    };
    let read = "ld.shared.u32 %r1, [tile+4];";
    let fault = twins(FaultKind::AsyncInFlight, 64, &body(read), &body(""));
    assert_eq!(fault.warp, 1);
    assert!(fault.detail.contains("warp 0 issued it in PTX line"), "{fault}");
    assert!(fault.detail.contains("is a barrier missing before that copy?"), "{fault}");
}

#[test]
fn illegal_operands() {
    twins(FaultKind::IllegalOperand, 32, "bar.sync 16;", "bar.sync 15;");
    twins(FaultKind::IllegalOperand, 32, "bar.sync 1, 33;", "bar.sync 1, 32;");
    twins(
        FaultKind::IllegalOperand,
        1,
        "mov.u32 %r1, 2; T: .branchtargets A, B; brx.idx %r1, T; A: B:",
        "mov.u32 %r1, 1; T: .branchtargets A, B; brx.idx %r1, T; A: B:",
    );
    twins(
        FaultKind::IllegalOperand,
        1,
        ".shared .align 8 .b64 bar; mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.noComplete.shared.b64 %d2, [bar], 1;",
        ".shared .align 8 .b64 bar; mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.noComplete.shared.b64 %d2, [bar], 1;",
    );
}

#[test]
fn faults_say_where() {
    let text = format!(
        "{}.file 1 \"src/kernel.rs\"\n",
        entry(
            1,
            &format!(
                "{SETUP}\n.loc 1 12 5\nadd.s64 %d2, %d0,\n   4096; // far\n.loc 1 13 9\nst.global.u32 [%d2], %r0;"
            ),
        )
    );
    let fault =
        outcome(&text, &LaunchConfig::new([2, 1, 1], [32, 1, 1]), 256).expect_err("out of bounds");
    assert_eq!(
        fault.source,
        Some(SourceLine { file: "src/kernel.rs".into(), line: 13, column: 9 })
    );
    assert_eq!(fault.ptx, "st.global.u32 [%d2], %r0;");
    assert_eq!((fault.block, fault.warp, fault.lane), ([0, 0, 0], 0, Some(0)));
    assert!(fault.address.is_some());
    let words = fault.to_string();
    for part in [
        "out-of-bounds access",
        "src/kernel.rs:13:9",
        "kernel `k`, block (0, 0, 0), warp 0, lane 0",
    ] {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn the_lowest_block_is_reported() {
    let bench = Bench::new(&entry(
        1,
        ".reg .b32 %r<2>; .reg .pred %p; mov.u32 %r0, %ctaid.x; setp.lt.u32 %p, %r0, 3; @%p bra OK; trap; OK:",
    ));
    for threads in [1, 4] {
        let options = Options::default().with_threads(threads);
        let config = LaunchConfig::new([100, 1, 1], [32, 1, 1]);
        let fault = bench.try_launch(&config, &[0], &options).expect_err("block 3 traps");
        assert_eq!(fault.block, [3, 0, 0]);
    }
}

/// What a division by zero gives may be computed, moved, stored to shared memory and selected away, and is a fault where it is a result,
/// an address or a condition.
#[test]
fn the_result_of_a_division_by_zero() {
    let prepare =
        "sub.u32 %r1, %r0, 5; mul.lo.u32 %r9, %r0, 7; cvt.u64.u32 %d2, %r1; cvt.u64.u32 %d3, %r9;
         setp.eq.u32 %p1, %r0, 5; cvt.s64.s32 %d4, %r1;";
    let narrow = ".reg .b16 %s<3>; cvt.u16.u32 %s0, %r1; cvt.u16.u32 %s1, %r9;";
    for (divide, value) in [
        ("div.u32 %r2, %r9, %r1;", "%r2"),
        ("rem.s32 %r2, %r9, %r1;", "%r2"),
        ("div.s64 %d5, %d3, %d4; cvt.u32.u64 %r2, %d5;", "%r2"),
        ("rem.u64 %d5, %d3, %d2; cvt.u32.u64 %r2, %d5;", "%r2"),
        ("div.s16 %s2, %s1, %s0; cvt.u32.u16 %r2, %s2;", "%r2"),
        ("rem.u16 %s2, %s1, %s0; cvt.u32.u16 %r2, %s2;", "%r2"),
    ] {
        let body = |rest: &str| {
            format!("{prepare} {narrow} {divide} {rest} st.global.u32 [%d1], {value};")
        };
        let fault = twins(
            FaultKind::Unspecified,
            32,
            &body("add.u32 %r2, %r2, 1;"),
            &body("selp.u32 %r2, 0, %r2, %p1;"),
        );
        assert_eq!(fault.lane, Some(5), "{fault}");
        let part = "lane 5 last divided 35 by 0 in PTX line";
        assert!(fault.detail.contains(part), "{divide}: {fault}");
    }
    // Only lanes that execute it divide.
    twins(
        FaultKind::Unspecified,
        32,
        &format!(
            "{prepare} mov.u32 %r2, 1; @%p1 div.u32 %r2, %r9, %r1; setp.eq.u32 %p2, %r2, 1; @%p2 bra T; T:"
        ),
        &format!(
            "{prepare} mov.u32 %r2, 1; @!%p1 div.u32 %r2, %r9, %r1; setp.eq.u32 %p2, %r2, 1; @%p2 bra T; T:"
        ),
    );
    // The smallest number by minus one is itself, in two's complement.
    twins(
        FaultKind::Unspecified,
        1,
        "mov.s32 %r1, 0x80000000; mov.s32 %r2, 0; div.s32 %r3, %r1, %r2; st.global.u32 [%d0], %r3;",
        "mov.s32 %r1, 0x80000000; mov.s32 %r2, -1; div.s32 %r3, %r1, %r2; st.global.u32 [%d0], %r3;",
    );
}
