//! Layouts recorded from another compiler for the same hardware: bases of named layouts on given shapes.
//!
//! A row is written as in diagnostics, `[0,1] [8,0]`; the numbers are independent of this crate's constructors.

use kernel_layout::forms::{
    Form, blocked, default_swizzle_bytes, fma_operand, mma_v2_accumulator, mma_v2_operand,
    nvmma_alignment_bytes, nvmma_shared, slice_of, swizzled_shared, wgmma_accumulator,
    wgmma_operand,
};
use kernel_layout::{Dim, Layout, LayoutError, basis_text};

/// The lanes of an accumulator fragment.
const FRAGMENT: &str = "[0,2] [0,4] [1,0] [2,0] [4,0]";

fn bases(layout: &Layout, dim: Dim) -> String {
    layout.bases(dim).iter().map(basis_text).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_registers(layout: Result<Layout, LayoutError>, register: &str, lane: &str, warp: &str) {
    let layout = layout.expect("the layout is legal");
    assert_eq!(bases(&layout, Dim::Register), register);
    assert_eq!(bases(&layout, Dim::Lane), lane);
    assert_eq!(bases(&layout, Dim::Warp), warp);
}

#[track_caller]
fn check_shared(layout: Result<Layout, LayoutError>, offset: &str) {
    let layout = layout.expect("the layout is legal");
    assert_eq!(bases(&layout, Dim::Offset), offset);
    assert!(layout.is_surjective());
}

fn blocked_form(per_thread: [u32; 2], lanes: [u32; 2], warps: [u32; 2], order: [u32; 2]) -> Form {
    Form::Blocked {
        per_thread: per_thread.into(),
        lanes: lanes.into(),
        warps: warps.into(),
        order: order.into(),
    }
}

#[test]
fn v01_slices_of_a_blocked_layout() {
    let register = "[1] [2] [16] [32] [64] [128]";
    let rows = blocked_form([1, 4], [32, 1], [1, 4], [1, 0]);
    check_registers(slice_of(0, &rows, &[256]), register, "[0] [0] [0] [0] [0]", "[4] [8]");
    let columns = blocked_form([4, 1], [1, 32], [4, 1], [0, 1]);
    check_registers(slice_of(1, &columns, &[256]), register, "[0] [0] [0] [0] [0]", "[4] [8]");
}

#[test]
fn v02_a_thread_that_holds_everything() {
    let register = "[1] [2] [4] [8] [16] [32] [64] [128]";
    check_registers(
        blocked(&[256], &[32], &[4], &[0], &[256]),
        register,
        "[0] [0] [0] [0] [0]",
        "[0] [0]",
    );
}

#[test]
fn v03_a_warp_beyond_the_tensor() {
    check_registers(
        blocked(&[4], &[32], &[4], &[0], &[256]),
        "[1] [2]",
        "[4] [8] [16] [32] [64]",
        "[128] [0]",
    );
}

#[test]
fn v04_lanes_and_warps_along_the_fast_axis() {
    check_registers(
        blocked(&[1, 1], &[1, 32], &[1, 4], &[1, 0], &[16, 128]),
        "[1,0] [2,0] [4,0] [8,0]",
        "[0,1] [0,2] [0,4] [0,8] [0,16]",
        "[0,32] [0,64]",
    );
}

#[test]
fn v05_a_blocked_layout_that_grows() {
    check_registers(
        blocked(&[2, 4], &[8, 4], &[2, 2], &[1, 0], &[64, 128]),
        "[0,1] [0,2] [1,0] [0,32] [0,64] [32,0]",
        "[0,4] [0,8] [2,0] [4,0] [8,0]",
        "[0,16] [16,0]",
    );
}

#[test]
fn v06_the_other_order() {
    check_registers(
        blocked(&[2, 4], &[8, 4], &[2, 2], &[0, 1], &[64, 128]),
        "[1,0] [0,1] [0,2] [32,0] [0,32] [0,64]",
        "[2,0] [4,0] [8,0] [0,4] [0,8]",
        "[16,0] [0,16]",
    );
}

#[test]
fn v07_a_blocked_layout_that_shrinks() {
    check_registers(
        blocked(&[1, 8], &[4, 8], &[4, 1], &[1, 0], &[8, 32]),
        "[0,1] [0,2] [0,4]",
        "[0,8] [0,16] [0,0] [1,0] [2,0]",
        "[4,0] [0,0]",
    );
}

#[test]
fn v08_rows_split_over_two_blocks() {
    let per_block = Box::new(blocked_form([1, 4], [8, 4], [4, 1], [1, 0]));
    let layout = Form::Cluster { bases: vec![vec![1, 0]], per_block }.to_layout(&[128, 64]);
    check_registers(
        layout.clone(),
        "[0,1] [0,2] [0,16] [0,32] [32,0]",
        "[0,4] [0,8] [1,0] [2,0] [4,0]",
        "[8,0] [16,0]",
    );
    assert_eq!(bases(&layout.expect("checked above"), Dim::Block), "[64,0]");
}

#[test]
fn v09_accumulator_of_mma() {
    let layout = mma_v2_accumulator([2, 2], &[64, 64]);
    check_registers(layout, "[0,1] [8,0] [0,16] [0,32] [32,0]", FRAGMENT, "[0,8] [16,0]");
}

#[test]
fn v10_operands_of_mma() {
    let a = mma_v2_operand(0, [2, 2], 2, &[64, 32]);
    check_registers(a, "[0,1] [8,0] [0,8] [0,16] [32,0]", FRAGMENT, "[0,0] [16,0]");
    check_registers(
        mma_v2_operand(1, [2, 2], 2, &[32, 64]),
        "[1,0] [8,0] [16,0] [0,16] [0,32]",
        "[2,0] [4,0] [0,1] [0,2] [0,4]",
        "[0,8] [0,0]",
    );
    check_registers(
        mma_v2_operand(0, [2, 2], 4, &[64, 32]),
        "[0,1] [0,2] [8,0] [0,16] [32,0]",
        "[0,4] [0,8] [1,0] [2,0] [4,0]",
        "[0,0] [16,0]",
    );
}

#[test]
fn v11_accumulators_and_operands_of_wgmma() {
    let columns = "[0,1] [8,0] [0,8] [0,16] [0,32]";
    check_registers(wgmma_accumulator([4, 1], 64, &[64, 64]), columns, FRAGMENT, "[16,0] [32,0]");
    check_registers(
        wgmma_accumulator([4, 1], 256, &[128, 256]),
        &format!("{columns} [0,64] [0,128] [64,0]"),
        FRAGMENT,
        "[16,0] [32,0]",
    );
    check_registers(
        wgmma_accumulator([8, 1], 128, &[128, 128]),
        &format!("{columns} [0,64]"),
        FRAGMENT,
        "[16,0] [32,0] [64,0]",
    );
    check_registers(
        wgmma_accumulator([4, 2], 128, &[128, 256]),
        &format!("{columns} [0,64] [64,0]"),
        FRAGMENT,
        "[16,0] [32,0] [0,128]",
    );
    check_registers(wgmma_operand([4, 1], 2, &[64, 64]), columns, FRAGMENT, "[16,0] [32,0]");
    check_registers(
        wgmma_operand([4, 1], 4, &[64, 64]),
        "[0,1] [0,2] [8,0] [0,16] [0,32]",
        "[0,4] [0,8] [1,0] [2,0] [4,0]",
        "[16,0] [32,0]",
    );
    let accumulator = Form::Wgmma { warps: [4, 1], n: 64 };
    check_registers(slice_of(1, &accumulator, &[64]), "[8]", "[0] [0] [1] [2] [4]", "[16] [32]");
}

#[test]
fn v12_operand_of_a_product_by_fused_multiply_add() {
    check_registers(
        fma_operand(0, &[2, 2], &[8, 4], &[2, 2], &[1, 0], &[64, 16]),
        "[0,1] [0,2] [0,4] [0,8] [1,0] [32,0]",
        "[0,0] [0,0] [2,0] [4,0] [8,0]",
        "[0,0] [16,0]",
    );
}

/// `[0,1] [0,2] ..` up to half of `columns`, then `rows`.
fn columns_then(columns: u32, rows: &str) -> String {
    let columns: Vec<String> =
        (0..columns.ilog2()).map(|bit| format!("[0,{}]", 1 << bit)).collect();
    format!("{} {rows}", columns.join(" "))
}

#[test]
fn v13_one_column_of_swizzle_atoms() {
    let plain = "[1,0] [2,0] [4,0] [8,0]";
    let table = [
        (8, 0, 32, plain),
        (8, 32, 32, "[1,0] [2,0] [4,16] [8,0]"),
        (8, 64, 64, "[1,0] [2,16] [4,32] [8,0]"),
        (8, 128, 128, "[1,16] [2,32] [4,64] [8,0]"),
        (16, 0, 64, plain),
        (16, 32, 16, "[1,0] [2,0] [4,8] [8,0]"),
        (16, 64, 32, "[1,0] [2,8] [4,16] [8,0]"),
        (16, 128, 64, "[1,8] [2,16] [4,32] [8,0]"),
        (32, 0, 32, plain),
        (32, 32, 8, "[1,0] [2,0] [4,4] [8,0]"),
        (32, 64, 16, "[1,0] [2,4] [4,8] [8,0]"),
        (32, 128, 32, "[1,4] [2,8] [4,16] [8,0]"),
    ];
    for (bits, swizzle, columns, rows) in table {
        check_shared(
            nvmma_shared(swizzle, bits, false, false, &[16, columns]),
            &columns_then(columns, rows),
        );
    }
}

#[test]
fn v14_tiles_of_several_atoms() {
    check_shared(
        nvmma_shared(128, 16, false, false, &[64, 128]),
        &columns_then(64, "[1,8] [2,16] [4,32] [8,0] [16,0] [32,0] [0,64]"),
    );
    check_shared(
        nvmma_shared(0, 16, false, false, &[64, 64]),
        &columns_then(64, "[1,0] [2,0] [4,0] [8,0] [16,0] [32,0]"),
    );
    check_shared(
        nvmma_shared(64, 16, false, false, &[64, 64]),
        &columns_then(32, "[1,0] [2,8] [4,16] [8,0] [16,0] [32,0] [0,32]"),
    );
    check_shared(
        nvmma_shared(128, 16, true, false, &[64, 64]),
        "[1,0] [2,0] [4,0] [8,0] [16,0] [32,0] [8,1] [16,2] [32,4] [0,8] [0,16] [0,32]",
    );
    check_shared(
        nvmma_shared(128, 16, false, false, &[2, 16, 128]),
        "[0,0,1] [0,0,2] [0,0,4] [0,0,8] [0,0,16] [0,0,32] [0,1,8] [0,2,16] [0,4,32] [0,8,0] [1,0,0] [0,0,64]",
    );
    check_shared(
        nvmma_shared(0, 8, false, false, &[1, 1, 1, 2, 256]),
        "[0,0,0,0,1] [0,0,0,0,2] [0,0,0,0,4] [0,0,0,0,8] [0,0,0,0,16] [0,0,0,0,32] [0,0,0,0,64] [0,0,0,0,128] \
         [0,0,0,1,0]",
    );
    check_shared(
        nvmma_shared(128, 8, false, true, &[8, 64]),
        "[0,1] [0,2] [0,4] [0,0] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]",
    );
    assert_eq!([0, 32, 64, 128].map(nvmma_alignment_bytes), [128, 256, 512, 1024]);
}

#[test]
fn v15_swizzles_by_phases() {
    check_shared(
        swizzled_shared(8, 1, 8, &[1, 0], &[8, 64]),
        &columns_then(64, "[1,8] [2,16] [4,32]"),
    );
    check_shared(
        swizzled_shared(8, 2, 4, &[1, 0], &[16, 32]),
        &columns_then(32, "[1,0] [2,8] [4,16] [8,0]"),
    );
    check_shared(
        swizzled_shared(4, 1, 8, &[0, 1], &[32, 16]),
        "[1,0] [2,0] [4,0] [8,0] [16,0] [4,1] [8,2] [16,4] [0,8]",
    );
}

#[test]
fn default_swizzles_follow_the_contiguous_bytes() {
    assert_eq!(default_swizzle_bytes(&[64, 32], 16, false, false), 64);
    assert_eq!(default_swizzle_bytes(&[64, 8], 16, false, false), 0);
    assert_eq!(default_swizzle_bytes(&[64, 8], 16, true, false), 128);
    assert_eq!(default_swizzle_bytes(&[8, 64], 8, false, true), 128);
    assert_eq!(default_swizzle_bytes(&[64], 16, false, false), 0);
}
