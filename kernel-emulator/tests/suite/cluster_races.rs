//! Races on the shared memory of other blocks of a cluster: kernels without the order that they need, beside their twins that have it.

use kernel_emulator::{Fault, FaultKind};

use crate::async_hazards::{says, twins_in};

/// All threads of the cluster meet.
const MEET: &str = "barrier.cluster.arrive; barrier.cluster.wait;";
/// The address of the thread's word in the other block's `tile` in `%r13`, that of the other block's `bar` in `%r14`.
const PEER: &str = "xor.b32 %r10, %r9, 1; mov.u32 %r12, bar;
    mapa.shared::cluster.u32 %r13, %r1, %r10; mapa.shared::cluster.u32 %r14, %r12, %r10;";
const WRITE: &str = "st.shared.u32 [%r1], %r0;";
const READ: &str = "ld.shared.u32 %r3, [%r1];";
const WRITE_PEER: &str = "st.shared::cluster.u32 [%r13], %r0;";
const READ_PEER: &str = "ld.shared::cluster.u32 %r3, [%r13];";

/// Two blocks of 32 threads each race with the first text and not with the second.
#[track_caller]
fn races(wrong: &str, right: &str) -> Box<Fault> {
    let whole = |body: &str| format!("{PEER} {body} {MEET}");
    twins_in(FaultKind::Race, &whole(wrong), &whole(right), (32, 2))
}

#[test]
fn a_block_reads_what_another_one_wrote_after_the_cluster_barrier() {
    let body = |between: &str| format!("{MEET} {WRITE} {between} {READ_PEER}");
    let fault = races(&body(""), &body(MEET));
    says(&fault, "of the cluster read in PTX line");
    says(&fault, "is a cluster barrier, or an arrival at an mbarrier, missing between?");
    // A barrier of the block is none, and a fence has nobody wait.
    races(&body("bar.sync 0;"), &body(MEET));
    // Nor does a relaxed arrival hand on what comes before it, but for what a fence has.
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    races(&body(relaxed), &body(&format!("fence.acq_rel.cluster; {relaxed}")));
}

#[test]
fn a_block_overwrites_what_another_one_read_after_the_cluster_barrier() {
    let body = |between: &str| format!("{WRITE} {MEET} {READ_PEER} {between} {WRITE}");
    let fault = races(&body(""), &body(MEET));
    says(&fault, "and nothing orders that before this instruction");
    let push = |between: &str| format!("{MEET} {WRITE} {READ} {between} {WRITE_PEER}");
    races(&push(""), &push(MEET));
}

#[test]
fn a_block_has_started_before_others_touch_its_memory() {
    let fault = races(WRITE_PEER, &format!("{MEET} {WRITE_PEER}"));
    // Nothing but the start has to be known: a relaxed arrival says that much.
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    races(WRITE_PEER, &format!("{relaxed} {WRITE_PEER}"));
    says(&fault, "which may not have started");
}

#[test]
fn a_remote_arrival_hands_over_what_comes_before_it() {
    let body = |first: &str, second: &str| {
        format!(
            "{MEET} setp.eq.u32 %p2, %r9, 0; @%p2 bra WRITER; bra READER;
             WRITER: {first} {second} bra OVER;
             READER: W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W$; {READ} OVER:"
        )
    };
    let arrive =
        "bar.warp.sync -1; @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];";
    races(&body(arrive, WRITE_PEER), &body(WRITE_PEER, arrive));
    // One thread arrives for its warp after the lanes have met.
    let alone = "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];";
    races(&body(WRITE_PEER, alone), &body(WRITE_PEER, arrive));
}

/// The first block writes to the second one's memory and arrives there; the second one waits, and reads.
fn hand_over(arrive: &str, wait: &str) -> String {
    format!(
        "{MEET} setp.eq.u32 %p2, %r9, 0; @%p2 bra WRITER; bra READER;
         WRITER: {WRITE_PEER} bar.warp.sync -1; {arrive} bra OVER;
         READER: W$: mbarrier.{wait}.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W$; {READ} OVER:"
    )
}

#[test]
fn arrivals_and_waits_order_blocks_in_the_scope_of_the_cluster_only() {
    let arrive = "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];";
    let (wait, near) = ("try_wait.parity.acquire.cluster", "try_wait.parity.acquire.cta");
    let right = hand_over(arrive, wait);
    races(&hand_over(arrive, near), &right);
    races(&hand_over(&arrive.replace("release.cluster", "release.cta"), wait), &right);
    // So it is where fences do the same for relaxed operations.
    let relaxed = arrive.replace("release.cluster", "relaxed.cluster");
    let fenced = |scope: &str| hand_over(&format!("fence.acq_rel.{scope}; {relaxed}"), wait);
    races(&fenced("cta"), &fenced("cluster"));
    let (look, read) = ("try_wait.parity.relaxed.cluster", format!(" {READ}"));
    let late = |scope: &str| {
        let fence = format!(" fence.acq_rel.{scope}; {READ}");
        hand_over(arrive, look).replace(&read, &fence)
    };
    races(&late("cta"), &late("cluster"));
    // Within a block the smaller scope is enough.
    let own = "@%p0 mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];";
    let inside = |wait: &str| {
        format!(
            "{WRITE} {own} W$: mbarrier.{wait}.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W$;
             mov.u32 %r1, tile; {READ}"
        )
    };
    races(&inside("try_wait.parity.relaxed.cta"), &inside(near));
}

#[test]
fn bytes_of_another_block_are_waited_for_in_the_scope_of_the_cluster() {
    let body = |wait: &str| {
        format!(
            "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128; {MEET}
             st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], %r0, [%r14];
             W$: mbarrier.{wait}.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W$; {READ}"
        )
    };
    let right = body("try_wait.parity.acquire.cluster");
    let fault = races(&body("try_wait.parity.acquire.cta"), &right);
    says(&fault, "wrote");
}

#[test]
fn a_source_is_overwritten_by_who_knows_that_its_copy_is_over() {
    let body = |before: &str, behind: &str| {
        format!(
            "{WRITE} @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128; fence.proxy.async.shared::cta;
             {MEET} setp.eq.u32 %p2, %r9, 1; @%p2 bra WAITS; mov.u32 %r11, tile; add.u32 %r13, %r13, 256;
             @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r11], 128, [%r14];
             {before} st.shared.u32 [%r1], 7; {behind} bra OVER;
             WAITS: W$: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W$;
             {MEET} OVER:"
        )
    };
    // Without the barrier of the cluster the copy is over, and nobody has said so.
    let asleep = format!("bar.warp.sync -1; {}", "nanosleep.u32 20;".repeat(16));
    let fault = races(&body(&asleep, MEET), &body(MEET, ""));
    says(&fault, "which an asynchronous copy read that was issued in");
}

#[test]
fn a_fence_of_the_block_before_a_relaxed_cluster_barrier_orders_the_block() {
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    let read = "xor.b32 %r1, %r1, 4; ld.shared.u32 %r3, [%r1];";
    let inside = |fence: &str| format!("{WRITE} {fence} {relaxed} {read}");
    races(&inside(""), &inside("fence.acq_rel.cta;"));
    let across =
        |scope: &str| format!("{MEET} {WRITE} fence.acq_rel.{scope}; {relaxed} {READ_PEER}");
    races(&across("cta"), &across("cluster"));
}

#[test]
fn the_cluster_knows_of_an_mbarrier_before_others_arrive_there() {
    let arrive = "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];";
    races(&format!("{arrive} {MEET}"), &format!("{MEET} {arrive}"));
    // The fence of the initialisation and a relaxed arrival are enough.
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    races(&format!("{arrive} {MEET}"), &format!("{relaxed} {arrive}"));
}

#[test]
fn the_fence_of_an_initialisation_hands_on_that_and_nothing_else() {
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    let body = |fence: &str| format!("{MEET} {WRITE} {fence} {relaxed} {READ_PEER}");
    races(&body("fence.mbarrier_init.release.cluster;"), &body("fence.acq_rel.cluster;"));
    // What is handed on is the initialisation of the thread that fences, before the fence.
    let arrive = "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14+8];";
    let init = "@%p0 mbarrier.init.shared::cta.b64 [bar+8], 1;";
    let fence = "fence.mbarrier_init.release.cluster;";
    let made = |before: &str, after: &str| {
        format!(
            "@%p0 mbarrier.inval.shared::cta.b64 [bar+8]; {before} {init} {after} {relaxed} {arrive}"
        )
    };
    for wrong in [made("", ""), made(fence, ""), made("", &format!("@!%p0 {fence}"))] {
        races(&wrong, &made("", fence));
    }
}

#[test]
fn a_multicast_comes_after_the_readers_of_every_block() {
    // Both blocks wait and read; then block 0 copies into both again.
    let round = |parity: u32| {
        format!(
            "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256; {MEET} mov.b16 %h0, 3;
             setp.eq.u32 %p2, %r9, 0; and.pred %p3, %p2, %p0;
             @%p3 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
                 [tile], [%d0, {{0}}], [bar], %h0;
             W$: mbarrier.try_wait.parity.shared.b64 %p1, [bar], {parity}; @!%p1 bra W$;"
        )
    };
    let (first, second) = (round(0), round(1));
    let late = second.replace("barrier.cluster.arrive;", "barrier.cluster.arrive.relaxed;");
    let fault = races(&format!("{first} {READ} {late}"), &format!("{first} {READ} {second}"));
    says(&fault, "an asynchronous copy of 256 bytes");
}
