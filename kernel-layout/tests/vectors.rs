//! Layouts recorded from another compiler for the same hardware: bases of named layouts on given shapes.
//!
//! A row is written as in diagnostics, `[0,1] [8,0]`; the numbers are independent of this crate's constructors.

use kernel_layout::forms::{
    Form, TmemAtom, TmemColumns, blocked, default_swizzle_bytes, fma_operand, mma_v2_accumulator,
    mma_v2_operand, nvmma_alignment_bytes, nvmma_shared, slice_of, swizzled_shared, tensor_memory,
    tensor_memory_registers, tensor_memory_scales, wgmma_accumulator, wgmma_operand,
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

/// `[0,first] ..` up to `[0,last]`, doubling.
fn columns(first: u32, last: u32) -> String {
    let walk = std::iter::successors(Some(first), |at| Some(at * 2)).take_while(|at| *at <= last);
    walk.map(|at| format!("[0,{at}]")).collect::<Vec<_>>().join(" ")
}

/// Loads of a tensor in blocks of tensor memory.
fn loads(
    block: [u32; 2],
    shape: [u32; 2],
    atom: &str,
    warps: u32,
    bits: u32,
) -> Result<Layout, LayoutError> {
    let (name, columns) = match atom.strip_suffix(".split") {
        Some(name) => (name, TmemColumns::Split),
        None => (atom, TmemColumns::Whole),
    };
    let atom = TmemAtom::from_name(name).expect("an atom's name");
    let memory = tensor_memory(block, 1, false, &shape)?;
    tensor_memory_registers(&memory, atom, columns, warps, bits)
}

/// A lane that has a row.
const ROW_OF_LANE: &str = "[1,0] [2,0] [4,0] [8,0] [16,0]";

#[test]
fn v16_loads_of_one_block_of_tensor_memory() {
    let block = |atom, warps, bits| loads([128, 64], [128, 64], atom, warps, bits);
    for bits in [32, 16] {
        let rows = "[32,0] [64,0]";
        check_registers(block("32x32b", 4, bits), &columns(1, 32), ROW_OF_LANE, rows);
        let eight = format!("{rows} [0,32]");
        check_registers(block("32x32b", 8, bits), &columns(1, 16), ROW_OF_LANE, &eight);
        let sixteen = format!("{rows} [0,16] [0,32]");
        check_registers(block("32x32b", 16, bits), &columns(1, 8), ROW_OF_LANE, &sixteen);
    }
    for (warps, moved) in [(4, ""), (8, " [16,0]")] {
        let own = if warps == 4 { " [16,0]" } else { "" };
        let warp = format!("[32,0] [64,0]{moved}");
        let check = |atom, bits, register: String, lane| {
            check_registers(block(atom, warps, bits), &format!("{register}{own}"), lane, &warp);
        };
        check("16x64b", 32, columns(2, 32), "[8,0] [0,1] [1,0] [2,0] [4,0]");
        let lane = "[0,1] [0,2] [1,0] [2,0] [4,0]";
        check("16x128b", 32, format!("[8,0] {}", columns(4, 32)), lane);
        check("16x256b", 32, format!("[0,1] [8,0] {}", columns(8, 32)), FRAGMENT);
        let lane = "[8,0] [0,2] [1,0] [2,0] [4,0]";
        check("16x64b", 16, format!("[0,1] {}", columns(4, 32)), lane);
        let lane = "[0,4] [0,8] [1,0] [2,0] [4,0]";
        check("16x256b", 16, "[0,1] [0,2] [8,0] [0,16] [0,32]".to_owned(), lane);
    }
}

#[test]
fn v17_loads_of_blocks_of_64_rows_and_of_several_blocks() {
    let low = "[1,0] [2,0] [4,0] [8,0]";
    let narrow = "[16,0] [32,0]";
    let check = |block, shape, atom, warps, register: &str, lane: &str, warp: &str| {
        check_registers(loads(block, shape, atom, warps, 32), register, lane, warp);
    };
    for atom in ["32x32b", "16x32bx2"] {
        let lane = format!("{low} [0,32]");
        check([64, 64], [64, 64], atom, 4, &columns(1, 16), &lane, narrow);
    }
    for block in [[64, 128], [64, 64]] {
        let lane = format!("{low} [0,64]");
        check(block, [64, 128], "32x32b", 4, &columns(1, 32), &lane, narrow);
    }
    let lane = format!("{low} [64,0]");
    check([64, 128], [128, 128], "32x32b", 4, &columns(1, 64), &lane, narrow);
    let wide = "[32,0] [64,0]";
    let two = format!("{} [128,0]", columns(1, 64));
    check([128, 128], [256, 128], "32x32b", 4, &two, ROW_OF_LANE, wide);
    let warp = format!("{wide} [128,0]");
    check([128, 128], [256, 128], "32x32b", 8, &columns(1, 64), ROW_OF_LANE, &warp);
    let warp = format!("{wide} [0,128]");
    check([128, 256], [128, 256], "32x32b", 8, &columns(1, 64), ROW_OF_LANE, &warp);
    let halves = format!("{} [0,128]", columns(1, 32));
    let warp = format!("{wide} [0,64]");
    check([128, 256], [128, 256], "32x32b.split", 8, &halves, ROW_OF_LANE, &warp);
    check([128, 16], [128, 16], "32x32b", 4, &columns(1, 8), ROW_OF_LANE, wide);
    check([128, 1], [128, 1], "32x32b", 4, "", ROW_OF_LANE, wide);
    let memory = Form::Cluster {
        bases: vec![vec![1, 0]],
        per_block: Box::new(Form::TensorMemory {
            block: [128, 128],
            col_stride: 1,
            two_ctas: true,
        }),
    };
    let load = Form::TensorMemoryLoad {
        atom: TmemAtom::M32x32b,
        columns: TmemColumns::Whole,
        memory: Box::new(memory),
        warps: 4,
        element_bits: 32,
    };
    let layout = load.to_layout(&[256, 128]);
    check_registers(layout.clone(), &columns(1, 64), ROW_OF_LANE, wide);
    assert_eq!(bases(&layout.expect("checked above"), Dim::Block), "[128,0]");
}

#[test]
fn v18_loads_of_scales() {
    let scales = |shape: [u32; 2]| {
        let memory = tensor_memory_scales(&shape)?;
        tensor_memory_registers(&memory, TmemAtom::M32x32b, TmemColumns::Whole, 4, 8)
    };
    let nowhere = "[0,0] [0,0]";
    let word = "[0,1] [0,2]";
    for (shape, register) in [
        ([128, 4], format!("{word} [32,0] [64,0]")),
        ([128, 8], format!("{word} [32,0] [64,0] [0,4]")),
        ([256, 4], format!("{word} [32,0] [64,0] [128,0]")),
        ([64, 4], format!("{word} [32,0]")),
    ] {
        check_registers(scales(shape), &register, ROW_OF_LANE, nowhere);
    }
}

#[test]
fn v19_packed_scales_in_shared_memory() {
    for (rep_m, rep_k) in [(1, 1), (1, 2), (2, 1), (4, 4)] {
        let packed = nvmma_shared(0, 8, false, false, &[1, rep_m, rep_k, 2, 256]);
        let scales = packed.map(|layout| {
            layout
                .reshape(&[rep_m, rep_k, 32, 4, 4])
                .permute_axes(&[0, 3, 2, 1, 4])
                .reshape(&[rep_m * 128, rep_k * 4])
        });
        let along_k = (0..rep_k.ilog2()).map(|bit| format!(" [0,{}]", 4 << bit));
        let along_m = (0..rep_m.ilog2()).map(|bit| format!(" [{},0]", 128 << bit));
        let repeats: String = along_k.chain(along_m).collect();
        let atom = "[0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0]";
        check_shared(scales, &format!("{atom}{repeats}"));
    }
}

#[test]
fn slices_of_extents_and_strides_are_those_of_their_bases() {
    let tile: kernel_layout::tile::TileLayout =
        "S[(2, 16, 2, 32) : (1 @ warpid, 2, 1, 1 @ laneid)]".parse().expect("a tile layout");
    let tile = Form::Tile(tile);
    let bases = Form::Linear(tile.to_layout(&[32, 64]).expect("it has these extents"));
    for (axis, extent) in [(0, 64), (1, 32)] {
        let slice = |parent: &Form| Form::Slice { axis, parent: Box::new(parent.clone()) };
        let (of_tile, of_bases) = (slice(&tile), slice(&bases));
        let layout = of_bases.to_layout(&[extent]);
        assert!(layout.is_ok() && of_tile.to_layout(&[extent]) == layout, "{axis}");
        assert!(of_tile.is_same(&of_bases) && of_bases.is_same(&of_tile), "{axis}");
        // Of a slice of a slice it is not known how far each missing axis extends.
        assert!(slice(&of_tile).to_layout(&[]).is_err(), "{axis}");
    }
    let rows = blocked(&[1, 4], &[2, 16], &[2, 1], &[1, 0], &[32, 64]).expect("a layout");
    assert!(!tile.is_same(&Form::Linear(rows)));
}
