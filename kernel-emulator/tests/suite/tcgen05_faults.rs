//! What `tcgen05` asks of a kernel: wrong kernels, beside their twins that are right.

use kernel_emulator::{Fault, FaultKind, Options};

use crate::tensor_memory::{kernel, launch, launch_with, twins};

/// Fills the 8192 bytes of `tile` with zeros. `%d2` is the descriptor of a matrix there, without swizzle, `%r7` the
/// instruction descriptor of 64 rows, 8 columns and f16, `%p2` thread 64, of the warp that goes on first behind the second barrier.
const FILL: &str = "shl.b32 %r6, %r0, 6; add.u32 %r6, %r6, %r3; mov.b32 %v0, 0;
    st.shared.v4.b32 [%r6], {%v0,%v0,%v0,%v0}; st.shared.v4.b32 [%r6+16], {%v0,%v0,%v0,%v0};
    st.shared.v4.b32 [%r6+32], {%v0,%v0,%v0,%v0}; st.shared.v4.b32 [%r6+48], {%v0,%v0,%v0,%v0};
    bfe.u32 %r6, %r3, 4, 14; cvt.u64.u32 %d2, %r6; add.u64 %d2, %d2, 0x401000080000;
    mov.b32 %r7, 0x04020010; setp.eq.u32 %p2, %r0, 64;";
const PROXY: &str = "fence.proxy.async.shared::cta;";
const BARRIER: &str = "bar.sync 0;";
const MMA: &str = "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r4], %d2, %d2, %r7, 0;";
const ADD: &str = "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r4], %d2, %d2, %r7, 1;";
const COMMIT: &str =
    "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2];";
const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra WAIT; bar.warp.sync -1;";
const LOAD: &str = "tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%v1,%v2,%v3,%v4}, [%r5], 4; tcgen05.wait::ld.sync.aligned; st.global.v4.b32 [%d0], {%v1,%v2,%v3,%v4};";

/// [`twins`] behind the filling of shared memory.
#[track_caller]
fn filled(kind: FaultKind, wrong: &str, right: &str) -> Box<Fault> {
    let start = format!("{FILL} {PROXY} {BARRIER}");
    twins(kind, &format!("{start} {wrong}"), &format!("{start} {right}"))
}

#[test]
fn a_product_is_waited_for() {
    let right = format!("{MMA} {COMMIT} {WAIT} {LOAD}");
    let fault = filled(
        FaultKind::AsyncInFlight,
        &format!("{MMA} {COMMIT} {BARRIER} {LOAD} {WAIT}"),
        &right,
    );
    assert!(fault.detail.contains("nobody has waited for the mbarrier"), "{fault}");
    let fault = filled(FaultKind::AsyncInFlight, &format!("{MMA} {BARRIER} {LOAD}"), &right);
    assert!(fault.detail.contains("a `tcgen05.commit` of its thread"), "{fault}");
    // A commit of another thread does not help.
    let other = COMMIT.replace("%p2", "%p1");
    let fault = filled(FaultKind::AsyncInFlight, &format!("{MMA} {other} {WAIT} {LOAD}"), &right);
    assert!(fault.detail.contains("a `tcgen05.commit` of its thread"), "{fault}");
    // Nor does one that comes before.
    filled(FaultKind::AsyncInFlight, &format!("{COMMIT} {MMA} {WAIT} {LOAD}"), &right);
}

#[test]
fn a_copy_is_waited_for() {
    let copy = "@%p2 tcgen05.cp.cta_group::1.128x128b [%r4], %d2;";
    let read = "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v1,%v2,%v3,%v4}, [%r5]; tcgen05.wait::ld.sync.aligned; st.global.v4.b32 [%d0], {%v1,%v2,%v3,%v4};";
    let right = format!("{copy} {COMMIT} {WAIT} {read}");
    let other = COMMIT.replace("%p2", "%p1");
    for (wrong, detail) in [
        (format!("{copy} {BARRIER} {read}"), "a `tcgen05.commit` of its thread"),
        (format!("{copy} {COMMIT} {BARRIER} {read} {WAIT}"), "nobody has waited for the mbarrier"),
        // Neither a commit of another thread nor one that comes before counts.
        (format!("{copy} {other} {WAIT} {read}"), "a `tcgen05.commit` of its thread"),
        (format!("{COMMIT} {copy} {WAIT} {read}"), "a `tcgen05.commit` of its thread"),
    ] {
        let fault = filled(FaultKind::AsyncInFlight, &wrong, &right);
        assert!(fault.detail.contains("which a `tcgen05.cp` has still to write: "), "{fault}");
        assert!(fault.detail.contains(detail), "{fault}");
    }
    // What is copied behind the commit, that does not wait for.
    let second = |before: &str, behind: &str| {
        format!(
            "add.u32 %r8, %r4, 4; add.u32 %r5, %r5, 4; {copy} {before} {COMMIT} {behind} {WAIT} {read}"
        )
    };
    let again = copy.replace("[%r4]", "[%r8]");
    let fault = filled(FaultKind::AsyncInFlight, &second("", &again), &second(&again, ""));
    assert!(fault.detail.contains("of column 4 of tensor memory, which a `tcgen05.cp`"), "{fault}");
}

#[test]
fn who_loads_has_waited_or_synchronised_with_who_did() {
    let one = "setp.eq.u32 %p4, %r1, 2; @!%p4 bra BEHIND;";
    let fault = filled(
        FaultKind::Race,
        &format!("{MMA} {COMMIT} {one} {WAIT} BEHIND: {LOAD}"),
        &format!("{MMA} {COMMIT} {one} {WAIT} BEHIND: {BARRIER} {LOAD}"),
    );
    assert!(fault.detail.contains("neither waited for the mbarrier"), "{fault}");
}

#[test]
fn shared_memory_stays_until_the_product_is_over() {
    let touch = "st.shared.b32 [%r3+2048], %r0;";
    let touch = format!("@%p2 {touch}");
    let fault = filled(
        FaultKind::AsyncInFlight,
        &format!("{MMA} {COMMIT} {} {WAIT}", touch.replace("+2048", "+16")),
        &format!("{MMA} {COMMIT} {WAIT} {}", touch.replace("+2048", "+16")),
    );
    assert!(fault.detail.contains("has still to read"), "{fault}");
    // What it does not read may change.
    filled(
        FaultKind::AsyncInFlight,
        &format!("{MMA} {COMMIT} {} {WAIT}", touch.replace("+2048", "+1040")),
        &format!("{MMA} {COMMIT} {touch} {WAIT}"),
    );
}

#[test]
fn ordinary_writes_are_fenced_for_the_tensor_core() {
    let copy = "@%p2 tcgen05.cp.cta_group::1.128x128b [%r4], %d2;";
    for operation in [MMA, copy] {
        let rest = format!("{operation} {COMMIT} {WAIT}");
        twins(
            FaultKind::ProxyFence,
            &format!("{FILL} {BARRIER} {rest}"),
            &format!("{FILL} {PROXY} {BARRIER} {rest}"),
        );
        twins(
            FaultKind::Race,
            &format!("{BARRIER} {FILL} {PROXY} {rest}"),
            &format!("{BARRIER} {FILL} {PROXY} {BARRIER} {rest}"),
        );
    }
}

#[test]
fn products_follow_one_another_into_the_same_d() {
    // The same shape and kind need no wait; another kind or shape does.
    let again = format!("{MMA} {ADD} {ADD} {COMMIT} {WAIT} {LOAD}");
    let tf32 = "mov.b32 %r8, 0x04020910; @%p2 tcgen05.mma.cta_group::1.kind::tf32 [%r4], %d2, %d2, %r8, 1;";
    let wider =
        "mov.b32 %r8, 0x04040010; @%p2 tcgen05.mma.cta_group::1.kind::f16 [%r4], %d2, %d2, %r8, 0;";
    let second = "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d3];";
    let address = "cvt.u64.u32 %d3, %r2; add.u64 %d3, %d3, 8;";
    let wait = WAIT.replace("WAIT", "AGAIN").replace("[%r2]", "[%r2+8]");
    for other in [tf32, wider] {
        let fault = filled(
            FaultKind::AsyncInFlight,
            &format!("{MMA} {other} {COMMIT} {WAIT}"),
            &format!("{again} {address} {BARRIER} {other} {second} {wait}"),
        );
        assert!(fault.detail.contains("has still to write"), "{fault}");
    }
    // Where two products of 64 rows take the lanes in turns, neither waits for the other.
    let beside = tf32
        .replace("[%r4]", "[%r8]")
        .replace("mov.b32 %r8", "mov.b32 %r9")
        .replace("%r8, 1", "%r9, 0");
    let beside = format!("add.u32 %r8, %r4, 0x100000; {beside}");
    filled(
        FaultKind::AsyncInFlight,
        &format!("{MMA} {} {COMMIT} {WAIT}", beside.replace("0x100000", "0")),
        &format!("{MMA} {beside} {COMMIT} {WAIT}"),
    );
    // Another thread waits too.
    filled(
        FaultKind::Race,
        &format!(
            "{MMA} {COMMIT} {} {address} {} {WAIT}",
            ADD.replace("%p2", "%p1"),
            second.replace("%p2", "%p1")
        ),
        &again,
    );
}

#[test]
fn stores_are_over_before_a_product_reads_them() {
    let store =
        "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r5+32], {%v0,%v0,%v0,%v0,%v0,%v0,%v0,%v0};";
    let wait = "tcgen05.wait::st.sync.aligned;";
    let product =
        format!("{} {COMMIT} {WAIT} {LOAD}", MMA.replace("[%r4], %d2", "[%r4], [%r4+32]"));
    let fault = filled(
        FaultKind::AsyncInFlight,
        &format!("{store} {BARRIER} {product} {wait}"),
        &format!("{store} {wait} {BARRIER} {product}"),
    );
    assert!(fault.detail.contains("`tcgen05.wait::st` is missing"), "{fault}");
    filled(
        FaultKind::Race,
        &format!("{store} {wait} {product}"),
        &format!("{store} {wait} {BARRIER} {product}"),
    );
    // Waiting behind the barrier is too late for who comes through it.
    filled(
        FaultKind::Race,
        &format!("{store} {BARRIER} {wait} nanosleep.u32 20; {product}"),
        &format!("{store} {wait} {BARRIER} {product}"),
    );
}

#[test]
fn rows_of_a_are_shifted_in_products_of_all_rows() {
    let store = "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r5+32], {%v0,%v0,%v0,%v0,%v0,%v0,%v0,%v0}; tcgen05.wait::st.sync.aligned;";
    let product = MMA.replace("[%r4], %d2", "[%r4], [%r4+32]");
    let shifted = product.replace("kind::f16", "kind::f16.ashift");
    let run = |product: &str| format!("{store} {BARRIER} {product} {COMMIT} {WAIT}");
    let fault = filled(FaultKind::IllegalOperand, &run(&shifted), &run(&product));
    assert!(fault.detail.contains("`.ashift`: required 128 or 256, actual 64"), "{fault}");
}

#[test]
fn loads_are_over_before_a_product_overwrites_them() {
    let first = format!("{MMA} {COMMIT} {WAIT}");
    let load = "tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%v1,%v2,%v3,%v4}, [%r5], 4;";
    let wait = "tcgen05.wait::ld.sync.aligned;";
    let next = format!(
        "{MMA} {} {}",
        COMMIT.replace("[%r2]", "[%r2+8]"),
        WAIT.replace("WAIT", "AGAIN").replace("[%r2]", "[%r2+8]")
    );
    let right = format!("{first} {load} {wait} {BARRIER} {next}");
    filled(FaultKind::AsyncInFlight, &format!("{first} {load} {BARRIER} {next} {wait}"), &right);
    filled(FaultKind::Race, &format!("{first} {BARRIER} {load} {wait} {next}"), &right);
}

#[test]
fn fences_stand_on_both_sides_of_a_barrier() {
    let store = "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r5+32], {%v0,%v0,%v0,%v0,%v0,%v0,%v0,%v0}; tcgen05.wait::st.sync.aligned;";
    // A product reads what the threads have stored; a copy writes over it.
    let product = MMA.replace("[%r4], %d2", "[%r4], [%r4+32]");
    let copy = "@%p2 tcgen05.cp.cta_group::1.128x128b [%r4+32], %d2;";
    for operation in [product, format!("{copy} {MMA}")] {
        fences_stand_around(store, &operation);
    }
}

#[track_caller]
fn fences_stand_around(store: &str, operation: &str) {
    let (before, after) =
        ("tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;");
    let run = |fences: [&str; 5], asked: bool| {
        let [a, b, c, d, e] = fences;
        let body = format!(
            "{FILL} {PROXY} {BARRIER} {store} {a} {BARRIER} {b} {c} {operation} {COMMIT} {WAIT} {d} {LOAD} {e}"
        );
        let options = Options::default().with_check_tensor_fences(asked);
        launch_with(&kernel(64, &body), &vec![0; 128 * 128], &options)
    };
    let right = [before, after, "", after, ""];
    run(right, true).unwrap_or_else(|fault| panic!("{fault}"));
    for (wrong, says) in [
        (["", after, "", after, ""], "`tcgen05.fence::before_thread_sync` of that warp"),
        // Behind the barrier it is too late.
        (["", before, after, after, ""], "`tcgen05.fence::before_thread_sync` of that warp"),
        ([before, "", "", after, ""], "`tcgen05.fence::after_thread_sync` of this warp"),
        ([before, after, "", "", after], "`tcgen05.fence::after_thread_sync` of this warp"),
    ] {
        let fault = run(wrong, true).expect_err("a fence is missing");
        assert_eq!(fault.kind, FaultKind::TensorFence, "{fault}");
        assert!(fault.detail.contains(says), "{fault}");
        run(wrong, false).unwrap_or_else(|fault| panic!("nobody asked: {fault}"));
    }
}

#[test]
fn operands_are_overwritten_by_who_knows_that_the_product_is_over() {
    let body = |wait: &str| {
        format!(
            "{MMA} {COMMIT} {BARRIER} setp.eq.u32 %p4, %r1, 3; @%p4 bra OVERWRITE; {WAIT} bra DONE;
             OVERWRITE: {wait} st.shared.b32 [%r3], %v0; DONE:"
        )
    };
    // Another warp waits for the commit meanwhile, so that the product is over.
    let wrong = body(&"nanosleep.u32 20;".repeat(16));
    let right = body(&WAIT.replace("WAIT", "OVER"));
    let fault = filled(FaultKind::Race, &wrong, &right);
    assert!(
        fault.detail.contains("which a `tcgen05` operation read that was issued in"),
        "{fault}"
    );
    assert_eq!(fault.missing, Some("mbarrier.try_wait"), "{fault}");
}

#[test]
fn commits_arrive_at_mbarriers_that_a_fence_made_visible() {
    let run = |fence: &str, asked: bool| {
        let body = format!("setp.eq.u32 %p2, %r0, 64; {fence} {BARRIER} {COMMIT} {WAIT}");
        let options = Options::default().with_check_init_fences(asked);
        launch_with(&kernel(64, &body), &vec![0; 128 * 128], &options)
    };
    let fence = "@%p1 fence.mbarrier_init.release.cluster;";
    for right in [fence, "@%p1 fence.proxy.async.shared::cta;"] {
        run(right, true).unwrap_or_else(|fault| panic!("{fault}"));
    }
    run("", false).unwrap_or_else(|fault| panic!("nobody asked: {fault}"));
    for wrong in ["", "@!%p1 fence.mbarrier_init.release.cluster;"] {
        let fault = run(wrong, true).expect_err("the fence is missing");
        assert_eq!(fault.kind, FaultKind::ProxyFence, "{fault}");
        let says = "a `tcgen05.commit` arrives at the mbarrier at shared address 0x400, which";
        assert!(fault.detail.contains(says), "{fault}");
        assert!(fault.ptx.contains("tcgen05.commit"), "{fault}");
    }
}

#[test]
fn columns_are_given_back_when_nothing_uses_them() {
    let fault = filled(
        FaultKind::AsyncInFlight,
        &format!("{MMA} {COMMIT}"),
        &format!("{MMA} {COMMIT} {WAIT}"),
    );
    assert!(fault.detail.contains("`tcgen05.dealloc` gives back"), "{fault}");
}

#[test]
fn scales_are_not_copied_over_by_another_thread_while_a_product_reads_them() {
    let copy = "@%p2 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r4+32], %d2;";
    let product = "mov.b32 %r8, 0x08820000; @%p2 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r4], %d2, %d2, %r8, [%r4+32], [%r4+32], 0;";
    let next = |thread: &str| {
        let waits = WAIT.replace("WAIT", "AGAIN").replace("[%r2]", "[%r2+8]");
        let text = format!("{BARRIER} {copy} {} {waits}", COMMIT.replace("[%r2]", "[%r2+8]"));
        text.replace("%p2", thread)
    };
    let started = format!("{copy} {product} {COMMIT}");
    let fault = filled(
        FaultKind::AsyncInFlight,
        &format!("{started} {} {WAIT}", next("%p1")),
        &format!("{started} {WAIT} {}", next("%p1")),
    );
    assert!(fault.detail.contains("has still to "), "{fault}");
    // Of one thread, the tensor cores do all in order.
    let fault = filled(
        FaultKind::AsyncInFlight,
        &format!("{started} {} {WAIT}", next("%p1")),
        &format!("{started} {} {WAIT}", next("%p2")),
    );
    assert!(fault.detail.contains("has still to "), "{fault}");
}

#[test]
fn scales_that_nobody_wrote_are_not_used() {
    let store = |guard: &str| {
        format!(
            "mov.b32 %v0, 0x7F7F7F7F; {guard} tcgen05.st.sync.aligned.32x32b.x4.b32 [%r5+32], {{%v0,%v0,%v0,%v0}};
             tcgen05.wait::st.sync.aligned; {BARRIER}"
        )
    };
    let product = "mov.b32 %r8, 0x08820000; @%p2 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r4], %d2, %d2, %r8, [%r4+32], [%r4+32], 0;";
    // All four quarters hold them, not that of one warp only.
    filled(
        FaultKind::Uninitialised,
        &format!("{} {product} {COMMIT} {WAIT} {LOAD}", store("@%p0")),
        &format!("{} {product} {COMMIT} {WAIT} {LOAD}", store("")),
    );
}

#[test]
fn who_waits_for_a_commit_knows_what_its_thread_did_before() {
    let store = "@%p2 st.shared.b32 [%r3+4096], %r0;";
    let load = "ld.shared.b32 %v1, [%r3+4096];";
    filled(
        FaultKind::Race,
        &format!("{MMA} {COMMIT} {store} {WAIT} {load}"),
        &format!("{store} {MMA} {COMMIT} {WAIT} {load}"),
    );
}

#[test]
fn sums_with_cells_that_nobody_wrote_are_not_used() {
    let fault = filled(
        FaultKind::Uninitialised,
        &format!("{ADD} {COMMIT} {WAIT} {LOAD}"),
        &format!("{MMA} {COMMIT} {WAIT} {LOAD}"),
    );
    assert!(fault.detail.contains("is stored to global memory"), "{fault}");
}

#[test]
fn instruction_descriptors_are_checked_field_by_field() {
    for (kind, bits, says) in [
        ("f16", 0x0402_0014, "sparsity, of an instruction without `.sp`: required 0, actual 1"),
        ("f16", 0x0402_0000 | 2 << 4, "type of D: required 0 for f16 or 1 for f32, actual 2"),
        ("f16", 0x0402_0018, "saturation: required 0"),
        ("f16", 0x0402_0050, "bit 6: required 0, actual 1"),
        ("f16", 0x0402_0110, "type of A: required 0 for f16 or 1 for bf16, actual 2"),
        ("f16", 0x0402_0810, "type of B: required 0 for f16 or 1 for bf16, actual 2"),
        ("f16", 0x0482_0010, "bit 23: required 0, actual 1"),
        ("f16", 0x0202_0010, "M: required 64 or 128, actual 32"),
        ("f16", 0x0400_0010, "N: required a multiple of 8 from 8 to 256 where M is 64, actual 0"),
        ("f16", 0x0442_0010, "N: required a multiple of 8 from 8 to 256 where M is 64, actual 264"),
        ("f16", 0x2402_0010, "bits 29 to 31: required 0, actual 1"),
        ("tf32", 0x0402_0890, "type of A: required 2 for tf32, actual 1"),
        ("f8f6f4", 0x0402_0110, "type of A: required 0 e4m3"),
        ("i8", 0x0402_2020, "negation of A: required 0 for integers, actual 1"),
        ("i8", 0x0402_0010, "type of D: required 2 for s32, actual 1"),
        ("i8", 0x040A_0020, "N: required a multiple of 16 from 32 to 256 where M is 64, actual 40"),
    ] {
        let wrong = format!(
            "mov.b32 %r7, {bits:#x}; {} {COMMIT} {WAIT}",
            MMA.replace("kind::f16", &format!("kind::{kind}"))
        );
        let fault = filled(FaultKind::IllegalOperand, &wrong, "");
        assert!(fault.detail.contains(says), "{bits:#x}: {fault}");
    }
    for (words, bits, says) in [
        ("mxf8f6f4.block_scale.scale_vec::1X", 0x0402_0000 | 1 << 23, "M: required 128, actual 64"),
        (
            "mxf8f6f4.block_scale.scale_vec::1X",
            0x0802_0000,
            "type of the scales: required 1 for ue8m0, actual 0",
        ),
        (
            "mxf4.block_scale.scale_vec::2X",
            0x2882_0480,
            "id of the scales of A, of 2 in a row,: required 0 or 2, actual 1",
        ),
        ("mxf4.block_scale.scale_vec::2X", 0x0882_0400, "type of A: required 1 for e2m1, actual 0"),
        ("mxf4.block_scale.scale_vec::2X", 0x0882_8480, "transposition of A: required 0, actual 1"),
        (
            "mxf4nvf4.block_scale.scale_vec::4X",
            0x0802_04A0,
            "id of the scales of B, of 4 in a row,: required 0, actual 2",
        ),
    ] {
        let wrong = format!(
            "@%p2 tcgen05.mma.cta_group::1.kind::{words} [%r4], %d2, %d2, {bits:#x}, [%r4], [%r4], 0; {COMMIT} {WAIT}"
        );
        let fault = filled(FaultKind::IllegalOperand, &wrong, "");
        assert!(fault.detail.contains(says), "{bits:#x}: {fault}");
    }
}

#[test]
fn shared_memory_descriptors_are_checked_field_by_field() {
    for (change, says) in [
        ("xor.b64 %d2, %d2, 0x400000000000;", "bits 46 to 48, a constant: required 1, actual 0"),
        ("or.b64 %d2, %d2, 0x10000000000000;", "bit 52"),
        ("or.b64 %d2, %d2, 0x20000000000000;", "bits 53 to 60: required 0, actual 1"),
        ("or.b64 %d2, %d2, 0x6000000000000000;", "the swizzle: required 0 none"),
    ] {
        let fault =
            filled(FaultKind::IllegalOperand, &format!("{change} {MMA} {COMMIT} {WAIT}"), "");
        assert!(fault.detail.contains(says), "{fault}");
    }
    // 64 rows in groups of eight that lie 2048 bytes apart do not fit.
    let fault = filled(
        FaultKind::OutOfBounds,
        &format!("add.u64 %d2, %d2, 0x7000000000; {MMA} {COMMIT} {WAIT}"),
        &format!("add.u64 %d2, %d2, 0x1000000000; {MMA} {COMMIT} {WAIT}"),
    );
    assert!(fault.detail.contains("A of `tcgen05.mma` has bytes at shared address"), "{fault}");
}

#[test]
fn d_lies_where_columns_are_allocated() {
    let at = |column: u32| {
        format!("{} {COMMIT} {WAIT}", MMA.replace("[%r4]", &format!("[%r4+{column}]")))
    };
    let fault = filled(FaultKind::OutOfBounds, &at(57), &at(56));
    assert!(fault.detail.contains("D of `tcgen05.mma` is columns 57..65"), "{fault}");
    let fault = filled(FaultKind::IllegalOperand, &at(0x80000), &at(0x10_0000));
    assert!(
        fault.detail.contains("starts in lane 8 of tensor memory: required 0 or 16"),
        "{fault}"
    );
}

#[test]
fn a_commit_arrives_at_an_mbarrier_that_lives() {
    filled(
        FaultKind::Uninitialised,
        &format!("{MMA} {} {WAIT}", COMMIT.replace("[%r2]", "[%r2+16]")),
        &format!("{MMA} {COMMIT} {WAIT}"),
    );
    let end = "@%p2 mbarrier.inval.shared::cta.b64 [%r2];";
    let fault = filled(
        FaultKind::AsyncInFlight,
        &format!("{MMA} {COMMIT} {end}"),
        &format!("{MMA} {COMMIT} {WAIT} {BARRIER} {end}"),
    );
    assert!(fault.detail.contains("a `tcgen05.commit` has still to arrive at it"), "{fault}");
    // An earlier commit of the thread has arrived when a later one has.
    let second = COMMIT.replace("[%r2]", "[%r2+8]");
    let wait = WAIT.replace("[%r2]", "[%r2+8]");
    filled(
        FaultKind::AsyncInFlight,
        &format!("{MMA} {second} {COMMIT} {wait} {BARRIER} {end}"),
        &format!("{MMA} {COMMIT} {second} {wait} {BARRIER} {end}"),
    );
}

#[test]
fn a_whole_warp_loads() {
    let rest = format!("{MMA} {COMMIT} {WAIT}");
    let fault = filled(
        FaultKind::BarrierDivergence,
        &format!("{rest} @%p2 bra OVER; {LOAD} OVER:"),
        &format!("{rest} {LOAD}"),
    );
    assert!(fault.detail.contains("waits for lanes 0x00000001"), "{fault}");
}

#[test]
fn a_zero_column_mask_masks_nothing_or_is_refused() {
    let mma = "mov.b32 %r7, 0x04100010; @%p2 tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill [%r4], %d2, %d2, %r7, 0, MASK;";
    let rest = format!("{COMMIT} {WAIT}");
    let fault = filled(
        FaultKind::IllegalOperand,
        &format!("{} {rest}", mma.replace("MASK", "1")),
        &format!("{} {rest}", mma.replace("MASK", "0")),
    );
    assert!(fault.detail.contains("only 0, which masks nothing"), "{fault}");
}

#[test]
fn a_pair_needs_two_blocks() {
    let text = kernel(64, "").replace("cta_group::1", "cta_group::2");
    let fault = launch(&text, &vec![0; 128 * 128]).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
    assert!(fault.detail.contains("has no partner"), "{fault}");
}
