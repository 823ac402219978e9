//! Copies whose maps are known: those that the tests of `TIRx` have.

use kernel_layout::tile::{SwizzleMode, TileLayout};
use kernel_layout::tma::{
    Coordinate, Cut, Plan, ScaledStart, SharedTile, Size, Start, Step, Tensor, TileCopy, Widening,
    plan,
};

use super::{copy, mma, rows, strided};

/// A map as `cuTensorMapEncodeTiled` takes it: extents, strides in bytes without the innermost, box; and coordinates.
#[derive(PartialEq, Eq, Debug)]
struct Map {
    element_bytes: u32,
    dims: Vec<u64>,
    strides: Vec<u64>,
    box_elems: Vec<u32>,
    coordinates: Vec<i64>,
    instructions: u64,
}

fn map(
    element_bytes: u32,
    dims: &[u64],
    strides: &[u64],
    box_elems: &[u32],
    coordinates: &[i64],
    instructions: u64,
) -> Map {
    let coordinates =
        if coordinates.is_empty() { vec![0; dims.len()] } else { coordinates.to_vec() };
    Map {
        element_bytes,
        dims: dims.to_vec(),
        strides: strides.to_vec(),
        box_elems: box_elems.to_vec(),
        coordinates,
        instructions,
    }
}

fn map_of(plan: &Plan, tensor_bytes: u32) -> Map {
    let dims = plan.dims.iter().map(|dim| match dim.extent {
        Size::Known(extent) => extent,
        Size::Axis { .. } => panic!("the extents are known"),
    });
    let strides = plan.dims.iter().map(|dim| match dim.stride {
        Step::Known(stride) => stride * u64::from(tensor_bytes),
        Step::Axis { .. } => panic!("the strides are known"),
    });
    assert_eq!(plan.dims[0].stride, Step::Known(1));
    Map {
        element_bytes: plan.element_bytes,
        dims: dims.collect(),
        strides: strides.skip(1).collect(),
        box_elems: plan.dims.iter().map(|dim| dim.box_elems).collect(),
        coordinates: plan.issue(0).coordinates.iter().map(|at| at.plus).collect(),
        instructions: plan.instructions(),
    }
}

/// The same plan whatever may be cut, unless said otherwise.
#[track_caller]
fn planned(copy: &TileCopy, required: &Map) -> Plan {
    let fine = plan(&TileCopy { cut: Cut::Fine, ..copy.clone() }).expect("it can be copied");
    assert_eq!(&map_of(&fine, copy.tensor.element_bytes), required, "finely cut");
    whole(copy, required)
}

#[track_caller]
fn whole(copy: &TileCopy, required: &Map) -> Plan {
    let (swizzle, bytes) = (copy.shared.swizzle, copy.tensor.element_bytes);
    let plan = plan(copy).expect("it can be copied");
    assert_eq!(&map_of(&plan, bytes), required);
    assert_eq!(plan.swizzle, swizzle);
    assert_eq!(plan.bytes(), copy.extents.iter().product::<u64>() * u64::from(bytes));
    plan
}

use SwizzleMode::{B32, B64, B128, None};

fn whole_window(shape: &[u64]) -> Vec<(i64, u64)> {
    shape.iter().map(|&size| (0, size)).collect()
}

/// All of 8×256, for every swizzle and size of element.
#[test]
fn a_tile_of_eight_rows() {
    let of = |bits, mode, required: &Map| {
        let tensor = Tensor::row_major(&[8, 256], bits / 8);
        planned(&copy(tensor, &[(0, 8), (0, 256)], mma(bits, mode, &[8, 256], &[])), required);
    };
    of(16, B128, &map(2, &[64, 8, 4], &[512, 128], &[64, 8, 4], &[], 1));
    of(16, B64, &map(2, &[32, 8, 8], &[512, 64], &[32, 8, 8], &[], 1));
    of(16, B32, &map(2, &[16, 8, 16], &[512, 32], &[16, 8, 16], &[], 1));
    of(16, None, &map(2, &[8, 8, 32], &[512, 16], &[8, 8, 32], &[], 1));
    of(8, B128, &map(1, &[128, 8, 2], &[256, 128], &[128, 8, 2], &[], 1));
    of(32, B128, &map(4, &[32, 8, 8], &[1024, 128], &[32, 8, 8], &[], 1));
}

#[test]
fn windows_of_matrices() {
    let of = |shape: &[u64], window: &[(i64, u64)], shared: SharedTile, required: &Map| {
        planned(&copy(Tensor::row_major(shape, 2), window, shared), required)
    };
    let stage = of(
        &[64, 256],
        &[(0, 64), (0, 256)],
        mma(16, B128, &[3, 64, 256], &[(1, 1), (0, 64), (0, 256)]),
        &map(2, &[64, 64, 4], &[512, 128], &[64, 64, 4], &[], 1),
    );
    assert_eq!(stage.shared_offset_bytes, 64 * 256 * 2);
    of(
        &[8192, 8192],
        &[(0, 128), (0, 64)],
        mma(16, B128, &[128, 64], &[]),
        &map(2, &[8192, 8192], &[16384], &[64, 128], &[], 1),
    );
    of(
        &[128, 64],
        &[(0, 128), (0, 64)],
        mma(16, B128, &[2, 2, 128, 64], &[(0, 1), (0, 1), (0, 128), (0, 64)]),
        &map(2, &[64, 128], &[128], &[64, 128], &[], 1),
    );
    of(
        &[128, 64],
        &[(64, 24), (0, 64)],
        mma(16, B128, &[24, 64], &[]),
        &map(2, &[64, 128], &[128], &[64, 24], &[0, 64], 1),
    );
    of(
        &[256, 64],
        &[(128, 128), (0, 64)],
        mma(16, B128, &[128, 64], &[]),
        &map(2, &[64, 256], &[128], &[64, 128], &[0, 128], 1),
    );
    of(
        &[128, 256],
        &[(0, 32), (0, 64)],
        mma(16, B128, &[32, 64], &[]),
        &map(2, &[256, 128], &[512], &[64, 32], &[], 1),
    );
    of(
        &[256, 512],
        &[(0, 64), (0, 64)],
        mma(16, B128, &[3, 64, 64], &[(1, 1), (0, 64), (0, 64)]),
        &map(2, &[512, 256], &[1024], &[64, 64], &[], 1),
    );
    // Past the end of the rows.
    of(
        &[128, 64],
        &[(120, 16), (0, 64)],
        mma(16, B128, &[16, 64], &[]),
        &map(2, &[64, 128], &[128], &[64, 16], &[0, 120], 1),
    );
}

#[test]
fn dimensions_that_step_evenly_are_merged() {
    let of = |shape: &[u64], window: &[(i64, u64)], shared: SharedTile, required: &Map| {
        planned(&copy(Tensor::row_major(shape, 2), window, shared), required);
    };
    let shape = [4, 32, 64];
    let required = map(2, &[64, 128], &[128], &[64, 128], &[], 1);
    of(&shape, &whole_window(&shape), rows(&shape), &required);
    of(
        &[8, 16, 128],
        &[(0, 4), (0, 16), (0, 128)],
        rows(&[4, 16, 128]),
        &map(2, &[128, 128], &[256], &[128, 64], &[], 1),
    );
    of(
        &[2, 128, 8, 64],
        &[(0, 1), (0, 128), (0, 1), (0, 64)],
        mma(16, B128, &[1, 1, 128, 64], &[]),
        &map(2, &[64, 256, 8], &[1024, 128], &[64, 128, 1], &[], 1),
    );
    of(
        &[2, 128, 64],
        &[(0, 1), (0, 128), (0, 64)],
        mma(16, B128, &[128, 64], &[]),
        &map(2, &[64, 256], &[128], &[64, 128], &[], 1),
    );
    of(&[1, 8192], &[(0, 1), (512, 256)], rows(&[256]), &map(2, &[8192], &[], &[256], &[512], 1));
    // 2³³ elements are more than a dimension has.
    of(
        &[1 << 28, 32, 64],
        &[(5, 4), (0, 32), (0, 64)],
        rows(&[4, 32, 64]),
        &map(2, &[64, 32, 1 << 28], &[128, 4096], &[64, 32, 4], &[0, 0, 5], 1),
    );
    let shape = [2, 2, 2, 2, 2, 8];
    of(&shape, &whole_window(&shape), rows(&[256]), &map(2, &[256], &[], &[256], &[], 1));
}

#[test]
fn axes_of_which_one_element_is_copied() {
    let of = |shape: &[u64], window: &[(i64, u64)], shared: SharedTile, required: &Map| {
        planned(&copy(Tensor::row_major(shape, 2), window, shared), required);
    };
    of(
        &[4, 64, 4, 128],
        &[(0, 1), (0, 64), (0, 1), (0, 128)],
        mma(16, B128, &[64, 128], &[]),
        &map(2, &[64, 64, 2, 4, 4], &[1024, 128, 65536, 256], &[64, 64, 2, 1, 1], &[], 1),
    );
    of(
        &[2, 2, 128, 64],
        &[(0, 1), (0, 1), (0, 128), (0, 64)],
        mma(16, B128, &[128, 64], &[]),
        &map(2, &[64, 128, 2, 2], &[128, 32768, 16384], &[64, 128, 1, 1], &[], 1),
    );
    let window = [(0, 1), (0, 8), (0, 256)];
    let tile = |bits, mode| mma(bits, mode, &[8, 256], &[]);
    let dims = |inner, columns| [inner, 8, columns, 3];
    of(
        &[3, 8, 256],
        &window,
        tile(16, B128),
        &map(2, &dims(64, 4), &[512, 128, 4096], &[64, 8, 4, 1], &[], 1),
    );
    of(
        &[3, 8, 256],
        &window,
        tile(16, B64),
        &map(2, &dims(32, 8), &[512, 64, 4096], &[32, 8, 8, 1], &[], 1),
    );
    of(
        &[3, 8, 256],
        &window,
        tile(16, None),
        &map(2, &dims(8, 32), &[512, 16, 4096], &[8, 8, 32, 1], &[], 1),
    );
    of(
        &[5, 64, 256],
        &[(0, 1), (0, 64), (0, 256)],
        mma(16, B128, &[64, 256], &[]),
        &map(2, &[64, 64, 4, 5], &[512, 128, 32768], &[64, 64, 4, 1], &[], 1),
    );
    let of_size = |bits: u32, required: &Map| {
        let tensor = Tensor::row_major(&[3, 8, 256], bits / 8);
        planned(&copy(tensor, &window, tile(bits, B128)), required);
    };
    of_size(8, &map(1, &dims(128, 2), &[256, 128, 2048], &[128, 8, 2, 1], &[], 1));
    of_size(32, &map(4, &dims(32, 8), &[1024, 128, 8192], &[32, 8, 8, 1], &[], 1));
    of(
        &[4, 256, 8, 512],
        &[(2, 1), (64, 128), (3, 1), (128, 128)],
        rows(&[128, 128]),
        &map(
            2,
            &[512, 256, 4, 8],
            &[8192, 2_097_152, 1024],
            &[128, 128, 1, 1],
            &[128, 64, 2, 3],
            1,
        ),
    );
}

fn tiled(shape: &[u64], layout: &str, element_bytes: u32) -> Tensor {
    let layout: TileLayout = layout.parse().expect("a layout");
    Tensor::tiled(shape, &layout, element_bytes).expect("digits of every axis")
}

#[test]
fn tensors_that_are_not_row_major() {
    planned(
        &copy(
            tiled(&[16, 16, 128, 128], "S[(16, 16, 128, 128) : (131072, 128, 1024, 1)]", 2),
            &[(3, 1), (4, 1), (0, 128), (0, 128)],
            rows(&[128, 128]),
        ),
        &map(2, &[128, 2048, 16], &[2048, 256], &[128, 128, 1], &[0, 384, 4], 1),
    );
    planned(
        &copy(
            tiled(&[1024, 4, 1024], "S[(1024, 4, 1024) : (4096, 1024, 1)]", 2),
            &[(128, 128), (1, 1), (32, 32)],
            rows(&[128, 32]),
        ),
        &map(2, &[1024, 1024, 4], &[8192, 2048], &[32, 128, 1], &[32, 128, 1], 1),
    );
    planned(
        &copy(
            tiled(&[64, 128, 2, 4, 4096], "S[(64, 128, 2, 4, 4096) : (1, 512, 256, 64, 65536)]", 2),
            &[(0, 64), (32, 64), (0, 2), (0, 4), (7, 1)],
            strided("S[(64, 64, 2, 4) : (1, 64, 4096, 8192)]"),
        ),
        &map(
            2,
            &[64, 128, 2, 4, 4096],
            &[1024, 512, 128, 131_072],
            &[64, 64, 2, 4, 1],
            &[0, 32, 0, 0, 7],
            1,
        ),
    );
    planned(
        &copy(
            tiled(&[24576, 7168], "S[(4, 6144, 7168) : (44040192, 7168, 1)]", 2),
            &[(128, 128), (0, 128)],
            rows(&[128, 128]),
        ),
        &map(2, &[7168, 24576], &[14336], &[128, 128], &[0, 128], 1),
    );
}

#[test]
fn operands_of_attention() {
    planned(
        &copy(
            Tensor::row_major(&[1, 2048, 32, 128], 2),
            &[(0, 1), (0, 32), (0, 4), (0, 128)],
            mma(16, B128, &[2, 128, 128], &[(0, 1), (0, 128), (0, 128)]),
        ),
        &map(2, &[64, 32, 2048, 2], &[256, 8192, 128], &[64, 4, 32, 2], &[], 1),
    );
    planned(
        &copy(
            Tensor::row_major(&[1, 2048, 8, 128], 2),
            &[(0, 1), (0, 128), (0, 1), (0, 128)],
            mma(16, B128, &[3, 128, 128], &[(0, 1), (0, 128), (0, 128)]),
        ),
        &map(2, &[64, 2048, 16], &[2048, 128], &[64, 128, 2], &[], 1),
    );
    // Where the window begins is a value of the kernel; the tile is that of a stage.
    let tile: TileLayout = "S[(128, 2, 64) : (64, 8192, 1)]".parse().expect("a layout");
    for cut in [Cut::Whole, Cut::Fine] {
        let value = Start::Value { multiple_of: 1 };
        let plan = plan(&TileCopy {
            tensor: Tensor::row_major(&[1, 4096, 16, 128], 2),
            starts: vec![Start::Known(0), value, value, Start::Known(0)],
            extents: vec![1, 128, 1, 128],
            shared: SharedTile { tile: tile.clone(), swizzle: B128 },
            cut,
            widening: Widening::Allowed,
        })
        .expect("it can be copied");
        assert_eq!(map_of(&plan, 2), map(2, &[64, 4096, 32], &[4096, 128], &[64, 128, 2], &[], 1));
        let kv = ScaledStart { axis: 1, times: 1, divide: 1, multiple_of: 1 };
        let twice_head = ScaledStart { axis: 2, times: 2, divide: 1, multiple_of: 2 };
        let start = |start| Coordinate { plus: 0, start };
        assert_eq!(
            plan.issue(0).coordinates,
            [start(Option::None), start(Some(kv)), start(Some(twice_head))]
        );
    }
}

#[test]
fn elements_are_widened_where_a_box_would_be_too_long() {
    planned(
        &copy(
            tiled(&[2048, 128], "S[(16, 4, 32, 32, 4) : (16384, 4, 16, 512, 1)]", 1),
            &[(128, 128), (16, 16)],
            strided("S[(4, 32, 4, 4) : (4, 16, 512, 1)]"),
        ),
        &map(2, &[256, 32, 16], &[512, 16384], &[256, 4, 1], &[0, 4, 1], 1),
    );
    let of = |shape: &[u64], window: &[(i64, u64)], tile: &[u64], required: &Map| {
        planned(&copy(Tensor::row_major(shape, 1), window, rows(tile)), required);
    };
    // Two dimensions are few enough.
    of(&[2, 256], &[(0, 2), (0, 256)], &[512], &map(1, &[256, 2], &[256], &[256, 2], &[], 1));
    of(&[32, 8], &[(0, 32), (0, 8)], &[32, 8], &map(1, &[256], &[], &[256], &[], 1));
    of(&[64, 8], &[(0, 64), (0, 8)], &[64, 8], &map(2, &[256], &[], &[256], &[], 1));
    of(
        &[8, 16, 32, 4, 4],
        &[(0, 1), (0, 4), (0, 32), (0, 4), (0, 4)],
        &[4, 512],
        &map(2, &[256, 16, 8], &[512, 8192], &[256, 4, 1], &[], 1),
    );
}

#[test]
fn a_tile_longer_than_a_box_takes_several_instructions_or_is_cut() {
    let all = copy(Tensor::row_major(&[512, 64], 2), &[(0, 512), (0, 64)], rows(&[512, 64]));
    let plan = whole(&all, &map(2, &[64, 512], &[128], &[64, 1], &[], 512));
    let issue = plan.issue(7);
    assert_eq!(issue.shared_bytes, 448 * 2);
    assert_eq!(issue.coordinates.iter().map(|at| at.plus).collect::<Vec<_>>(), [0, 7]);
    // 512 rows as two dimensions, of 256 and 2.
    let fine = TileCopy { cut: Cut::Fine, ..all };
    whole(&fine, &map(2, &[64, 256, 2], &[128, 32768], &[64, 256, 2], &[], 1));
}

/// Rows of two swizzled spans: a box has one span in a row.
#[test]
fn rows_longer_than_the_swizzle_are_cut() {
    let tile: TileLayout = "S[(16, 128) : (128, 1)]".parse().expect("a layout");
    let all = TileCopy {
        cut: Cut::Fine,
        ..copy(
            Tensor::row_major(&[64, 1024], 2),
            &[(16, 16), (128, 128)],
            SharedTile { tile, swizzle: B128 },
        )
    };
    whole(&all, &map(2, &[64, 16, 64], &[128, 2048], &[64, 2, 16], &[0, 2, 16], 1));
}

/// 264 elements are twice 132, but 132 of 2 bytes are no multiple of 16 bytes.
#[test]
fn rows_are_cut_into_multiples_of_sixteen_bytes() {
    let all = copy(Tensor::row_major(&[264], 2), &[(0, 264)], rows(&[264]));
    let fixed = TileCopy { cut: Cut::Fine, widening: Widening::Forbidden, ..all };
    whole(&fixed, &map(2, &[88, 3], &[176], &[88, 3], &[], 1));
}

/// The window goes on beyond the end of the middle axis; what it has beyond is not what follows in memory.
#[test]
fn a_dimension_of_several_instructions_is_not_merged() {
    let all = copy(
        Tensor::row_major(&[4, 8, 64], 2),
        &[(0, 2), (0, 16), (0, 64)],
        strided("S[(2, 2, 8, 64) : (512, 4096, 64, 1)]"),
    );
    let fine = TileCopy { cut: Cut::Fine, ..all };
    whole(&fine, &map(2, &[64, 8, 4], &[128, 1024], &[64, 8, 2], &[], 2));
}
