//! Tensors whose extents and strides only the launch knows.

use kernel_layout::forms::{nvmma_shared, row_major_shared};
use kernel_layout::tma::{
    Coordinate, Cut, MapDim, Number, Plan, ScaledStart, SharedTile, Size, Start, Step, Tensor,
    TileCopy, Widening, plan,
};

/// A tensor whose last axis is contiguous; extents are known to be multiples of these.
fn tensor(multiples: &[u64], element_bytes: u32) -> Tensor {
    let last = multiples.len() - 1;
    let axes = multiples.iter().enumerate().map(|(axis, &multiple_of)| {
        let stride =
            if axis == last { Number::Known(1) } else { Number::Axis { axis, multiple_of: 1 } };
        (Number::Axis { axis, multiple_of }, stride)
    });
    Tensor::strided(&axes.collect::<Vec<_>>(), element_bytes)
}

/// A copy of a tile with the swizzle of 128 bytes whose window begins at multiples of its extents.
fn copied(tensor: Tensor, extents: &[u64], tile: &[u32]) -> Plan {
    let bits = 8 * tensor.element_bytes;
    let layout = nvmma_shared(128, bits, false, false, tile).expect("whole atoms");
    let shared = SharedTile::of_linear(&layout, tensor.element_bytes).expect("a swizzled tile");
    plan(&TileCopy {
        tensor,
        starts: extents.iter().map(|&multiple_of| Start::Value { multiple_of }).collect(),
        extents: extents.to_vec(),
        shared,
        cut: Cut::Fine,
        widening: Widening::Allowed,
    })
    .expect("it can be copied")
}

fn whole(axis: usize, multiple_of: u64) -> Size {
    Size::Axis { axis, divide: 1, multiple_of }
}

fn stride(axis: usize) -> Step {
    Step::Axis { axis, times: 1 }
}

fn start(axis: usize, multiple_of: u64) -> Coordinate {
    let start = ScaledStart { axis, times: 1, divide: 1, multiple_of };
    Coordinate { plus: 0, start: Some(start) }
}

fn dim(extent: Size, stride: Step, box_elems: u32, coordinate: Coordinate) -> MapDim {
    MapDim { extent, stride, box_elems, coordinate }
}

const FIRST: Step = Step::Known(1);
const ZERO: Coordinate = Coordinate { plus: 0, start: None };

#[test]
fn a_tile_as_wide_as_the_swizzle_is_one_box() {
    let plan = copied(tensor(&[1, 1], 2), &[128, 64], &[128, 64]);
    assert_eq!(
        plan.dims,
        [
            dim(whole(1, 1), FIRST, 64, start(1, 64)),
            dim(whole(0, 1), stride(0), 128, start(0, 128)),
        ]
    );
    assert_eq!((plan.instructions(), plan.bytes()), (1, 128 * 64 * 2));
}

#[test]
fn a_wider_tile_takes_a_box_for_each_column_of_atoms() {
    let plan = copied(tensor(&[1, 1], 2), &[64, 256], &[64, 256]);
    assert_eq!(
        plan.dims,
        [dim(whole(1, 1), FIRST, 64, start(1, 256)), dim(whole(0, 1), stride(0), 64, start(0, 64)),]
    );
    assert_eq!((plan.instructions(), plan.box_bytes()), (4, 64 * 128));
    let third = plan.issue(2);
    assert_eq!(third.shared_bytes, 2 * 64 * 128);
    assert_eq!(third.coordinates, [Coordinate { plus: 128, ..start(1, 256) }, start(0, 64)]);
}

#[test]
fn whole_columns_of_atoms_make_one_box_of_a_wider_tile() {
    let plan = copied(tensor(&[1, 64], 2), &[64, 256], &[64, 256]);
    let columns = ScaledStart { axis: 1, times: 1, divide: 64, multiple_of: 4 };
    assert_eq!(
        plan.dims,
        [
            dim(Size::Known(64), FIRST, 64, ZERO),
            dim(whole(0, 1), stride(0), 64, start(0, 64)),
            dim(
                Size::Axis { axis: 1, divide: 64, multiple_of: 1 },
                Step::Known(64),
                4,
                Coordinate { plus: 0, start: Some(columns) },
            ),
        ]
    );
    assert_eq!(plan.instructions(), 1);
}

#[test]
fn a_tile_of_more_rows_than_a_box_takes_several() {
    let plan = copied(tensor(&[1, 1], 2), &[512, 64], &[512, 64]);
    assert_eq!(plan.dims[1], dim(whole(0, 1), stride(0), 256, start(0, 512)));
    assert_eq!((plan.instructions(), plan.issue(1).shared_bytes), (2, 256 * 128));
    assert_eq!(plan.issue(1).coordinates[1].plus, 256);
    // With two columns of atoms as well, the rows come first, as they do in the tile.
    let wide = copied(tensor(&[1, 1], 2), &[512, 128], &[512, 128]);
    assert_eq!(wide.instructions(), 4);
    let steps: Vec<_> = (0..4)
        .map(|index| {
            let issue = wide.issue(index);
            (issue.shared_bytes, issue.coordinates[0].plus, issue.coordinates[1].plus)
        })
        .collect();
    assert_eq!(steps, [(0, 0, 0), (32768, 0, 256), (65536, 64, 0), (98304, 64, 256)]);
    // Where 256 divides the rows, they can be taken apart.
    let plan = copied(tensor(&[256, 1], 2), &[512, 64], &[512, 64]);
    assert_eq!(plan.instructions(), 1);
    let rows = ScaledStart { axis: 0, times: 1, divide: 256, multiple_of: 2 };
    assert_eq!(
        plan.dims[2],
        dim(
            Size::Axis { axis: 0, divide: 256, multiple_of: 1 },
            Step::Axis { axis: 0, times: 256 },
            2,
            Coordinate { plus: 0, start: Some(rows) },
        )
    );
}

/// One head of heads × sequence × 128.
#[test]
fn a_window_of_one_element_along_an_axis_has_a_coordinate_there() {
    let plan = copied(tensor(&[1, 1, 1], 2), &[1, 64, 128], &[64, 128]);
    assert_eq!(
        plan.dims,
        [
            dim(whole(2, 1), FIRST, 64, start(2, 128)),
            dim(whole(1, 1), stride(1), 64, start(1, 64)),
            dim(whole(0, 1), stride(0), 1, start(0, 1)),
        ]
    );
    assert_eq!(plan.instructions(), 2);
}

/// The tile says which axis must be contiguous; the launch, whether it is.
#[test]
fn an_innermost_stride_may_be_left_to_the_launch() {
    let axes: Vec<(Number, Number)> = (0..2)
        .map(|axis| {
            let number = Number::Axis { axis, multiple_of: 1 };
            (number, number)
        })
        .collect();
    let open = Tensor::strided(&axes, 2);
    assert_eq!(copied(open.clone(), &[128, 64], &[128, 64]).dims[0].stride, stride(1));
    // Contiguous along axis 0.
    let layout = nvmma_shared(128, 16, true, false, &[64, 32]).expect("whole atoms");
    let plan = plan(&TileCopy {
        tensor: open,
        starts: vec![Start::Value { multiple_of: 8 }, Start::Known(-3)],
        extents: vec![64, 32],
        shared: SharedTile::of_linear(&layout, 2).expect("a swizzled tile"),
        cut: Cut::Fine,
        widening: Widening::Allowed,
    })
    .expect("it can be copied");
    let before = Coordinate { plus: -3, start: None };
    assert_eq!(
        plan.dims,
        [dim(whole(0, 1), stride(0), 64, start(0, 8)), dim(whole(1, 1), stride(1), 32, before),]
    );
}

#[test]
fn an_extent_that_is_known_to_be_ragged_is_not_taken_apart() {
    let ragged = [(Number::Known(100), Number::Known(104)), (Number::Known(100), Number::Known(1))];
    let plan = copied(Tensor::strided(&ragged, 2), &[64, 128], &[64, 128]);
    assert_eq!(plan.instructions(), 2);
    assert_eq!(plan.dims[0], dim(Size::Known(100), FIRST, 64, start(1, 128)));
}

#[test]
fn a_plain_tile_is_copied_row_by_row_of_the_tensor() {
    let layout = row_major_shared(&[32, 128]).expect("powers of two");
    let shared = SharedTile::of_linear(&layout, 4).expect("a plain tile");
    let copy = TileCopy {
        tensor: tensor(&[1, 1], 4),
        starts: vec![Start::Value { multiple_of: 1 }, Start::Value { multiple_of: 4 }],
        extents: vec![32, 128],
        shared,
        cut: Cut::Fine,
        widening: Widening::Forbidden,
    };
    let one = plan(&copy).expect("it can be copied");
    assert_eq!(
        one.dims,
        [dim(whole(1, 1), FIRST, 128, start(1, 4)), dim(whole(0, 1), stride(0), 32, start(0, 1)),]
    );
    assert_eq!(one.instructions(), 1);
    // 4 bytes further on, no instruction may begin.
    let anywhere = vec![Start::Value { multiple_of: 1 }, Start::Value { multiple_of: 1 }];
    let declined = plan(&TileCopy { starts: anywhere, ..copy }).expect_err("it may begin anywhere");
    assert_eq!(
        declined.to_string(),
        "prefix-search: inner_coordinate: dimension 0: the window must begin at a multiple of 16 bytes, but begins at one of 4"
    );
}

#[test]
fn elements_are_widened_whatever_the_start_and_the_extent_are() {
    // 64 rows of 8 bytes as 256 elements of two: row 2·n begins at element 8·n.
    let plain = |tile: &str| SharedTile::plain(tile.parse().expect("a layout"));
    let copy = TileCopy {
        tensor: Tensor::row_major(&[1024, 8], 1),
        starts: vec![Start::Value { multiple_of: 2 }, Start::Known(0)],
        extents: vec![64, 8],
        shared: plain("S[512 : 1]"),
        cut: Cut::Fine,
        widening: Widening::Allowed,
    };
    let plan_of = |copy: &TileCopy| plan(copy).expect("it can be copied");
    let rows = plan_of(&copy);
    assert_eq!(rows.element_bytes, 2);
    let four = ScaledStart { axis: 0, times: 4, divide: 1, multiple_of: 8 };
    let begin = Coordinate { plus: 0, start: Some(four) };
    assert_eq!(rows.dims, [dim(Size::Known(4096), FIRST, 256, begin)]);
    // Two stretches of 512 bytes, apart in shared memory.
    let stretches = TileCopy {
        tensor: tensor(&[2], 1),
        starts: vec![Start::Value { multiple_of: 16 }],
        extents: vec![1024],
        shared: plain("S[(2, 512) : (1024, 1)]"),
        ..copy.clone()
    };
    let two = plan_of(&stretches);
    assert_eq!((two.element_bytes, two.instructions()), (2, 2));
    assert_eq!(two.dims[0].extent, Size::Axis { axis: 0, divide: 2, multiple_of: 1 });
    assert_eq!((two.issue(1).shared_bytes, two.issue(1).coordinates[0].plus), (1024, 256));
    // An extent that may be odd has no half, and elements stay single.
    let odd = plan_of(&TileCopy { tensor: tensor(&[1], 1), ..stretches });
    assert_eq!((odd.element_bytes, odd.instructions()), (1, 4));
}
