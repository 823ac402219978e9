//! Copies that have no plan, and what is said about them.

use kernel_layout::forms::{nvmma_shared, swizzled_shared};
use kernel_layout::tile::{ComposeLayout, SwizzleMode, TileLayout};
use kernel_layout::tma::{
    Cut, Declined, Digit, Number, Rule, SharedTile, Stage, Start, Tensor, TileCopy, Widening, plan,
};
use kernel_layout::{Dim, Form};

use super::{copy, mma, rows, strided};

#[track_caller]
fn declined(copy: &TileCopy, words: &str) -> Declined {
    let declined = plan(copy).expect_err("it cannot be copied");
    assert_eq!(declined.to_string(), words);
    declined
}

/// The copy, cut finely: how many instructions, and the box of one.
#[track_caller]
fn finely(copy: TileCopy) -> (u64, Vec<u32>) {
    let plan = plan(&TileCopy { cut: Cut::Fine, ..copy }).expect("further instructions help");
    (plan.instructions(), plan.dims.iter().map(|dim| dim.box_elems).collect())
}

fn swizzled(layout: &str) -> SharedTile {
    let tile: TileLayout = layout.parse().expect("a layout");
    SharedTile { tile, swizzle: SwizzleMode::B128 }
}

#[test]
fn a_tile_of_more_pieces_than_a_map_has_dimensions() {
    // 32×512 made of tiles of 16×256, those of atoms of 8×64, row-major each time.
    let tile = "S[(2, 2, 8, 2, 4, 64) : (8192, 2048, 64, 4096, 512, 1)]";
    let all = copy(Tensor::row_major(&[32, 512], 2), &[(0, 32), (0, 512)], swizzled(tile));
    let error =
        declined(&all, "prefix-search: rank: at most 5 dimensions are possible, but there are 6");
    assert_eq!((error.stage(), error.rule()), (Stage::PrefixSearch, Some(Rule::Rank)));
    assert_eq!(finely(all), (2, vec![64, 8, 4, 2, 2]));
}

#[test]
fn a_tile_with_gaps() {
    let tile = strided("S[(8, 32, 64) : (4096, 64, 1)]");
    let all = copy(Tensor::row_major(&[8, 32, 64], 2), &[(0, 8), (0, 32), (0, 64)], tile);
    let error = declined(
        &all,
        "shared-chain: the next piece of the tile must have stride 2048, but has stride 4096",
    );
    assert_eq!(error.stage(), Stage::SharedChain);
    let (instructions, _) = finely(all.clone());
    assert_eq!(instructions, 8);
    let plan = plan(&TileCopy { cut: Cut::Fine, ..all }).expect("further instructions help");
    assert_eq!(plan.issue(5).shared_bytes, 5 * 4096 * 2);
}

#[test]
fn a_transposed_tile() {
    let tile = strided("S[(64, 64) : (1, 64)]");
    let all = copy(Tensor::row_major(&[64, 64], 2), &[(0, 64), (0, 64)], tile);
    for cut in [Cut::Whole, Cut::Fine] {
        let all = TileCopy { cut, ..all.clone() };
        let error = declined(
            &all,
            "prefix-search: global_stride_alignment: dimension 1: the stride must be a multiple of 16 bytes, but is 2",
        );
        assert_eq!(error.rule(), Some(Rule::GlobalStrideAlignment));
    }
}

/// A tile of 16 rows in two groups of 8, of 128 columns in two of 64.
fn groups() -> SharedTile {
    swizzled("S[(2, 8, 2, 64) : (1024, 64, 512, 1)]")
}

#[test]
fn a_window_that_does_not_begin_at_a_group_of_rows() {
    let all = copy(Tensor::row_major(&[24, 128], 2), &[(4, 16), (0, 128)], groups());
    let error = declined(
        &all,
        "coordinate: the window must begin at a multiple of 8 along axis 0, but begins at 4",
    );
    assert_eq!(error.stage(), Stage::Coordinate);
    assert_eq!(finely(all), (2, vec![64, 8, 2]));
}

#[test]
fn a_tensor_that_does_not_end_with_a_group_of_rows() {
    let all = copy(Tensor::row_major(&[130, 128], 2), &[(0, 16), (0, 128)], groups());
    let error = declined(
        &all,
        "global-shape: the tensor must have a multiple of 8 elements along axis 0, but has 130",
    );
    assert_eq!(error.stage(), Stage::GlobalShape);
    assert_eq!(finely(all), (2, vec![64, 8, 2]));
}

#[test]
fn a_row_longer_than_any_box() {
    let all = copy(Tensor::row_major(&[4096], 1), &[(0, 4096)], rows(&[4096]));
    let error = declined(
        &all,
        "prefix-search: box_dim: dimension 0: the box must have 1 to 256 elements, but has 4096",
    );
    assert_eq!(error.rule(), Some(Rule::BoxDim));
    // As 16 rows of 256.
    assert_eq!(finely(all.clone()), (1, vec![256, 16]));
    // Nor is it otherwise where elements must stay as wide as they are.
    let fixed = TileCopy { widening: Widening::Forbidden, ..all };
    declined(
        &fixed,
        "prefix-search: box_dim: dimension 0: the box must have 1 to 256 elements, but has 4096",
    );
}

/// The rule that a copy breaks, however it is cut.
#[track_caller]
fn broken(axes: &[(u64, u64)], window: &[(i64, u64)], shared: SharedTile, words: &str) -> Rule {
    let known = |&(extent, stride): &(u64, u64)| (Number::Known(extent), Number::Known(stride));
    let axes: Vec<_> = axes.iter().map(known).collect();
    let fine = TileCopy { cut: Cut::Fine, ..copy(Tensor::strided(&axes, 2), window, shared) };
    declined(&fine, words).rule().expect("a rule of maps")
}

#[test]
fn rules_of_maps() {
    let window = [(0, 8), (0, 64)];
    let tile = || rows(&[8, 64]);
    assert_eq!(
        broken(
            &[(8, 64), (0, 1)],
            &window,
            tile(),
            "prefix-search: global_dim: dimension 0: the extent must be 1 to 4294967296, but is 0",
        ),
        Rule::GlobalDim
    );
    assert_eq!(
        broken(
            &[((1 << 32) + 1, 64), (64, 1)],
            &window,
            tile(),
            "prefix-search: global_dim: dimension 1: the extent must be 1 to 4294967296, but is 4294967297",
        ),
        Rule::GlobalDim
    );
    assert_eq!(
        broken(
            &[(8, 1 << 39), (64, 1)],
            &window,
            tile(),
            "prefix-search: global_stride_range: dimension 1: the stride must be below 1099511627776 bytes, but is \
             1099511627776",
        ),
        Rule::GlobalStrideRange
    );
    assert_eq!(
        broken(
            &[(8, 68), (64, 1)],
            &window,
            tile(),
            "prefix-search: global_stride_alignment: dimension 1: the stride must be a multiple of 16 bytes, but is 136",
        ),
        Rule::GlobalStrideAlignment
    );
    assert_eq!(
        broken(
            &[(8, 128), (64, 2)],
            &window,
            tile(),
            "prefix-search: inner_stride: dimension 0: the stride must be 1, but is 2",
        ),
        Rule::InnerStride
    );
}

#[test]
fn rules_of_boxes() {
    assert_eq!(
        broken(
            &[(8, 128), (64, 1)],
            &[(0, 8), (0, 4)],
            rows(&[8, 4]),
            "prefix-search: inner_box_bytes: dimension 0: the box must have a multiple of 16 bytes, but has 8",
        ),
        Rule::InnerBoxBytes
    );
    // Half of 17 elements is no number of wider ones.
    assert_eq!(
        broken(
            &[(64, 1)],
            &[(0, 17)],
            rows(&[17]),
            "prefix-search: inner_box_bytes: dimension 0: the box must have a multiple of 16 bytes, but has 34",
        ),
        Rule::InnerBoxBytes
    );
    assert_eq!(
        broken(
            &[(8, 128), (64, 1)],
            &[(0, 8), (4, 32)],
            rows(&[8, 32]),
            "prefix-search: inner_coordinate: dimension 0: the window must begin at a multiple of 16 bytes, but begins \
             at one of 8",
        ),
        Rule::InnerCoordinate
    );
    // Rows of 64 bytes one after another, though a swizzle of 128 bytes puts them 128 bytes apart.
    assert_eq!(
        broken(
            &[(8, 128), (64, 1)],
            &[(0, 8), (0, 32)],
            SharedTile { swizzle: SwizzleMode::B128, ..rows(&[8, 32]) },
            "prefix-search: swizzle_pitch: dimension 0: rows lie 128 bytes apart with this swizzle, but the box has 64",
        ),
        Rule::SwizzlePitch
    );
    assert_eq!(
        broken(
            &[(8, 128), (64, 1)],
            &[(0, 8), (0, 64)],
            strided("S[(8, 64) : (64, 1)] + 24"),
            "prefix-search: shared_alignment: a box must begin at a multiple of 128 bytes of shared memory, but begins at \
             48",
        ),
        Rule::SharedAlignment
    );
    let narrow = SharedTile { swizzle: SwizzleMode::B32, ..rows(&[8, 64]) };
    let all = copy(Tensor::row_major(&[8, 64], 2), &[(0, 8), (0, 64)], narrow);
    declined(
        &all,
        "prefix-search: swizzle_inner_box: dimension 0: the box may have 32 bytes with this swizzle, but has 128",
    );
}

#[test]
fn copies_that_contradict_themselves() {
    let right = || copy(Tensor::row_major(&[8, 64], 2), &[(0, 8), (0, 64)], rows(&[8, 64]));
    assert!(plan(&right()).is_ok());
    declined(
        &TileCopy { starts: vec![Start::Known(0)], ..right() },
        "copy: there are 1 starts for 2 axes",
    );
    declined(&TileCopy { extents: vec![512], ..right() }, "copy: there are 1 extents for 2 axes");
    declined(
        &TileCopy { tensor: Tensor { element_bytes: 3, ..right().tensor }, ..right() },
        "copy: an element has 3 bytes, but must have one of [1, 2, 4, 8]",
    );
    declined(
        &TileCopy { extents: vec![8, 32], ..right() },
        "copy: the tile has 512 elements, but the window has 256",
    );
    declined(
        &TileCopy { extents: vec![8, 0], ..right() },
        "copy: the tile has 512 elements, but the window has 0",
    );
    let one = copy(Tensor::row_major(&[8, 64], 2), &[(0, 1), (0, 1)], rows(&[1]));
    declined(&one, "shared-chain: no piece of the tile has stride 1");
}

#[test]
fn tiles_that_tma_does_not_write() {
    let tensor = || Tensor::row_major(&[8, 64], 2);
    let of = |shared, words: &str| {
        let error = declined(&copy(tensor(), &[(0, 8), (0, 64)], shared), words);
        assert_eq!(error.stage(), Stage::SharedLayout);
    };
    of(
        strided("S[(8, 64) : (64, 1)] + R[2 : 512]"),
        "shared-layout: the tile holds every element 2 times, but a copy writes it once",
    );
    of(
        strided("S[(8, 64) : (1 @ laneid, 1)]"),
        "shared-layout: linear layouts have no dimension for laneid",
    );
    of(strided("S[(8, 64) : (-64, 1)]"), "shared-layout: not linear along m: a stride is negative");
    of(
        strided("S[(8, 64) : (64, 1)] + -64"),
        "shared-layout: not linear along m: the offset is negative",
    );
    let across =
        copy(Tensor::row_major(&[12, 32], 2), &[(0, 12), (0, 32)], strided("S[(8, 48) : (64, 1)]"));
    declined(&across, "shared-layout: incompatible cumulative boundaries: 8 does not divide 12");
}

#[test]
fn layouts_that_no_swizzle_makes_a_tile() {
    let exchanged: ComposeLayout =
        "Compose(3, 3, 4, S[(16, 64) : (64, 1)])".parse().expect("a layout");
    let error = SharedTile::swizzled(&exchanged, 2).expect_err("another distance");
    assert_eq!(
        error.to_string(),
        "shared-layout: no swizzle of 0, 32, 64 or 128 bytes makes this layout one of extents and strides: \
         Compose(3, 3, 4, S[(16, 64) : (64, 1)])"
    );
    let phases = swizzled_shared(8, 2, 4, &[1, 0], &[16, 64]).expect("powers of two");
    let error = SharedTile::of_linear(&phases, 2).expect_err("another swizzle");
    assert_eq!(error.stage(), Stage::SharedLayout);
    // The same elements, but of a size for which the chunks have 16 bytes.
    let bytes = nvmma_shared(128, 8, false, false, &[16, 128]).expect("whole atoms");
    assert!(SharedTile::of_linear(&bytes, 1).is_ok());
    assert!(SharedTile::of_linear(&bytes, 2).is_err());
    let spread = Form::Cluster { bases: vec![vec![1, 0]], per_block: Box::new(Form::RowMajor) };
    let spread = spread.to_layout(&[16, 64]).expect("powers of two");
    assert_eq!(SharedTile::of_linear(&spread, 2), Err(Declined::Dim { actual: Dim::Block }));
}

#[test]
fn digits_of_a_tensor() {
    // Rows are counted in groups of 32, in groups of 4, in single ones.
    let layout: TileLayout = "S[(8, 32, 4, 64) : (8192, 64, 2048, 1)]".parse().expect("a layout");
    let tensor = || Tensor::tiled(&[1024, 64], &layout, 2).expect("digits of every axis");
    let of = |start: Start, extent: u64| TileCopy {
        starts: vec![start, Start::Known(0)],
        extents: vec![extent, 64],
        ..copy(tensor(), &[(0, extent), (0, 64)], rows(&[extent, 64]))
    };
    assert!(plan(&of(Start::Known(128), 128)).is_ok());
    assert!(plan(&of(Start::Value { multiple_of: 128 }, 128)).is_ok());
    let error = declined(
        &of(Start::Value { multiple_of: 64 }, 128),
        "coordinate: the window must begin at a multiple of 128 along axis 0, but begins at some multiple of 64",
    );
    assert_eq!(error.stage(), Stage::Coordinate);
    // Rows 0 and 1 of a group of 4.
    let part = plan(&of(Start::Value { multiple_of: 128 }, 2)).expect("it can be copied");
    assert_eq!((part.instructions(), part.bytes()), (1, 2 * 64 * 2));
    declined(
        &of(Start::Value { multiple_of: 128 }, 6),
        "coordinate: the window ends within a digit of axis 0 that it does not begin with",
    );
    declined(
        &of(Start::Known(6), 4),
        "coordinate: the window ends within a digit of axis 0 that it does not begin with",
    );
    let mut empty = tensor();
    empty.axes[0][2].extent = Number::Known(0);
    declined(
        &TileCopy { tensor: empty, ..of(Start::Known(0), 128) },
        "coordinate: the window ends within a digit of axis 0 that it does not begin with",
    );
    // Only the outermost digit may be left open.
    let open =
        Digit { extent: Number::Axis { axis: 0, multiple_of: 1 }, stride: Number::Known(64) };
    let mut tensor = tensor();
    tensor.axes[0][2] = open;
    declined(
        &TileCopy { tensor, ..of(Start::Known(0), 128) },
        "global-shape: only the outermost of the digits of axis 0 may have an extent that the launch gives",
    );
}

#[test]
fn tiles_that_the_tensor_core_reads_without_a_swizzle_need_whole_chunks() {
    // Columns of 16 bytes, all rows of one first: a box of three dimensions.
    let all = copy(
        Tensor::row_major(&[64, 64], 2),
        &[(0, 64), (0, 64)],
        mma(16, SwizzleMode::None, &[64, 64], &[]),
    );
    assert_eq!(finely(all), (1, vec![8, 64, 8]));
}
