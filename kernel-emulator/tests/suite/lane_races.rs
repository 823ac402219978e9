//! Races between lanes of one warp, and between a warp and the one lane that synchronises for it; and readers that a write comes after.

use kernel_emulator::FaultKind;

use crate::faults::twins;

/// Words of shared memory, the own word of a thread in `%r2`, its neighbour's in `%r3`; `%p0` holds for thread 0 alone.
const TILE: &str = ".shared .align 16 .b32 tile[128]; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1;
    xor.b32 %r3, %r0, 1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; setp.eq.u32 %p0, %r0, 0;";
const WRITE: &str = "st.shared.u32 [%r2], %r0;";
const READ: &str = "ld.shared.u32 %r4, [%r3];";

/// The wrong kernel races, the right one does not, in blocks of this many threads; what the fault says.
#[track_caller]
fn races(threads: u32, wrong: &str, right: &str) -> String {
    let whole = |body: &str| format!("{TILE} {body}");
    twins(FaultKind::Race, threads, &whole(wrong), &whole(right)).detail
}

#[test]
fn lanes_meet_between_a_write_and_a_read() {
    let exchange = |between: &str| format!("{WRITE} {between} {READ}");
    let detail = races(32, &exchange(""), &exchange("bar.warp.sync -1;"));
    assert!(detail.contains("which lane 1 of this warp wrote in PTX line"), "{detail}");
    assert!(detail.contains("is a `bar.warp.sync` missing between?"), "{detail}");
    // A barrier of the block orders them too.
    races(32, &exchange(""), &exchange("bar.sync 0;"));
    // What waits for the lanes otherwise exchanges registers, or reads memory, and says nothing of its order.
    for other in [
        "shfl.sync.idx.b32 %r5, %r0, 0, 31, -1;",
        "vote.sync.any.pred %p1, %p0, -1;",
        "elect.sync _|%p1, -1;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [tile+256];",
    ] {
        let body = |between: &str| {
            format!("st.shared.u32 [%r2+256], %r0; bar.sync 0; {}", exchange(between))
        };
        races(32, &body(other), &body(&format!("{other} bar.warp.sync -1;")));
    }
    // Time passes, and no lane waits for another.
    races(32, &exchange("nanosleep.u32 10;"), &exchange("bar.warp.sync -1;"));
    // Who shares a mask meets, and nobody else.
    races(
        32,
        &exchange("shr.u32 %r5, %r0, 4; setp.eq.u32 %p1, %r5, 0; @%p1 bar.warp.sync 0xFFFF;"),
        &exchange("bar.warp.sync -1;"),
    );
    races(
        32,
        &exchange(
            "and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; selp.b32 %r6, 0x55555555, 0xAAAAAAAA, %p1; bar.warp.sync %r6;",
        ),
        &exchange(
            "and.b32 %r5, %r0, 2; setp.eq.u32 %p1, %r5, 0; selp.b32 %r6, 0x33333333, 0xCCCCCCCC, %p1; bar.warp.sync %r6;",
        ),
    );
}

#[test]
fn lanes_meet_between_a_read_and_a_write() {
    let again = |between: &str| format!("{WRITE} bar.warp.sync -1; {READ} {between} {WRITE}");
    let detail = races(32, &again(""), &again("bar.warp.sync -1;"));
    assert!(detail.contains("of this warp read in PTX line"), "{detail}");
    // One place that all lanes read, and one writes.
    let whole = |between: &str| {
        format!(
            "@%p0 st.shared.u32 [tile], 1; bar.warp.sync -1; ld.shared.u32 %r4, [tile]; {between} @%p0 st.shared.u32 [tile], 2;"
        )
    };
    races(32, &whole(""), &whole("bar.warp.sync -1;"));
}

#[test]
fn lanes_that_touch_their_own_words_need_not_meet() {
    // Also with narrow elements, of which lanes share words.
    for access in [
        "st.shared.u32 [%r2], %r0; ld.shared.u32 %r4, [%r2];",
        "shr.u32 %r5, %r2, 0; sub.u32 %r5, %r5, %r1; shr.u32 %r5, %r5, 1; add.u32 %r5, %r5, %r1; st.shared.u16 [%r5], %r0; ld.shared.u16 %r4, [%r5]; st.shared.u16 [%r5], 1;",
        "add.u32 %r5, %r0, %r1; st.shared.u8 [%r5], %r0; ld.shared.u8 %r4, [%r5]; st.shared.u8 [%r5], 1;",
    ] {
        races(32, &format!("{WRITE} {READ}"), access);
    }
}

#[test]
fn lanes_meet_at_one_mask_wherever_they_are() {
    // The two halves of the warp execute different instructions (PTX ISA, "bar.warp.sync": sm_70 and later).
    let halves = |high: &str, low: &str| {
        format!(
            "{WRITE} setp.lt.u32 %p1, %r0, 16; xor.b32 %r3, %r0, 16; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; @%p1 bra LOW;
             {high} bra DONE; LOW: {low} DONE: {READ}"
        )
    };
    races(
        32,
        &halves("bar.warp.sync 0xFFFF0000;", "bar.warp.sync 0xFFFF;"),
        &halves("bar.warp.sync -1;", "mov.b32 %r5, -1; bar.warp.sync %r5;"),
    );
}

/// The address of the thread's element of so many bytes in `%r5`, of its neighbour's in `%r6`.
fn narrow(bytes: u32, body: &str) -> String {
    format!(
        "mad.lo.u32 %r5, %r0, {bytes}, %r1; xor.b32 %r6, %r0, 1; mad.lo.u32 %r6, %r6, {bytes}, %r1; {body}"
    )
}

#[test]
fn lanes_that_share_a_word_are_told_apart() {
    for (bytes, ty) in [(1, "u8"), (2, "u16")] {
        let exchange = |between: &str| {
            narrow(
                bytes,
                &format!("st.shared.{ty} [%r5], %r7; {between} ld.shared.{ty} %r8, [%r6];"),
            )
        };
        races(32, &exchange(""), &exchange("bar.warp.sync -1;"));
        // What neighbours read and write is theirs, also where only some lanes write again.
        let own = format!(
            "st.shared.{ty} [%r5], %r7; ld.shared.{ty} %r8, [%r5]; setp.lt.u32 %p1, %r0, 29; @%p1 st.shared.{ty} [%r5], %r8;"
        );
        races(32, &exchange(""), &narrow(bytes, &own));
        // One lane reads the whole word.
        let whole = |between: &str| {
            narrow(
                bytes,
                &format!("st.shared.{ty} [%r5], %r7; {between} @%p0 ld.shared.u32 %r4, [tile];"),
            )
        };
        races(32, &whole(""), &whole("bar.warp.sync -1;"));
    }
}

#[test]
fn atomic_operations_race_with_plain_accesses_and_not_with_one_another() {
    let count = |before: &str, after: &str| {
        format!(
            "@%p0 st.shared.u32 [tile], 0; {before} red.shared.add.u32 [tile], 1; {after} ld.shared.u32 %r4, [tile];"
        )
    };
    races(64, &count("bar.sync 0;", ""), &count("bar.sync 0;", "bar.sync 0;"));
    // A store over what others count in.
    let reset = |between: &str| {
        format!(
            "@%p0 st.shared.u32 [tile], 0; bar.sync 0; red.shared.add.u32 [tile], 1; {between} @%p0 st.shared.u32 [tile], 0;"
        )
    };
    races(64, &reset(""), &reset("bar.sync 0;"));
    races(32, &count("bar.warp.sync -1;", ""), &count("bar.warp.sync -1;", "bar.warp.sync -1;"));
}

#[test]
fn a_copy_may_write_as_soon_as_it_is_issued() {
    let refill = |between: &str| {
        format!(
            "{WRITE} bar.warp.sync -1; {READ} {between} cp.async.ca.shared.global [%r2], [%d1], 4; bar.warp.sync -1; cp.async.wait_all;"
        )
    };
    races(32, &refill(""), &refill("bar.warp.sync -1;"));
}

#[test]
fn lanes_that_left_have_met_nobody() {
    let leave = |before: &str| {
        format!(
            "{WRITE} {before} setp.eq.u32 %p1, %r0, 31; @%p1 exit; bar.warp.sync 0x7fffffff; @%p0 ld.shared.u32 %r4, [tile+124];"
        )
    };
    races(32, &leave(""), &leave("bar.warp.sync -1;"));
}

#[test]
fn what_stmatrix_stores_the_other_lanes_read_after_they_have_met() {
    let store = |between: &str| {
        format!(
            "{WRITE} bar.warp.sync -1; shl.b32 %r5, %r0, 4; and.b32 %r5, %r5, 127; add.u32 %r5, %r5, %r1;
             stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {{%r0}}; {between} {READ}"
        )
    };
    races(32, &store(""), &store("bar.warp.sync -1;"));
}

/// Warp 0 writes and one of its lanes arrives at an mbarrier for one; warp 1 waits there and reads.
fn hand_over(before: &str) -> String {
    format!(
        ".shared .align 8 .b64 bar; @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;
         setp.ge.u32 %p1, %r0, 32; @%p1 bra READER; {WRITE} {before}
         @%p0 mbarrier.arrive.shared.b64 _, [bar]; bra DONE;
         READER: W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;
         xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; ld.shared.u32 %r4, [%r3]; DONE:"
    )
}

#[test]
fn a_lane_arrives_for_its_warp_after_the_lanes_have_met() {
    let detail = races(64, &hand_over(""), &hand_over("bar.warp.sync -1;"));
    assert!(detail.contains("which warp 0 wrote"), "{detail}");
    let elect = "elect.sync _|%p3, -1;";
    races(64, &hand_over(elect), &hand_over(&format!("bar.warp.sync -1; {elect}")));
}

#[test]
fn a_lane_says_that_a_matrix_is_read_after_the_lanes_have_met() {
    let body = |meet: &str| {
        format!(
            ".shared .align 8 .b64 bar; @%p0 mbarrier.init.shared.b64 [bar], 1; {WRITE} bar.sync 0;
             setp.ge.u32 %p1, %r0, 32; @%p1 bra WRITER;
             shl.b32 %r5, %r0, 4; add.u32 %r5, %r5, %r1;
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r6}}, [%r5]; {meet}
             @%p0 mbarrier.arrive.shared.b64 _, [bar]; bra DONE;
             WRITER: W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;
             xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], 0; DONE:"
        )
    };
    let detail = races(64, &body(""), &body("bar.warp.sync -1;"));
    assert!(detail.contains("which warp 0 read"), "{detail}");
}

#[test]
fn a_lane_that_waited_meets_the_others_before_they_read() {
    let wait = |behind: &str| {
        format!(
            ".shared .align 8 .b64 bar; @%p0 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;
             setp.ge.u32 %p1, %r0, 32; @%p1 bra READER; {WRITE} mbarrier.arrive.shared.b64 _, [bar]; bra DONE;
             READER: setp.ne.u32 %p2, %r0, 32; @%p2 bra BEHIND;
             W: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra W;
             BEHIND: {behind}
             xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; ld.shared.u32 %r4, [%r3]; DONE:"
        )
    };
    races(64, &wait("nanosleep.u32 100;"), &wait("bar.warp.sync -1;"));
}

#[test]
fn a_write_comes_after_every_reader() {
    // Warps 1, 2 and 3 read in this order; warp 0 has synchronised with the last two only, or with all.
    let readers = |known: &str| {
        format!(
            "@%p0 st.shared.u32 [tile], 1; bar.sync 0; shr.u32 %r5, %r0, 5;
             setp.eq.u32 %p1, %r5, 0; @%p1 bra WRITER; setp.eq.u32 %p1, %r5, 1; @%p1 bra FIRST;
             nanosleep.u32 100; ld.shared.u32 %r4, [tile]; bar.arrive 1, 96; bra DONE;
             FIRST: ld.shared.u32 %r4, [tile]; {known} bra DONE;
             WRITER: bar.sync 1, 96; {wait} @%p0 st.shared.u32 [tile], 2; DONE:",
            wait = if known.is_empty() { "" } else { "bar.sync 2, 64;" }
        )
    };
    let detail = races(128, &readers(""), &readers("bar.arrive 2, 64;"));
    assert!(detail.contains("which warp 1 read"), "{detail}");
}
