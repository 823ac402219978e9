//! Fences of tensor memory around its allocation and release, and between fences the operations that need not release or acquire (PTX ISA,
//! "`tcgen05`: Canonical synchronization patterns"): wrong kernels, beside their twins that are right.

use kernel_emulator::{Fault, FaultKind, Options};

use crate::tensor_memory::{kernel, launch_with};

const BEFORE: &str = "tcgen05.fence::before_thread_sync;";
const AFTER: &str = "tcgen05.fence::after_thread_sync;";
/// Zeros into the warp's own quarter, and back.
const STORE: &str = "mov.b32 %v0, 0; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%v0}; tcgen05.wait::st.sync.aligned;";
const LOAD: &str = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v1}, [%r5]; tcgen05.wait::ld.sync.aligned; st.global.b32 [%d0], %v1;";

/// Runs a text as it is, with the check of these fences.
fn run(text: &str, asked: bool) -> Result<(), Box<Fault>> {
    let options = Options::default().with_check_tensor_fences(asked);
    launch_with(text, &vec![0; 128 * 128], &options).map(|_| ())
}

/// The wrong text faults where the check is asked for and nowhere else, the right one never does.
#[track_caller]
fn asked(wrong: &str, right: &str, says: &str) {
    for (text, asked) in [(right, true), (right, false), (wrong, false)] {
        run(text, asked).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    }
    let fault = run(wrong, true).expect_err("a fence is missing");
    assert_eq!(fault.kind, FaultKind::TensorFence, "{fault}");
    assert!(fault.detail.contains(says), "{fault}");
}

/// A text without the one place where it says something.
#[track_caller]
fn without(text: &str, what: &str) -> String {
    assert_eq!(text.matches(what).count(), 1, "{text}");
    text.replace(what, "")
}

#[test]
fn the_first_access_to_columns_comes_after_a_fence() {
    let right = kernel(64, STORE);
    let says = "which warp 0 allocated: a `tcgen05.fence::after_thread_sync` of this warp, after it has synchronised, is missing";
    asked(&without(&right, AFTER), &right, says);
    // `tcgen05.alloc` is synchronous: it needs no fence before, and its own warp needs none at all.
    let own = kernel(64, &format!("@!%p0 bra NEXT; {STORE} {LOAD} NEXT:"));
    run(&without(&own, AFTER), true).unwrap_or_else(|fault| panic!("{fault}"));
    // Before the barrier it is too early.
    let barrier = "bar.sync 0; tcgen05.fence::after_thread_sync;";
    let early = right.replace(barrier, "tcgen05.fence::after_thread_sync; bar.sync 0;");
    assert_ne!(early, right);
    asked(&early, &right, says);
}

#[test]
fn columns_are_given_back_behind_a_fence_and_a_barrier() {
    for access in [STORE.to_owned(), format!("{STORE} {LOAD}")] {
        let right = kernel(64, &access);
        let says = "`tcgen05.dealloc` gives back";
        asked(&without(&right, BEFORE), &right, says);
        asked(
            &right.replace(&format!("{BEFORE} bar.sync 0;"), &format!("bar.sync 0; {BEFORE}")),
            &right,
            "a `tcgen05.fence::before_thread_sync` of that warp, before it synchronises, is missing",
        );
        let wrong = without(&right, &format!("{BEFORE} bar.sync 0;"));
        // The warps that gave nothing back are there first.
        let late =
            wrong.replace("@%p0 tcgen05.dealloc", "@%p0 nanosleep.u32 200; @%p0 tcgen05.dealloc");
        let fault = run(&late, false).expect_err("nothing orders the two");
        assert_eq!(fault.kind, FaultKind::Race, "{fault}");
        assert!(fault.detail.contains(says), "{fault}");
    }
}

/// Warp 1 stores what warp 0 gave it the address of, and hands over to warp 0, which multiplies nothing: it copies over the columns.
fn handed(arrive: &str, wait: &str, (before, after): (&str, &str)) -> String {
    let copy = "bfe.u32 %r6, %r3, 4, 14; cvt.u64.u32 %d2, %r6; add.u64 %d2, %d2, 0x401000080000;
         @%p1 tcgen05.cp.cta_group::1.128x128b [%r4], %d2;
         @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2+8];";
    kernel(
        64,
        &format!(
            "shl.b32 %r6, %r0, 6; add.u32 %r6, %r6, %r3; mov.b32 %v0, 0;
             st.shared.v4.b32 [%r6], {{%v0,%v0,%v0,%v0}}; st.shared.v4.b32 [%r6+16], {{%v0,%v0,%v0,%v0}};
             st.shared.v4.b32 [%r6+32], {{%v0,%v0,%v0,%v0}}; st.shared.v4.b32 [%r6+48], {{%v0,%v0,%v0,%v0}};
             fence.proxy.async.shared::cta; bar.sync 0;
             setp.eq.u32 %p2, %r0, 32; setp.ne.u32 %p4, %r1, 1;
             @%p4 bra TAKE;
             {STORE} {before} bar.warp.sync -1;
             @%p2 {arrive}
             TAKE: setp.ne.u32 %p4, %r1, 0; @%p4 bra COPIED;
             TAKEN: {wait} @!%p3 bra TAKEN; bar.warp.sync -1;
             {after} {copy}
             COPIED: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+8], 0; @!%p3 bra COPIED;"
        ),
    )
}

#[test]
fn between_fences_a_relaxed_operation_orders_tensor_memory() {
    let release = "mbarrier.arrive.shared::cta.b64 _, [%r2];";
    let relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r2];";
    let acquire = "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;";
    let relaxed_wait = "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p3, [%r2], 0;";
    for arrive in [release, relaxed] {
        for wait in [acquire, relaxed_wait] {
            for asked in [true, false] {
                let right = handed(arrive, wait, (BEFORE, AFTER));
                run(&right, asked).unwrap_or_else(|fault| panic!("{fault}\n{right}"));
            }
        }
    }
    let full = handed(release, acquire, (BEFORE, AFTER));
    for (before, after) in [("", AFTER), (BEFORE, ""), ("", "")] {
        asked(&handed(release, acquire, (before, after)), &full, "tcgen05.fence::");
    }
    // Without the fences, what is relaxed orders nothing.
    for (arrive, wait, fences) in [
        (relaxed, acquire, ("", AFTER)),
        (release, relaxed_wait, (BEFORE, "")),
        (relaxed, relaxed_wait, ("", "")),
    ] {
        let wrong = handed(arrive, wait, fences);
        let fault = run(&wrong, false).expect_err("nothing orders the two");
        assert_eq!(fault.kind, FaultKind::Race, "{fault}\n{wrong}");
    }
}

#[test]
fn a_flag_in_shared_memory_orders_between_fences() {
    let wait = "ld.relaxed.cta.shared.b32 %r7, [%r2+40]; setp.eq.u32 %p3, %r7, 1;";
    let flag = |fences| {
        let text = handed("st.relaxed.cta.shared.b32 [%r2+40], 1;", wait, fences);
        text.replace("@%p1 mbarrier.init", "@%p1 st.shared.b32 [%r2+40], 0; @%p1 mbarrier.init")
    };
    run(&flag((BEFORE, AFTER)), true).unwrap_or_else(|fault| panic!("{fault}"));
    for fences in [("", AFTER), (BEFORE, ""), ("", "")] {
        let fault = run(&flag(fences), false).expect_err("nothing orders the two");
        assert_eq!(fault.kind, FaultKind::Race, "{fault}");
    }
}

#[test]
fn who_committed_needs_the_fence_behind_the_wait_as_well() {
    // Warp 0 copies, commits, waits and loads its own quarter, alone.
    let text = |after: &str| {
        kernel(
            64,
            &format!(
                "shl.b32 %r6, %r0, 4; add.u32 %r6, %r6, %r3; mov.b32 %v0, 0;
                 st.shared.v4.b32 [%r6], {{%v0,%v0,%v0,%v0}}; st.shared.v4.b32 [%r6+2048], {{%v0,%v0,%v0,%v0}};
                 fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra NEXT;
                 bfe.u32 %r6, %r3, 4, 14; cvt.u64.u32 %d2, %r6; add.u64 %d2, %d2, 0x401000080000;
                 @%p1 tcgen05.cp.cta_group::1.128x128b [%r4], %d2;
                 @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2];
                 COPIED: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra COPIED; bar.warp.sync -1;
                 {after} {LOAD} NEXT:"
            ),
        )
    };
    let says = "a `tcgen05.fence::after_thread_sync` of this warp";
    asked(&text(""), &text(AFTER), says);
}
