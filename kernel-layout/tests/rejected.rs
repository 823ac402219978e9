//! What the constructors refuse, and with which facts.

use kernel_layout::forms::{
    TmemAtom, TmemColumns, blocked, check_tensor_memory, fma_operand, linear, mma_v2_accumulator,
    mma_v2_operand, nvmma_shared, row_major_shared, shared_linear, slice_of, swizzled_shared,
    tensor_memory, tensor_memory_columns, tensor_memory_registers, tensor_memory_scales,
    wgmma_accumulator,
};
use kernel_layout::{Dim, Form, Layout, LayoutError, PaddedShared};

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, LayoutError>, words: &str) {
    assert_eq!(result.expect_err("the arguments are wrong").to_string(), words);
}

fn axis_layout(dim: Dim, bases: &[[u32; 2]], shape: [u32; 2]) -> Result<Layout, LayoutError> {
    let bases = bases.iter().map(|basis| basis.to_vec()).collect();
    Layout::new(vec![(dim, bases)], vec![(Dim::Axis(0), shape[0]), (Dim::Axis(1), shape[1])])
}

#[test]
fn bases_that_do_not_fit() {
    refused(axis_layout(Dim::Lane, &[[0, 1]], [4, 6]), "shape[1] must be a power of two, but is 6");
    refused(
        axis_layout(Dim::Lane, &[[0, 1], [4, 0]], [4, 2]),
        "basis 1 of lane has coordinate 4 along axis 0, whose size is 4",
    );
    refused(
        Layout::new(vec![(Dim::Warp, vec![vec![1, 0]])], vec![(Dim::Axis(0), 2)]),
        "basis 0 of warp has 2 coordinates where 1 are required",
    );
    refused(
        Layout::new(vec![(Dim::Warp, vec![]), (Dim::Warp, vec![])], vec![]),
        "dimension warp occurs twice",
    );
    refused(Layout::new(vec![], vec![(Dim::Row, 1), (Dim::Row, 1)]), "dimension row occurs twice");
    refused(
        Layout::new(vec![(Dim::Lane, vec![vec![]; 32])], vec![]),
        "the layout has 32 bits where at most 31 are possible",
    );
    let wide = |dim| (dim, vec![vec![]; 22]);
    refused(
        Layout::new(vec![wide(Dim::Lane), wide(Dim::Warp), wide(Dim::Block)], vec![]),
        "the layout has 66 bits where at most 64 are possible",
    );
}

#[test]
fn blocked_parameters() {
    refused(
        blocked(&[4], &[16], &[4], &[0], &[256]),
        "the lanes multiply to 16, but a warp has 32",
    );
    refused(
        blocked(&[3], &[32], &[4], &[0], &[256]),
        "per_thread[0] must be a power of two, but is 3",
    );
    refused(blocked(&[4], &[32], &[0], &[0], &[256]), "warps[0] must be a power of two, but is 0");
    refused(blocked(&[4], &[32], &[4], &[0], &[48]), "shape[0] must be a power of two, but is 48");
    refused(
        blocked(&[4], &[32], &[4], &[0], &[8, 8]),
        "per_thread has 1 entries where 2 are required",
    );
    refused(
        blocked(&[1, 4], &[8, 4], &[4, 1], &[1, 1], &[8, 8]),
        "order must name every axis exactly once, but is [1, 1]",
    );
    refused(
        blocked(&[1, 4], &[8, 4], &[4, 1], &[1], &[8, 8]),
        "order has 1 entries where 2 are required",
    );
    refused(
        blocked(&[1 << 31], &[32], &[4], &[0], &[256]),
        "per_thread multiplies to 2^31, but at most 2^10 is possible",
    );
    refused(
        blocked(&[4], &[32], &[4], &[0], &[1 << 30]),
        "shape multiplies to 2^30, but at most 2^20 is possible",
    );
    refused(
        fma_operand(2, &[1, 4], &[8, 4], &[4, 1], &[1, 0], &[8, 8]),
        "operand index is 2, but must be one of [0, 1]",
    );
    let parent =
        Form::Blocked { per_thread: vec![4], lanes: vec![32], warps: vec![4], order: vec![0] };
    refused(slice_of(2, &parent, &[256]), "axis 2 does not exist: the tensor has rank 2");
    refused(slice_of(0, &parent, &[256]), "per_thread has 1 entries where 2 are required");
}

#[test]
fn matrix_parameters() {
    refused(mma_v2_accumulator([2, 2], &[64]), "shape has 1 entries where 2 are required");
    refused(mma_v2_accumulator([3, 1], &[64, 64]), "warps[0] must be a power of two, but is 3");
    refused(
        mma_v2_operand(0, [2, 2], 3, &[64, 64]),
        "k_width is 3, but must be one of [1, 2, 4, 8]",
    );
    refused(
        wgmma_accumulator([4, 1], 96, &[64, 64]),
        "n is 96, but must be one of [8, 16, 32, 64, 128, 256]",
    );
    let operand = |index, parent| {
        Form::DotOperand { index, parent: Box::new(parent), k_width: 2 }.to_layout(&[64, 64])
    };
    refused(
        operand(1, Form::Wgmma { warps: [4, 1], n: 64 }),
        "`wgmma([4, 1], 64)` cannot be the parent: mma or blocked (operand 1 of wgmma is read from shared memory) is \
         required",
    );
    refused(
        operand(0, Form::RowMajor),
        "`row_major()` cannot be the parent: mma, wgmma or blocked is required",
    );
}

#[test]
fn shared_parameters() {
    refused(
        nvmma_shared(16, 16, false, false, &[64, 64]),
        "swizzle is 16, but must be one of [0, 32, 64, 128]",
    );
    refused(
        nvmma_shared(32, 4, false, false, &[64, 64]),
        "element bits is 4, but must be one of [8, 16, 32, 64, 128]",
    );
    refused(
        nvmma_shared(128, 16, false, true, &[64, 64]),
        "element bits of a padded tile is 16, but must be one of [8]",
    );
    refused(
        nvmma_shared(128, 16, false, false, &[64, 16]),
        "the tile has 64 rows of 16 contiguous elements, but one swizzle atom has 8 rows of 64",
    );
    refused(
        nvmma_shared(128, 16, false, false, &[4, 64]),
        "the tile has 4 rows of 64 contiguous elements, but one swizzle atom has 8 rows of 64",
    );
    refused(
        nvmma_shared(32, 16, true, false, &[8, 64]),
        "the tile has 64 rows of 8 contiguous elements, but one swizzle atom has 8 rows of 16",
    );
    refused(nvmma_shared(0, 16, false, false, &[]), "shape has 0 entries where 1 are required");
    refused(
        swizzled_shared(8, 3, 8, &[1, 0], &[8, 64]),
        "swizzle[1] must be a power of two, but is 3",
    );
    refused(row_major_shared(&[12]), "shape[0] must be a power of two, but is 12");
    let plain = || row_major_shared(&[8, 32]).expect("the shape is legal");
    refused(PaddedShared::new(plain(), vec![(32, 4), (32, 8)]), "interval 32 occurs twice");
    refused(
        PaddedShared::new(plain(), vec![(12, 4)]),
        "interval[0] must be a power of two, but is 12",
    );
    refused(
        PaddedShared::new(plain(), vec![(32, 5)]),
        "padding[0] must be a power of two, but is 5",
    );
}

#[test]
fn literal_bases() {
    let literal = axis_layout(Dim::Register, &[[0, 1], [1, 1]], [4, 2]).expect("a legal map");
    refused(linear(&literal, &[4, 2]), "element [2, 0] is held nowhere");
    refused(linear(&literal, &[4]), "shape has 1 entries where 2 are required");
    let offsets = axis_layout(Dim::Offset, &[[0, 1], [1, 0]], [2, 2]).expect("a legal map");
    refused(linear(&offsets, &[2, 2]), "such a layout has no dimension offset");
    refused(
        shared_linear(&offsets, &[2, 4]),
        "the layout covers shape [2, 2], but the tensor has shape [2, 4]",
    );
    refused(
        Form::Cluster { bases: vec![vec![1]; 5], per_block: Box::new(Form::RowMajor) }
            .to_layout(&[64]),
        "the layout has 5 bits where at most 4 are possible",
    );
    refused(
        Form::Cluster { bases: vec![vec![1, 0]], per_block: Box::new(Form::RowMajor) }
            .to_layout(&[64]),
        "basis 0 of block has 2 coordinates where 1 are required",
    );
}

/// Literal bases cover a larger tensor by further registers, and in a smaller one lose the registers that repeat.
#[test]
fn literal_bases_are_fitted() {
    let literal = Layout::new(
        vec![
            (Dim::Register, vec![vec![2], vec![1]]),
            (Dim::Lane, vec![vec![4], vec![8]]),
            (Dim::Warp, vec![vec![0]]),
        ],
        vec![(Dim::Axis(0), 16)],
    )
    .expect("a legal map");
    let larger = linear(&literal, &[64]).expect("a larger tensor");
    assert_eq!(larger.to_string(), "register [2] [1] [16] [32], lane [4] [8], warp [0] -> [64]");
    let smaller = linear(&literal, &[2]).expect("a smaller tensor");
    assert_eq!(smaller.to_string(), "register [1], lane [0] [0], warp [0] -> [2]");
}

/// Fitting to hostile shapes and parameters gives a layout or an error, never a panic.
#[test]
fn extreme_parameters() {
    let sizes = [0, 1, 2, 3, 1 << 10, 1 << 20, 1 << 31, u32::MAX];
    for a in sizes {
        for b in sizes {
            let shape = [a, b];
            for c in sizes {
                let _ = blocked(&[c, 1], &[8, 4], &[1, c], &[1, 0], &shape);
                let _ = fma_operand(1, &[1, c], &[1, 32], &[c, c], &[0, 1], &shape);
                let _ = mma_v2_operand(1, [c, 1], 8, &shape);
                let _ = wgmma_accumulator([c, 1], 256, &shape);
                let _ = swizzled_shared(c, a, b, &[1, 0], &[16, 16]);
                let _ = swizzled_shared(8, 1, 8, &[c, 0], &shape);
                let _ = nvmma_shared(128, 8, a == 1, b == 1, &[a, b, c]);
                let blocks = vec![vec![c, 0], vec![0, a], vec![b, b]];
                let _ = Form::Cluster { bases: blocks, per_block: Box::new(Form::RowMajor) }
                    .to_layout(&shape);
            }
        }
    }
}

#[test]
fn forms_print_as_they_are_written() {
    let rows = Form::Blocked {
        per_thread: vec![1, 4],
        lanes: vec![32, 1],
        warps: vec![1, 4],
        order: vec![1, 0],
    };
    let forms = [
        (
            Form::Slice { axis: 0, parent: Box::new(rows) },
            "slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]))",
        ),
        (
            Form::DotOperand {
                index: 0,
                parent: Box::new(Form::MmaV2 { warps: [2, 2] }),
                k_width: 2,
            },
            "dot_operand(0, mma([2, 2]), 2)",
        ),
        (
            Form::NvmmaShared {
                swizzle_bytes: 128,
                element_bits: 16,
                transposed: false,
                fp4_padded: false,
            },
            "swizzle(128)",
        ),
        (
            Form::Swizzled { vec: 8, per_phase: 1, max_phase: 8, order: vec![1, 0] },
            "swizzled(8, 1, 8, [1, 0])",
        ),
        (
            Form::Cluster { bases: vec![vec![1, 0]], per_block: Box::new(Form::RowMajor) },
            "cluster([[1, 0]], row_major())",
        ),
    ];
    for (form, text) in forms {
        assert_eq!(form.to_string(), text);
    }
}

#[test]
fn tables_show_broadcasts_pages_and_gaps() {
    let twice = Layout::new(
        vec![(Dim::Register, vec![vec![0, 0, 1]]), (Dim::Lane, vec![vec![0, 0, 0], vec![1, 0, 0]])],
        vec![(Dim::Axis(0), 2), (Dim::Axis(1), 2), (Dim::Axis(2), 2)],
    )
    .expect("a legal map");
    let table = "\
lane:register
[0]
      0     1
0  0:0+  0:1+
1     -     -
[1]
      0     1
0  2:0+  2:1+
1     -     -
";
    assert_eq!(twice.to_table(), table);
}

#[test]
fn tensor_memory_parameters() {
    refused(
        tensor_memory([32, 64], 1, false, &[64, 64]),
        "rows of a block is 32, but must be one of [64, 128]",
    );
    refused(
        tensor_memory([128, 48], 1, false, &[128, 64]),
        "columns of a block is 48, but must be one of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]",
    );
    refused(
        tensor_memory([128, 64], 3, false, &[128, 64]),
        "column stride is 3, but must be one of [1, 2, 4]",
    );
    refused(
        tensor_memory([128, 64], 1, false, &[64, 64]),
        "the tensor has 64 rows of 64 columns, but one block has 128 rows of 64",
    );
    refused(tensor_memory([128, 64], 1, false, &[128]), "shape has 1 entries where 2 are required");
    refused(tensor_memory_scales(&[128]), "shape has 1 entries where 2 are required");
    let wide = tensor_memory([128, 256], 1, false, &[512, 256]).expect("four blocks");
    refused(
        tensor_memory_columns(&wide, 32),
        "the tensor needs 1024 columns of 32 bits, but tensor memory has 512",
    );
}

#[test]
fn notation_of_tensor_memory() {
    let of = |notation: &str, shape: [u32; 2], bits| {
        let tile = notation.parse().expect("in the notation");
        check_tensor_memory(&Form::Tile(tile).to_layout(&shape)?, bits)
    };
    assert_eq!(of("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]", [32, 16], 8), Ok(()));
    // Halves with a word each.
    assert_eq!(of("S[(128, 8) : (1 @ TLane, 2 @ TCol)] + R[2 : 1 @ TCol]", [128, 8], 16), Ok(()));
    refused(
        of("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]", [32, 16], 8),
        "a tile has all 128 rows of tensor memory, not 64",
    );
    refused(
        of("S[(256, 4) : (1 @ TLane, 1 @ TCol)]", [256, 4], 32),
        "a tile has all 128 rows of tensor memory, not 256",
    );
    refused(
        of("S[(128, 8) : (1 @ TLane, 1 @ TCol)] + R[2 : 8 @ TCol]", [128, 8], 16),
        "column 4 of 32 bits repeats others, but copies lie in further rows",
    );
    refused(
        of("S[(128, 2, 4) : (1 @ TLane, 1 @ laneid, 1 @ TCol)]", [128, 8], 32),
        "such a layout has no dimension register",
    );
}

#[test]
fn loads_of_tensor_memory() {
    let load = |shape: [u32; 2], atom, columns, warps, bits| {
        let memory = tensor_memory([128, shape[1]], 1, false, &shape)?;
        tensor_memory_registers(&memory, atom, columns, warps, bits)
    };
    refused(
        load([128, 64], TmemAtom::M32x32b, TmemColumns::Whole, 2, 32),
        "warps is 2, but must be one of [4, 8, 16, 32]",
    );
    refused(
        load([128, 4], TmemAtom::M16x256b, TmemColumns::Whole, 4, 32),
        "a load of shape 16x256b moves 8 columns of 32 bits, but the tensor has 4",
    );
    refused(
        load([128, 64], TmemAtom::M16x32bx2, TmemColumns::Whole, 4, 32),
        "a load of shape 16x32bx2 requires a block of 64 rows whose other rows are empty",
    );
    refused(
        load([128, 1], TmemAtom::M32x32b, TmemColumns::Whole, 4, 16),
        "a word of tensor memory must hold 2 elements of the tensor, or one",
    );
    refused(
        load([128, 2], TmemAtom::M32x32b, TmemColumns::Split, 4, 16),
        "halves of the columns require 4 elements in each thread, but there are 2",
    );
    let load = Form::TensorMemoryLoad {
        atom: TmemAtom::M32x32b,
        columns: TmemColumns::Whole,
        memory: Box::new(Form::RowMajor),
        warps: 4,
        element_bits: 32,
    };
    refused(
        load.to_layout(&[128, 64]),
        "`row_major()` cannot be the parent: a layout of all 128 rows of tensor memory is required",
    );
}
