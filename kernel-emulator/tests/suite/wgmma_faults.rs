//! What `wgmma` asks of a kernel: wrong kernels, beside their twins that are right.

use kernel_emulator::{Fault, FaultKind, LaunchConfig};

use crate::harness::{Bench, entry, one_block, outcome};

/// A kernel of whole warpgroups. `%x0` and `%x1` are the descriptors of A and B in shared memory that holds
/// zeros, `%f0`... and `%g0`... two accumulators of eight columns, `%a0` to `%a3` fragments of A; `%r0` is the
/// thread, `%r2` where shared memory starts.
fn kernel(body: &str) -> String {
    entry(
        1,
        &format!(
            ".reg .b32 %r<12>; .reg .b64 %d<4>; .reg .b64 %x<2>; .reg .f32 %f<8>; .reg .f32 %g<4>; .reg .b32 %a<4>;
             .reg .pred %p<4>; .shared .align 1024 .b8 tile[4096];
             mov.u32 %r0, %tid.x; mov.u32 %r2, tile; mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0;
             shl.b32 %r3, %r0, 4; and.b32 %r3, %r3, 2047; add.u32 %r3, %r3, %r2;
             setp.ge.u32 %p1, %r0, 128; @%p1 bra FILLED;
             st.shared.v4.b32 [%r3], {{%a0, %a0, %a0, %a0}}; st.shared.v4.b32 [%r3+2048], {{%a0, %a0, %a0, %a0}};
             FILLED: fence.proxy.async.shared::cta; bar.sync 0;
             bfe.u32 %r4, %r2, 4, 14; cvt.u64.u32 %d0, %r4; add.u64 %x0, %d0, 0x1000080000; add.u64 %x1, %d0, 0x1000080080;
             ld.param.u64 %d1, [p0]; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2;
             {body}"
        ),
    )
}

const MMA: &str =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %x0, %x1, 0, 1, 1, 0, 0;";
const ADD: &str =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %x0, %x1, 1, 1, 1, 0, 0;";
const OTHER: &str =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%g0,%g1,%g2,%g3}, %x0, %x1, 0, 1, 1, 0, 0;";
const FRAGMENTS: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%a0,%a1,%a2,%a3}, %x1, 0, 1, 1, 0;";
const FENCE: &str = "wgmma.fence.sync.aligned;";
const COMMIT: &str = "wgmma.commit_group.sync.aligned;";
const WAIT: &str = "wgmma.wait_group.sync.aligned 0;";

/// The wrong kernel faults with a kind, the right one does not; both of so many threads.
#[track_caller]
fn twins_of(kind: FaultKind, threads: u32, wrong: &str, right: &str) -> Box<Fault> {
    let run = |body: &str| outcome(&kernel(body), &one_block(threads), 2048);
    if let Err(fault) = run(right) {
        panic!("the right kernel: {fault}");
    }
    let fault = run(wrong).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, kind, "{fault}");
    fault
}

#[track_caller]
fn twins(kind: FaultKind, wrong: &str, right: &str) -> Box<Fault> {
    twins_of(kind, 128, wrong, right)
}

#[test]
fn registers_of_a_product_in_flight_are_not_touched() {
    for touch in ["mov.f32 %f7, %f2;", "mov.f32 %f2, 0f00000000;", "st.global.f32 [%d1], %f0;"] {
        let fault = twins(
            FaultKind::AsyncInFlight,
            &format!("{FENCE} {MMA} {COMMIT} {touch} {WAIT}"),
            &format!("{FENCE} {MMA} {COMMIT} {WAIT} {touch}"),
        );
        assert!(fault.detail.contains("`wgmma.wait_group 0` is missing before"), "{fault}");
        assert!(fault.detail.contains("is part of D"), "{fault}");
    }
    // Fragments of A, which are read until the end.
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{FENCE} {FRAGMENTS} {COMMIT} mov.b32 %a3, 1; {WAIT}"),
        &format!("{FENCE} {FRAGMENTS} {COMMIT} {WAIT} mov.b32 %a3, 1;"),
    );
    assert!(fault.detail.contains("`%a3` is part of A"), "{fault}");
    // A wait for another group, and one that was never committed.
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!(
            "{FENCE} {OTHER} {COMMIT} {MMA} {COMMIT} wgmma.wait_group.sync.aligned 1; mov.f32 %f7, %f0; {WAIT}"
        ),
        &format!(
            "{FENCE} {OTHER} {COMMIT} {MMA} {COMMIT} wgmma.wait_group.sync.aligned 1; mov.f32 %f7, %g0; {WAIT}"
        ),
    );
    assert!(fault.detail.contains("`wgmma.wait_group 0` is missing before"), "{fault}");
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{FENCE} {MMA} {WAIT} mov.f32 %f7, %f0; {COMMIT} {WAIT}"),
        &format!("{FENCE} {MMA} {COMMIT} {WAIT} mov.f32 %f7, %f0;"),
    );
    assert!(fault.detail.contains("a `wgmma.commit_group` and a `wgmma.wait_group 0`"), "{fault}");
    // Three groups are under way: the oldest is to be touched.
    let three = format!("{FENCE} {MMA} {COMMIT} {OTHER} {COMMIT} {OTHER} {COMMIT}");
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{three} mov.f32 %f7, %f0; {WAIT}"),
        &format!("{three} wgmma.wait_group.sync.aligned 2; mov.f32 %f7, %f0; {WAIT}"),
    );
    assert!(fault.detail.contains("a `wgmma.wait_group 2` is missing"), "{fault}");
}

#[test]
fn products_may_follow_one_another_into_the_same_registers() {
    let wide = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, %x0, %x1, 0, 1, 1, 0, 0;";
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{FENCE} {MMA} {FENCE} {wide} {COMMIT} {WAIT}"),
        &format!(
            "{FENCE} {MMA} {ADD} {COMMIT} {ADD} {COMMIT} {WAIT} {FENCE} {wide} {COMMIT} {WAIT}"
        ),
    );
    assert!(fault.detail.contains("one of another shape adds to it"), "{fault}");
    let from_sums = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%g0,%g1,%g2,%g3}, {%f0,%f1,%f2,%f3}, %x1, 0, 1, 1, 0;";
    twins(
        FaultKind::AsyncInFlight,
        &format!("{FENCE} {MMA} {from_sums} {COMMIT} {WAIT}"),
        &format!("{FENCE} {MMA} {COMMIT} {WAIT} {from_sums} {COMMIT} {WAIT}"),
    );
}

#[test]
fn a_fence_comes_before_products() {
    let end = format!("{COMMIT} {WAIT}");
    // The first of all, without any other access to its registers.
    let fault =
        twins(FaultKind::WgmmaFence, &format!("{MMA} {end}"), &format!("{FENCE} {MMA} {end}"));
    assert!(fault.detail.contains("no `wgmma.fence` comes before the first"), "{fault}");
    // Registers of D or A that something else wrote, or read.
    for (touch, mma) in [
        ("mov.f32 %f3, 0f00000000;", ADD),
        ("mov.f32 %f7, %f3;", ADD),
        ("mov.b32 %a0, 7;", FRAGMENTS),
        ("shfl.sync.bfly.b32 %a2, %r0, 1, 31, -1;", FRAGMENTS),
    ] {
        let fault = twins(
            FaultKind::WgmmaFence,
            &format!("{FENCE} {touch} {mma} {end}"),
            &format!("{touch} {FENCE} {mma} {end}"),
        );
        assert!(fault.detail.contains("touched since the last `wgmma.fence`"), "{fault}");
    }
    // The results of one product, read before the next begins.
    let all = format!("{FENCE} {MMA} {COMMIT} {WAIT} st.global.f32 [%d1], %f0;");
    twins(
        FaultKind::WgmmaFence,
        &format!("{all} {MMA} {end}"),
        &format!("{all} {FENCE} {MMA} {end}"),
    );
}

#[test]
fn shared_memory_stays_while_it_is_read() {
    let begin = format!("{FENCE} {MMA} {COMMIT}");
    // By a warp that has waited for itself alone: the others still read.
    let write = "setp.ne.u32 %p0, %r0, 0; @%p0 bra WRITTEN; st.shared.b32 [tile+2048], 1; WRITTEN:";
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!(
            "{begin} setp.ge.u32 %p2, %r0, 32; @%p2 bar.sync 1, 128; {WAIT} {write} @!%p2 bar.sync 1, 128;"
        ),
        &format!("{begin} {WAIT} bar.sync 0; {write}"),
    );
    assert!(
        fault
            .detail
            .contains("which an asynchronous operation has still to read; warp 2 issued it"),
        "{fault}"
    );
    // By its own warp, before the wait.
    twins(
        FaultKind::AsyncInFlight,
        &format!("{begin} {write} {WAIT}"),
        &format!("{begin} {WAIT} bar.sync 0; {write}"),
    );
    // Other bytes may be written.
    let elsewhere = "st.shared.b32 [%r3+2304], 1;";
    twins(
        FaultKind::AsyncInFlight,
        &format!("{begin} st.shared.b32 [%r3], 1; {WAIT}"),
        &format!("{begin} setp.ge.u32 %p0, %r0, 100; @!%p0 {elsewhere} {WAIT}"),
    );
    // All have waited (this warp is the last to do so), but the writer does not know: a race.
    twins(
        FaultKind::Race,
        &format!("{begin} {WAIT} setp.ne.u32 %p0, %r0, 32; @!%p0 st.shared.b32 [tile+2048], 1;"),
        &format!(
            "{begin} {WAIT} bar.sync 0; setp.ne.u32 %p0, %r0, 32; @!%p0 st.shared.b32 [tile+2048], 1;"
        ),
    );
}

#[test]
fn shared_memory_is_read_until_the_wait() {
    // A fifth warp writes when the four have arrived at a barrier: before they wait, or after.
    let body = |four: &str| {
        format!(
            "setp.ge.u32 %p0, %r0, 128; @%p0 bra WRITER; {FENCE} {MMA} {COMMIT} {four} bra DONE;
             WRITER: barrier.sync 1, 160; st.shared.b32 [tile+2048], 1; DONE:"
        )
    };
    let fault = twins_of(
        FaultKind::Race,
        160,
        &body(&format!("barrier.arrive 1, 160; {WAIT}")),
        &body(&format!("{WAIT} barrier.arrive 1, 160;")),
    );
    assert_eq!(fault.warp, 4, "{fault}");
    assert!(fault.ptx.contains("st.shared"), "{fault}");
}

#[test]
fn what_is_read_was_written_in_order() {
    let rest = format!("{FENCE} {MMA} {COMMIT} {WAIT}");
    // Part of a row of a core matrix, and all of it.
    for store in ["st.shared.b32 [tile+2048], 1;", "st.shared.v4.b32 [tile+2048], {1, 1, 1, 1};"] {
        let write = format!(
            "bar.sync 0; setp.ne.u32 %p0, %r0, 0; @%p0 bra WRITTEN; {store} WRITTEN: fence.proxy.async.shared::cta;"
        );
        twins(FaultKind::Race, &format!("{write} {rest}"), &format!("{write} bar.sync 0; {rest}"));
    }
    // Bytes that an asynchronous copy has still to write.
    let copy = "setp.ne.u32 %p0, %r0, 0; @!%p0 cp.async.ca.shared.global [tile+2048], [%d1], 16;";
    let ready = "cp.async.wait_all; fence.proxy.async.shared::cta; bar.sync 0;";
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("bar.sync 0; {copy} bar.sync 0; {rest} cp.async.wait_all;"),
        &format!("bar.sync 0; {copy} {ready} {rest}"),
    );
    assert!(fault.detail.contains("which an asynchronous copy has still to write"), "{fault}");
}

#[test]
fn every_thread_that_wrote_a_factor_fences() {
    let rest = format!("bar.sync 0; {FENCE} {MMA} {COMMIT} {WAIT}");
    // Two threads write the first two units of B that are read: of one warp, and of two.
    for second in [1, 32] {
        let body = |fence: &str| {
            format!(
                "bar.sync 0; setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, {second}; setp.lt.u32 %p2, %r0, 128;
                 @%p0 st.shared.b32 [tile+2048], 0; @%p1 st.shared.b32 [tile+2176], 0; {fence} {rest}"
            )
        };
        for threads in ["%p0", "%p1"] {
            let fault = twins(
                FaultKind::ProxyFence,
                &body(&format!("@{threads} fence.proxy.async.shared::cta;")),
                &body("@%p2 fence.proxy.async.shared::cta;"),
            );
            assert!(fault.detail.contains("has executed no `fence.proxy.async"), "{fault}");
        }
        // The fence of one of them comes when all have met.
        let fault = twins(
            FaultKind::ProxyFence,
            &body("@%p0 fence.proxy.async.shared::cta; bar.sync 0; @%p1 fence.proxy.async.shared::cta; bar.warp.sync -1;")
                .replace(&format!("-1; bar.sync 0; {FENCE}"), &format!("-1; {FENCE}")),
            &body("@%p0 fence.proxy.async.shared::cta; bar.sync 0; @%p1 fence.proxy.async.shared::cta;"),
        );
        assert!(fault.detail.contains("no barrier lies between that fence"), "{fault}");
    }
}

#[test]
fn a_kernel_does_not_end_with_a_product_in_flight() {
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{FENCE} {MMA} {COMMIT}"),
        &format!("{FENCE} {MMA} {COMMIT} {WAIT}"),
    );
    assert!(fault.detail.contains("leaves the kernel while a `wgmma` is in flight"), "{fault}");
}

#[test]
fn four_warps_multiply_together() {
    let all = format!("{FENCE} {MMA} {COMMIT} {WAIT}");
    // One warp goes elsewhere, or leaves.
    let but =
        |threads: &str| format!("setp.ge.u32 %p0, %r0, {threads}; @%p0 bra DONE; {all} DONE:");
    let fault = twins(FaultKind::WarpDivergence, &but("96"), &but("128"));
    assert!(fault.detail.contains("warp 3 has left the kernel"), "{fault}");
    let fault = twins(
        FaultKind::WarpDivergence,
        &format!("setp.ge.u32 %p0, %r0, 96; @!%p0 bra GO; bar.sync 0; GO: {all} @!%p0 bar.sync 0;"),
        &format!("{all} bar.sync 0;"),
    );
    assert!(fault.detail.contains("warp 3 is elsewhere"), "{fault}");
    // One of two equal instructions each.
    let fault = twins(
        FaultKind::WarpDivergence,
        &format!(
            "{FENCE} setp.ge.u32 %p0, %r0, 64; @%p0 bra B; {MMA} bra C; B: {MMA} C: {COMMIT} {WAIT}"
        ),
        &format!(
            "{FENCE} setp.ge.u32 %p0, %r0, 128; @%p0 bra B; {MMA} bra C; B: {MMA} C: {COMMIT} {WAIT}"
        ),
    );
    assert!(fault.detail.contains("is at another"), "{fault}");
    // Lanes are missing.
    twins(
        FaultKind::WarpDivergence,
        &format!("setp.eq.u32 %p0, %r0, 5; @%p0 exit; {all}"),
        &format!("setp.eq.u32 %p0, %r0, 500; @%p0 exit; {all}"),
    );
    // A block that ends inside a warpgroup; a warpgroup starts at a multiple of four warps.
    let second = format!("setp.lt.u32 %p0, %r0, 64; @%p0 bra DONE; {all} DONE:");
    let run = |threads: u32, body: &str| outcome(&kernel(body), &one_block(threads), 4096);
    let fault = run(192, &second).expect_err("warps 2 to 5 are no warpgroup");
    assert_eq!(fault.kind, FaultKind::WarpDivergence, "{fault}");
    let second = second.replace("64;", "128;");
    let fault = run(192, &second).expect_err("the second warpgroup has two warps");
    assert!(fault.detail.contains("needs the four whole warps 4 to 7, the block has 6"), "{fault}");
    assert_eq!(run(256, &second), Ok(()));
}

#[test]
fn the_operands_are_the_same_in_all_warps() {
    let all = format!("{FENCE} {MMA} {COMMIT} {WAIT}");
    let shift =
        |threads: &str| format!("setp.ge.u32 %p0, %r0, {threads}; @%p0 add.u64 %x1, %x1, 8; {all}");
    let fault = twins(FaultKind::IllegalOperand, &shift("64"), &shift("0"));
    assert!(fault.detail.contains("differs between the warps of a warpgroup"), "{fault}");
    let fault = twins(FaultKind::IllegalOperand, &shift("8"), &shift("0"));
    assert!(fault.detail.contains("differs between the lanes of a warp"), "{fault}");
    let added = |threads: &str| {
        format!(
            "mov.f32 %f0, 0f00000000; setp.ge.u32 %p0, %r0, {threads}; {FENCE} {} {COMMIT} {WAIT}",
            MMA.replace("%x1, 0,", "%x1, %p0,")
        )
    };
    for threads in ["32", "3"] {
        twins(FaultKind::IllegalOperand, &added(threads), &added("128"));
    }
}

#[test]
fn matrices_lie_in_shared_memory() {
    let all = format!("{FENCE} {MMA} {COMMIT} {WAIT}");
    let fault = twins(
        FaultKind::OutOfBounds,
        &format!("add.u64 %x1, %x1, 128; {all}"),
        &format!("add.u64 %x1, %x1, 112; {all}"),
    );
    assert!(fault.detail.contains("matrix B of `wgmma`"), "{fault}");
}

#[test]
fn sums_of_bytes_never_written_are_not_stored() {
    let all = format!(
        ".shared .align 1024 .b8 new[1024]; {FENCE} {MMA} {COMMIT} {WAIT} st.global.f32 [%d1], %f0;"
    );
    // Column 1 of B, which threads with `lane % 4 == 0` hold in their second register.
    let write = |bytes: u32| {
        format!(
            "mov.u32 %r5, new; bfe.u32 %r6, %r5, 4, 14; cvt.u64.u32 %d3, %r6; add.u64 %x1, %d3, 0x1000080000;
             setp.ge.u32 %p0, %r0, {bytes}; shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r5;
             @!%p0 st.shared.b32 [%r7], 0; fence.proxy.async.shared::cta; bar.sync 0;"
        )
    };
    let body = |words: u32, stored: u32| {
        all.replace(FENCE, &format!("{} {FENCE}", write(words)))
            .replace("%f0;", &format!("%f{stored};"))
    };
    // All 256 bytes; all but the last four, which are k 6 and 7 of the upper half of column 7.
    let fault = twins(FaultKind::Uninitialised, &body(63, 1), &body(64, 1));
    assert!(fault.detail.contains("were last loaded from shared memory"), "{fault}");
    assert_eq!(fault.lane, Some(3), "column 7 is in the second register of lanes 3, 7, ...");
    twins(FaultKind::Uninitialised, &body(63, 1), &body(63, 0));
}

#[test]
fn warpgroups_multiply_for_themselves() {
    // Two warpgroups, and the second one alone.
    let config = LaunchConfig::new([1, 1, 1], [256, 1, 1]);
    let all = format!("{FENCE} {MMA} {COMMIT} {WAIT} st.global.f32 [%d1], %f0;");
    assert_eq!(outcome(&kernel(&all), &config, 4096), Ok(()));
    let second = format!("setp.lt.u32 %p0, %r0, 128; @%p0 bra DONE; {all} DONE:");
    assert_eq!(outcome(&kernel(&second), &config, 4096), Ok(()));
}

#[test]
fn products_in_a_row_start_and_go_on_in_every_warp() {
    // The first does not add to D, which was never written; the others do. A is ones, B is twos.
    let text = kernel(&format!(
        "mov.b32 %a0, 0x3C003C00; mov.b32 %a1, %a0; mov.b32 %a2, %a0; mov.b32 %a3, %a0; mov.b32 %r9, 0x40004000; bar.sync 0;
         @!%p1 st.shared.v4.b32 [%r3+2048], {{%r9, %r9, %r9, %r9}}; fence.proxy.async.shared::cta; bar.sync 0;
         {FENCE} {FRAGMENTS} {} {} {COMMIT} {WAIT} add.f32 %f0, %f0, %f1; add.f32 %f2, %f2, %f3;
         add.f32 %f0, %f0, %f2; st.global.f32 [%d1], %f0;",
        FRAGMENTS.replace("%x1, 0,", "%x1, 1,"),
        FRAGMENTS.replace("%x1, 0,", "%x1, 1,"),
    ));
    let bench = Bench::new(&text);
    let out = bench.memory.allocate(1024).expect("small");
    bench.launch(&one_block(256), &[out]);
    // Four sums of 3 products of 16 times 1 times 2.
    assert_eq!(bench.words(out, 256), vec![384f32.to_bits(); 256]);
}

#[test]
fn a_copy_refills_what_a_product_has_read() {
    let load = "@!%p2 bra ISSUED; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+1024], [%d1], 64, [bar]; ISSUED:";
    let text = |rest: &str| {
        format!(
            ".shared .align 8 .b64 bar; setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [bar], 1;
             bar.sync 0; {FENCE} {MMA} {COMMIT} {rest}
             W: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra W;"
        )
    };
    let fault = twins(
        FaultKind::AsyncInFlight,
        &text(&format!("bar.sync 0; {load} {WAIT}")),
        &text(&format!("{WAIT} bar.sync 0; {load}")),
    );
    assert!(fault.detail.contains("`wgmma.wait_group`"), "{fault}");
}

#[test]
fn a_product_counts_once_for_each_warp() {
    let run = |body: &str| {
        let bench = Bench::new(&kernel(body));
        let out = bench.memory.allocate(512).expect("small");
        bench.launch(&one_block(128), &[out])
    };
    let (with, without) =
        (run(&format!("{FENCE} {MMA} {COMMIT} {WAIT}")), run(&format!("{FENCE} {COMMIT} {WAIT}")));
    assert_eq!(with.warp_instructions - without.warp_instructions, 4);
    assert_eq!(with.lane_instructions - without.lane_instructions, 128);
}
