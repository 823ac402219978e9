//! Tile layouts recorded from another compiler, or worked out from its rules with a small independent program.
//!
//! Tests are named after the rule and the number of its vectors. Layouts are compared as texts, in the notation.

use kernel_layout::forms::{
    TmemAtom, TmemColumns, tensor_memory, tensor_memory_registers, tensor_memory_scales,
};
use kernel_layout::tile::{
    ComposeLayout, CopyShape, DataPath, Iter, Reading, ScaleFactors, Scope, ScopeError, Scopes,
    Swizzle, SwizzleMode, TileAxis, TileError, TileLayout, accumulator_data_path, data_path,
    fragment, mma_shared, operand_a, scale_factors, scale_factors_shared,
};

fn tile(text: &str) -> TileLayout {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn compose(text: &str) -> ComposeLayout {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The amount along an axis, 0 for one that is not there.
fn along(places: &[(TileAxis, i64)], axis: TileAxis) -> i64 {
    places.iter().find(|(other, _)| *other == axis).map_or(0, |&(_, at)| at)
}

fn text(layout: &TileLayout) -> String {
    layout.to_string()
}

#[test]
fn s1_2_offsets_add_up_on_either_side() {
    for spelled in [
        "S[8 : 4 @ laneid] + 1 @ laneid + 2 @ warpid + 64",
        "64 + S[8 : 4 @ laneid] + 2 @ warpid + 1 @ laneid",
        "63 + S[(8) : (4 @ laneid)] + 1 @ m + 2@warpid + 1@laneid",
    ] {
        let offset = tile(spelled).offset().clone();
        let required = [(TileAxis::Memory, 64), (TileAxis::LaneId, 1), (TileAxis::WarpId, 2)];
        assert!(offset.into_iter().eq(required), "{spelled}");
    }
    assert_eq!(text(&tile("S[2, 3, 4]")), "S[(2, 3, 4) : (12, 4, 1)]");
}

#[test]
fn s1_3_vector_a_a_fragment_of_two_warps() {
    let layout = tile(
        "S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid",
    );
    for i in 0..8 {
        for j in 0..16 {
            let places = layout.apply(&[8, 16], &[i, j]).expect("an element");
            let (row, col) = (i.cast_signed(), j.cast_signed());
            assert_eq!(along(&places, TileAxis::LaneId), 4 * row + col / 2 % 4);
            assert_eq!(along(&places, TileAxis::WarpId), col / 8 + 5);
            assert_eq!(along(&places, TileAxis::Memory), col % 2);
        }
    }
    let copies: Vec<i64> =
        layout.replicas().iter().map(|copy| along(copy, TileAxis::WarpId)).collect();
    assert_eq!(copies, [0, 4]);
    for (at, lane, warp, place) in [
        ([0, 0], 0, 5, 0),
        ([0, 1], 0, 5, 1),
        ([0, 2], 1, 5, 0),
        ([1, 0], 4, 5, 0),
        ([0, 8], 0, 6, 0),
        ([7, 15], 31, 6, 1),
    ] {
        let places = layout.apply(&[8, 16], &at).expect("an element");
        let required = [lane, warp, place];
        let axes = [TileAxis::LaneId, TileAxis::WarpId, TileAxis::Memory];
        assert_eq!(axes.map(|axis| along(&places, axis)), required);
    }
}

#[test]
fn s1_3_vector_b_two_tiles_of_tensor_memory() {
    let layout = tile("S[(2, 128, 112) : (112 @ TCol, 1 @ TLane, 1 @ TCol)]");
    for at in [[0, 0, 0], [1, 127, 111], [1, 5, 3], [0, 100, 64]] {
        let [a, lane, c] = at.map(u64::cast_signed);
        let places = layout.apply(&[2, 128, 112], &at).expect("an element");
        assert_eq!(along(&places, TileAxis::TLane), lane);
        assert_eq!(along(&places, TileAxis::TCol), 112 * a + c);
    }
    assert_eq!(layout.span(TileAxis::TCol), 224);
}

#[test]
fn s1_3_vector_c_digits_of_other_extents_than_the_axes() {
    let layout = tile("S[(2, 3, 4, 2, 2) : (1, 2, 12, 6, 48)]");
    for i in 0..6_u64 {
        for j in 0..16_u64 {
            let (a, b) = (i.cast_signed(), j.cast_signed());
            let required = a / 3 + 2 * (a % 3) + 12 * (b / 4) + 6 * (b % 4 / 2) + 48 * (b % 2);
            let places = layout.apply(&[6, 16], &[i, j]).expect("an element");
            assert_eq!(along(&places, TileAxis::Memory), required);
        }
    }
}

#[test]
fn s1_3_spans() {
    assert_eq!(tile("S[(8, 6) : (8, 1)]").span_of_memory(), 62);
    assert_eq!(tile("S[(8, 1, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]").span_of_memory(), 2);
    assert_eq!(tile("S[(8, 8, 8) : (64 @ F, 1 @ P, 1 @ F)]").span(TileAxis::Free), 456);
    // An index past the end goes on in the first digit.
    assert_eq!(tile("S[(2, 3) : (10, 1)]").place(13), [(TileAxis::Memory, 41)]);
}

#[test]
fn s1_4_scopes_of_axes() {
    let scope = |axes: &[&str]| {
        let strides: Vec<String> = axes.iter().map(|axis| format!("1 @ {axis}")).collect();
        let extents = vec!["2"; axes.len()].join(", ");
        tile(&format!("S[({extents}) : ({})]", strides.join(", "))).scope()
    };
    assert_eq!(scope(&["laneid"]), Ok(Some((Scope::Thread, Scope::Warp))));
    assert_eq!(scope(&["laneid", "warpid"]), Ok(Some((Scope::Thread, Scope::Cta))));
    assert_eq!(scope(&["wid_in_wg", "laneid"]), Ok(Some((Scope::Thread, Scope::Warpgroup))));
    assert_eq!(scope(&["m", "TLane"]), Ok(None));
    let gap = ScopeError::Gap { reached: Scope::Warp, axis: TileAxis::WarpgroupId };
    assert_eq!(scope(&["wgid", "laneid"]), Err(gap));
    let conflict = ScopeError::Conflict { first: TileAxis::LaneId, second: TileAxis::Thread };
    assert_eq!(scope(&["tx", "laneid"]), Err(conflict));
}

#[track_caller]
fn check_canonical(given: &str, required: &str, scopes: Scopes) {
    assert_eq!(text(&tile(given).canonicalize(scopes)), required);
}

#[test]
fn s1_5_canonical_forms() {
    for (given, required) in [
        ("S[(8, 8, 8, 4, 2) : (512, 64, 8, 2, 1)]", "S[4096 : 1]"),
        ("S[(8, 8, 1, 8, 4, 2) : (512, 64, 160, 8, 2, 1)]", "S[4096 : 1]"),
        ("S[(8, 8, 8, 4, 1, 1) : (512, 64, 8, 2, 1, 1)]", "S[2048 : 2]"),
        ("S[(8, 8, 1, 1, 1, 4, 1, 1) : (512, 64, 1, 1, 1, 2, 1, 1)]", "S[(64, 4) : (64, 2)]"),
        ("S[(8, 2, 3, 6) : (6, 24, 6, 1)]", "S[(8, 2, 18) : (6, 24, 1)]"),
        ("S[(8, 2, 4, 2, 3, 6) : (2, 1, 4, 24, 6, 1)]", "S[(16, 4, 2, 18) : (1, 4, 24, 1)]"),
        ("S[(3, 4, 5, 2, 3, 4) : (20, 5, 1, 60, 20, 5)]", "S[(60, 24) : (1, 5)]"),
        (
            "S[(18, 8, 2, 4, 2, 3, 6) : (4, 2, 1, 4, 24, 6, 1)]",
            "S[(18, 16, 4, 2, 18) : (4, 1, 4, 24, 1)]",
        ),
        (
            "S[(8, 4, 4, 8, 8, 4, 4, 16, 8) : (4 @ laneid, 1 @ laneid, 16, 2, 8, 2, 16, 1, 4)]",
            "S[(32, 32, 32, 64, 8) : (1 @ laneid, 2, 2, 1, 4)]",
        ),
        (
            "S[(8, 8, 8, 1, 1, 2, 1) : (16, 4 @ laneid, 2, 1, 4 @ laneid, 1, 1)] + 0 @ laneid",
            "S[(8, 8, 16) : (16, 4 @ laneid, 1)]",
        ),
        ("S[(1, 1) : (5 @ warpid, 3)]", "S[1 : 1 @ warpid]"),
        ("S[()] + R[(2, 4, 1) : (4, 8, 3)]", "S[() : ()] + R[8 : 4]"),
    ] {
        check_canonical(given, required, Scopes::Kept);
        // One axis of threads is the widest already.
        check_canonical(given, required, Scopes::Fused);
    }
}

#[test]
fn s1_5_canonical_forms_with_scopes_fused() {
    for (given, required) in [
        (
            "S[(2, 8, 2, 4) : (2 @ warpid, 4 @ laneid, 1 @ warpid, 1 @ laneid)]",
            "S[(2, 8, 2, 4) : (64 @ tx, 4 @ tx, 32 @ tx, 1 @ tx)]",
        ),
        ("S[(2, 2, 8, 4) : (2 @ warpid, 1 @ warpid, 4 @ laneid, 1 @ laneid)]", "S[128 : 1 @ tx]"),
        (
            "S[(2, 2, 8, 2, 2, 4) : (2 @ wgid, 2 @ wid_in_wg, 4 @ laneid, 1 @ wgid, 1 @ wid_in_wg, 1 @ laneid)]",
            "S[(2, 2, 8, 2, 2, 4) : (256 @ tx, 64 @ tx, 4 @ tx, 128 @ tx, 32 @ tx, 1 @ tx)]",
        ),
        (
            "S[(2, 8, 2, 4) : (2 @ wid_in_wg, 4 @ laneid, 1 @ wid_in_wg, 1 @ laneid)]",
            "S[(2, 8, 2, 4) : (64 @ tid_in_wg, 4 @ tid_in_wg, 32 @ tid_in_wg, 1 @ tid_in_wg)]",
        ),
        (
            "S[(2, 2, 4, 32) : (2 @ wgid, 1 @ wgid, 32 @ tid_in_wg, 1 @ tid_in_wg)]",
            "S[512 : 1 @ tx]",
        ),
        ("S[(2, 4) : (1 @ wgid, 1 @ wid_in_wg)] + 1 @ wgid", "S[8 : 1 @ warpid] + 4 @ warpid"),
        // A gap between the axes: nothing is fused.
        ("S[(2, 32) : (1 @ wgid, 1 @ laneid)]", "S[(2, 32) : (1 @ wgid, 1 @ laneid)]"),
    ] {
        check_canonical(given, required, Scopes::Fused);
    }
}

#[test]
fn s1_5_trivial_layouts() {
    for (given, trivial) in [
        ("S[(8, 8) : (8, 1)]", true),
        ("S[1 : 7]", true),
        ("S[(8, 8) : (1, 8)]", false),
        ("S[64 : 1] + 1", false),
        ("S[64 : 1] + R[2 : 64]", false),
        ("S[32 : 1 @ laneid]", false),
    ] {
        assert_eq!(tile(given).is_trivial(), trivial, "{given}");
    }
}

#[test]
fn s1_6_group() {
    let tiled = tile("S[(8, 8) : (8, 1)]").tile(&tile("S[(8, 8) : (8, 1)]"), &[8, 8], &[8, 8]);
    let grouped = tiled.and_then(|layout| layout.group(&[64, 64])).expect("whole digits");
    assert_eq!(grouped.separators, [0, 2, 4]);
    let grouped = tile("S[30 : 1]").group(&[6, 5]).expect("whole digits");
    assert_eq!(text(&grouped.layout), "S[(6, 5) : (5, 1)]");
    let error = tile("S[(6, 5) : (5, 1)]").group(&[15, 2]).expect_err("15 cuts the 6");
    assert_eq!(error.to_string(), "layout S[(6, 5) : (5, 1)] can not be grouped by shape [15, 2]");
    for wrong in [&[6][..], &[6, 10], &[0], &[6, 5, 2]] {
        assert!(tile("S[(6, 5) : (5, 1)]").group(wrong).is_err(), "{wrong:?}");
    }
    let grouped = tile("S[8 : 1]").group(&[1, 8, 1, 1]).expect("axes of size 1");
    assert_eq!(grouped.groups().map(<[Iter]>::len).collect::<Vec<_>>(), [1, 1, 1, 1]);
}

#[test]
fn s1_6_group_many() {
    let cut = |given: &str, shapes: &[&[u64]]| {
        let (layout, separators) = tile(given).group_many(shapes).expect("whole digits");
        (text(&layout), separators)
    };
    assert_eq!(
        cut("S[30 : 1]", &[&[6, 5], &[2, 15]]),
        ("S[(2, 3, 5) : (15, 5, 1)]".to_owned(), vec![vec![0, 2, 3], vec![0, 1, 3]])
    );
    assert_eq!(
        cut("S[30 : 1]", &[&[1, 6, 1, 5, 1], &[2, 1, 3, 5]]),
        (
            "S[(1, 2, 1, 3, 1, 5, 1) : (30, 15, 15, 5, 5, 1, 1)]".to_owned(),
            vec![vec![0, 1, 4, 5, 6, 7], vec![0, 2, 3, 4, 7]]
        )
    );
    let (layout, separators) = cut("S[(6, 1, 5) : (5, 97, 1)]", &[&[6, 1, 5], &[30]]);
    assert_eq!(layout, "S[(6, 1, 5) : (5, 97, 1)]");
    assert_eq!(separators, [vec![0, 1, 2, 3], vec![0, 3]]);
    let error = tile("S[12 : 1]").group_many(&[&[3, 4], &[2, 6]]).expect_err("2 and 3");
    assert_eq!(error.to_string(), "incompatible cumulative boundaries: 2 does not divide 3");
}

#[track_caller]
fn check_tile(inner: &str, outer: &str, shapes: [&[u64]; 2], required: &str) {
    let (inner, outer) = (tile(inner), tile(outer));
    let tiled = inner.tile(&outer, shapes[0], shapes[1]).expect("shapes that fit");
    // One of the vectors is recorded before its digits are joined.
    assert_eq!(tiled, tile(required).canonicalize(Scopes::Kept));
    let whole: Vec<u64> = shapes[0].iter().zip(shapes[1]).map(|(a, b)| a * b).collect();
    let found = inner.is_tile_inner(&tiled, &whole, shapes[1]).expect("it is the inner tile");
    assert_eq!(found, outer.canonicalize(Scopes::Kept));
    let found = outer.is_tile_outer(&tiled, &whole, shapes[0]).expect("it is the outer layout");
    assert_eq!(found, inner.canonicalize(Scopes::Kept));
}

#[test]
fn s1_7_tiles_of_tiles() {
    let rows = "S[(8, 8) : (8, 1)]";
    check_tile(rows, rows, [&[8, 8], &[8, 8]], "S[(8, 8, 8, 8) : (512, 8, 64, 1)]");
    check_tile("S[(2, 4) : (1, 2)]", rows, [&[8, 8], &[2, 4]], "S[(8, 2, 32) : (64, 1, 2)]");
    check_tile(
        "S[(4, 2, 2, 4) : (16, 8, 1, 2)]",
        rows,
        [&[8, 8], &[8, 8]],
        "S[(8, 4, 2, 8, 2, 4) : (512, 16, 8, 64, 1, 2)]",
    );
    let lanes = "S[(8, 4) : (4 @ laneid, 1 @ laneid)]";
    check_tile("S[(1, 2) : (2, 1)]", lanes, [&[8, 4], &[1, 2]], "S[(32, 2) : (1 @ laneid, 1)]");
    check_tile(
        "S[(32, 2) : (1 @ laneid, 1)]",
        "S[(2, 2) : (2 @ warpid, 1 @ warpid)]",
        [&[2, 2], &[8, 8]],
        "S[(2, 8, 2, 4, 2) : (2 @ warpid, 4 @ laneid, 1 @ warpid, 1 @ laneid, 1)]",
    );
    check_tile(
        "S[(64, 128) : (128, 1)]",
        "S[2 : 2 @ warpid] + R[2 : 1 @ warpid]",
        [&[2, 1], &[64, 128]],
        "S[(2, 8192) : (2 @ warpid, 1)] + R[2 : 1 @ warpid]",
    );
    let to = tile(rows).tile_to(&[16, 16], &[8, 8]).expect("whole tiles");
    assert_eq!(text(&to), "S[(2, 8, 2, 8) : (128, 8, 64, 1)]");
}

#[test]
fn s1_7_direct_sums() {
    let (left, right) = (tile("S[(2, 2) : (8, 2)]"), tile("S[(2, 2) : (4, 1)]"));
    let sum = right.direct_sum(&left, &[2, 2], &[2, 2]).expect("shapes that fit");
    assert_eq!(text(&sum), "S[16 : 1]");
    let found = right.is_direct_sum_right(&sum, &[4, 4], &[2, 2]).expect("the right part");
    assert_eq!(found, left);
    let found = left.is_direct_sum_left(&sum, &[4, 4], &[2, 2]).expect("the left part");
    assert_eq!(found, right);
    // Offsets are subtracted.
    let moved = sum.moved([(TileAxis::Memory, 5)]).expect("a small offset");
    let found = right.is_direct_sum_right(&moved, &[4, 4], &[2, 2]).expect("the right part");
    assert_eq!(text(&found), "S[(2, 2) : (8, 2)] + 5");
    assert_eq!(left.is_direct_sum_right(&sum, &[4, 4], &[2, 2]), None);
}

#[test]
fn s1_7_threads_are_taken_apart_for_a_tile_of_lanes() {
    let atom = tile("S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]");
    let tiled = tile("S[(4, 8, 4, 2) : (32 @ tx, 4 @ tx, 1 @ tx, 1)] + 64 @ tx");
    let outer = atom.is_tile_inner(&tiled, &[32, 8], &[8, 8]).expect("warps of lanes");
    assert_eq!(text(&outer), "S[4 : 1 @ warpid] + 2 @ warpid");
    // Warps of a warpgroup: four of them are the next one.
    let quarter = tile("S[(4, 2) : (1 @ wid_in_wg, 1)]");
    let tiled = tile("S[(2, 4, 2) : (4 @ warpid, 1 @ warpid, 1)]");
    let outer = quarter.is_tile_inner(&tiled, &[8, 2], &[4, 2]).expect("warpgroups of warps");
    assert_eq!(text(&outer), "S[2 : 1 @ wgid]");
    // A digit across two warps: lanes 16 to 47.
    let across = tile("S[(2, 16, 2) : (48 @ tx, 1 @ tx, 1)] + 8 @ tx");
    assert_eq!(atom.is_tile_inner(&across, &[8, 8], &[8, 8]), None);
}

#[test]
fn s1_8_slices() {
    for (given, shape, region, required) in [
        ("S[(8, 8) : (8, 1)]", &[64][..], &[(5, 3)][..], "S[3 : 1] + 5"),
        (
            "S[(4, 4, 4, 4) : (64, 4, 16, 1)]",
            &[16, 16],
            &[(2, 1), (6, 4)],
            "S[(1, 2, 2) : (4, 14, 1)] + 26",
        ),
        (
            "S[(2, 8, 3, 8) : (192, 8, 64, 1)]",
            &[16, 24],
            &[(2, 4), (4, 8)],
            "S[(4, 2, 4) : (8, 60, 1)] + 20",
        ),
        (
            "S[(128, 2, 64) : (64, 8192, 1)]",
            &[128, 128],
            &[(0, 128), (32, 64)],
            "S[(128, 2, 32) : (64, 8160, 1)] + 32",
        ),
        (
            "S[(4, 64) : (64, 1)] + 1024",
            &[4, 64],
            &[(2, 2), (0, 64)],
            "S[(2, 64) : (64, 1)] + 1152",
        ),
        (
            "S[(3, 128, 128) : (16384, 128, 1)]",
            &[3, 128, 128],
            &[(2, 1), (0, 128), (0, 128)],
            "S[(1, 128, 128) : (16384, 128, 1)] + 32768",
        ),
    ] {
        let window = tile(given).slice(shape, region).expect("a window");
        assert_eq!(text(&window), required);
    }
    let rows = tile("S[(4, 4) : (1, 4)]");
    let uneven = rows.slice(&[16], &[(2, 3)]).expect_err("2, 3, then 4: the strides change");
    assert_eq!(uneven, TileError::Uneven { axis: 0 });
    let outside = rows.slice(&[4, 4], &[(0, 4), (2, 3)]).expect_err("5 columns of 4");
    assert_eq!(outside, TileError::Window { axis: 1, end: 5, size: 4 });
}

#[test]
fn s1_9_swizzles_and_the_banks_of_their_rows() {
    let banks = |mode, pitch: u64, places: [u64; 8], required: [u64; 8]| {
        let swizzle = Swizzle::of_mode(mode, 16).expect("elements of 16 bits");
        let actual: Vec<u64> = (0..8).map(|row| swizzle.apply(pitch * row)).collect();
        assert_eq!(actual, places);
        assert_eq!(places.map(|place| place * 2 / 4 % 32), required);
    };
    let rows = [0, 72, 144, 216, 288, 360, 432, 504];
    banks(SwizzleMode::B128, 64, rows, [0, 4, 8, 12, 16, 20, 24, 28]);
    let rows = [0, 32, 72, 104, 144, 176, 216, 248];
    banks(SwizzleMode::B64, 32, rows, [0, 16, 4, 20, 8, 24, 12, 28]);
    let rows = [0, 16, 32, 48, 72, 88, 104, 120];
    banks(SwizzleMode::B32, 16, rows, [0, 8, 16, 24, 4, 12, 20, 28]);
}

#[test]
fn s1_9_swizzles_repeat() {
    let swizzle = Swizzle::new(3, 3, 3, Reading::Inner).expect("a swizzle");
    for place in 0..1024_u64 {
        let (i, j, k) = (place / 64 % 8, place / 8 % 8, place % 8);
        assert_eq!(swizzle.apply(place), place / 512 * 512 + (i * 8 + (i ^ j)) * 8 + k);
    }
    let swizzle = Swizzle::new(0, 2, 3, Reading::Inner).expect("a swizzle");
    for (i, j) in (0..4).flat_map(|i| (0..8).map(move |j| (i, j))) {
        assert_eq!(swizzle.apply(i * 8 + j), i * 8 + j / 4 * 4 + ((i % 4) ^ (j % 4)));
    }
    // The other direction: the low bits change the high ones.
    let outer = Swizzle::new(0, 2, 3, Reading::Outer).expect("a swizzle");
    assert_eq!(outer.apply(0b00_011), 0b11_011);
    assert!(Swizzle::new(0, 4, 3, Reading::Inner).is_err());
}

#[test]
fn s1_9_an_offset_beneath_a_swizzle() {
    let layout = compose("Compose(3, 3, 3, S[(8, 8) : (64, 1)] + 72)");
    for (x, y) in (0..8).flat_map(|x| (0..8).map(move |y| (x, y))) {
        let required = (x * 64 + (y ^ (((x + 1) & 7) << 3)) + 64) ^ 8;
        assert_eq!(layout.apply(&[8, 8], &[x, y]), Ok(required));
    }
}

#[test]
fn s1_9_unpacking_moves_the_swizzle() {
    let layout = compose("Compose(3, 3, 3, S[512 : 1])").unpack(2).expect("two for one");
    for place in 0..1024 {
        let required = compose("Compose(4, 3, 3, S[1024 : 1])").apply(&[1024], &[place]);
        assert_eq!(layout.apply(&[1024], &[place]), required);
    }
}

#[test]
fn s1_10_layouts_of_products_in_shared_memory() {
    use SwizzleMode::{B64, B128, None};
    for (bits, mode, shape, required) in [
        (16, B128, &[64, 256][..], "Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])"),
        (16, B128, &[3, 64, 256], "Compose(3, 3, 3, S[(3, 64, 4, 64) : (16384, 64, 4096, 1)])"),
        (16, B64, &[3, 64, 256], "Compose(3, 2, 3, S[(3, 64, 8, 32) : (16384, 32, 2048, 1)])"),
        (16, B128, &[8, 256], "Compose(3, 3, 3, S[(8, 4, 64) : (64, 512, 1)])"),
        (16, B128, &[128, 64], "Compose(3, 3, 3, S[8192 : 1])"),
        (16, B128, &[2, 128, 128], "Compose(3, 3, 3, S[(2, 128, 2, 64) : (16384, 64, 8192, 1)])"),
        (8, B128, &[8, 256], "Compose(4, 3, 3, S[(8, 2, 128) : (128, 1024, 1)])"),
        (32, B128, &[8, 256], "Compose(2, 3, 3, S[(8, 8, 32) : (32, 256, 1)])"),
        (4, B128, &[3, 64, 256], "Compose(5, 3, 3, S[49152 : 1])"),
        (16, None, &[64, 32], "Compose(3, 0, 3, S[(64, 4, 8) : (8, 512, 1)])"),
        (16, None, &[64, 12], "Compose(3, 0, 3, S[(64, 12) : (12, 1)])"),
    ] {
        let layout = mma_shared(bits, mode, shape).expect("whole atoms");
        assert_eq!(layout.to_string(), required);
    }
    let refused = |bits, mode, shape: &[u64]| {
        mma_shared(bits, mode, shape).expect_err("no whole atoms").to_string()
    };
    assert_eq!(
        refused(16, B128, &[64, 32]),
        "the bytes of a row must be a multiple of 128, but there are 64; a swizzle of 64 bytes fits"
    );
    assert_eq!(
        refused(16, B64, &[12, 32]),
        "the rows must be a multiple of 8, but there are 12; a swizzle of 0 bytes fits"
    );
    assert!(mma_shared(16, B64, &[64]).is_err());
}

#[test]
fn s1_10_windows_and_atoms_of_swizzled_tiles() {
    let layout = mma_shared(16, SwizzleMode::B128, &[64, 256]).expect("whole atoms");
    let window = layout.slice(&[64, 256], &[(8, 16), (96, 64)]).expect("a window");
    for (row, column) in (0..16).flat_map(|row| (0..64).map(move |column| (row, column))) {
        let required = layout.apply(&[64, 256], &[row + 8, column + 96]);
        assert_eq!(window.apply(&[16, 64], &[row, column]), required);
    }
    // A tile that is a swizzle alone has windows as well.
    let bare = mma_shared(16, SwizzleMode::B128, &[128, 64]).expect("whole atoms");
    let window = bare.slice(&[128, 64], &[(3, 2), (8, 8)]).expect("a window");
    assert_eq!(window.to_string(), "Compose(3, 3, 3, S[(2, 8) : (64, 1)] + 200)");
    let atom = mma_shared(16, SwizzleMode::B128, &[8, 64]).expect("one atom");
    let outer = atom.is_tile_inner(&layout, &[64, 256], &[8, 64]).expect("made of atoms");
    assert_eq!(text(&outer), "S[(8, 4) : (1, 8)]");
    let other = mma_shared(16, SwizzleMode::B64, &[8, 32]).expect("one atom");
    assert_eq!(other.is_tile_inner(&layout, &[64, 256], &[8, 32]), None);
}

#[test]
fn s1_7_groups_of_digits_in_another_order() {
    let layout = tile("S[(2, 3, 4) : (1, 2, 6 @ warpid)] + R[2 : 1 @ laneid]");
    let turned = layout.permute_by_groups(&[0, 2, 3], &[1, 0]).expect("every group once");
    assert_eq!(text(&turned), "S[(4, 2, 3) : (6 @ warpid, 1, 2)] + R[2 : 1 @ laneid]");
    assert_eq!(text(&turned.storage()), "S[(2, 3) : (1, 2)]");
    for (separators, order) in
        [(&[0, 2][..], &[0][..]), (&[0, 2, 3], &[1, 1]), (&[0, 2, 1, 3], &[0, 1, 2])]
    {
        assert!(layout.permute_by_groups(separators, order).is_err(), "{separators:?} {order:?}");
    }
}

#[test]
fn s1_11_data_paths() {
    for (path, required) in [
        (DataPath::A, "S[(128, 32) : (1 @ TLane, 1 @ TCol)]"),
        (DataPath::D, "S[(128, 32) : (1 @ TLane, 1 @ TCol)]"),
        (DataPath::B, "S[(64, 2, 16) : (1 @ TLane, 64 @ TLane, 1 @ TCol)]"),
        (DataPath::E, "S[(64, 2, 16) : (1 @ TLane, 64 @ TLane, 1 @ TCol)]"),
        (DataPath::G, "S[(32, 4, 8) : (1 @ TLane, 32 @ TLane, 1 @ TCol)]"),
        (DataPath::C, "S[(4, 16, 32) : (32 @ TLane, 1 @ TLane, 1 @ TCol)]"),
        (DataPath::F, "S[(4, 16, 32) : (32 @ TLane, 1 @ TLane, 1 @ TCol)]"),
    ] {
        assert_eq!(text(&data_path(path, 32, 0).expect("a data path")), required);
    }
    for (slab, row, col) in
        (0..2).flat_map(|s| (0..64).flat_map(move |r| (0..8).map(move |c| (s, r, c))))
    {
        let f = data_path(DataPath::F, 8, slab).expect("a data path");
        let at = f.apply(&[64, 8], &[row, col]).expect("an element");
        let required = 32 * (row / 16) + 16 * slab + row % 16;
        assert_eq!(along(&at, TileAxis::TLane), required.cast_signed());
        let b = data_path(DataPath::B, 8, 0).expect("a data path");
        let at = b.apply(&[64, 8], &[row, col]).expect("an element");
        assert_eq!(along(&at, TileAxis::TLane), (row + 64 * (col / 4)).cast_signed());
        assert_eq!(along(&at, TileAxis::TCol), (col % 4).cast_signed());
    }
    let refused =
        |path, columns, slab| data_path(path, columns, slab).expect_err("no such path").to_string();
    assert_eq!(refused(DataPath::F, 8, 2), "sub_slab is 2, but must be one of [0, 1]");
    assert_eq!(
        refused(DataPath::D, 8, 1),
        "data path D requires sub_slab 0: it spans both already"
    );
    assert_eq!(refused(DataPath::B, 7, 0), "data path B requires an even number of columns");
}

#[test]
fn s1_11_data_paths_of_products() {
    assert_eq!(accumulator_data_path(128, 1), Ok(DataPath::D));
    assert_eq!(accumulator_data_path(64, 1), Ok(DataPath::F));
    assert_eq!(accumulator_data_path(256, 2), Ok(DataPath::A));
    assert_eq!(accumulator_data_path(128, 2), Ok(DataPath::B));
    assert!(accumulator_data_path(256, 1).is_err() && accumulator_data_path(128, 4).is_err());
    let a = |path, shape: &[u64]| operand_a(path, shape).map(|layout| text(&layout));
    let twice = "S[(64, 16) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]";
    let batches = "S[(2, 64, 16) : (64 @ TLane, 1 @ TLane, 1 @ TCol)]";
    assert_eq!(a(DataPath::D, &[128, 16]).as_deref(), Ok("S[(128, 16) : (1 @ TLane, 1 @ TCol)]"));
    assert_eq!(a(DataPath::B, &[64, 16]).as_deref(), Ok(twice));
    assert_eq!(a(DataPath::B, &[2, 64, 16]).as_deref(), Ok(batches));
    assert_eq!(a(DataPath::E, &[2, 64, 16]).as_deref(), Ok(batches));
    assert_eq!(a(DataPath::F, &[64, 16]).as_deref(), Ok("S[(64, 16) : (1 @ TLane, 1 @ TCol)]"));
    assert!(a(DataPath::E, &[64, 16]).is_err() && a(DataPath::F, &[2, 64, 16]).is_err());
}

#[test]
fn s1_11_scale_factors() {
    let factors = |rows, columns, per_instruction| {
        let factors = ScaleFactors { rows, columns, per_instruction, reuse: 1, depth: 1 };
        text(&scale_factors(factors).expect("whole words"))
    };
    let copies = "R[4 : 32 @ TLane]";
    assert_eq!(factors(128, 1, 1), format!("S[(4, 32) : (4 @ TCol, 1 @ TLane)] + {copies}"));
    // Four instructions of one factor each share a word: the next factor is the next byte.
    assert_eq!(
        factors(128, 8, 1),
        format!("S[(4, 32, 2, 4) : (4 @ TCol, 1 @ TLane, 16 @ TCol, 1 @ TCol)] + {copies}")
    );
    // Two factors each: the second instruction's are two bytes further.
    assert_eq!(
        factors(64, 8, 2),
        format!("S[(2, 32, 2, 4) : (4 @ TCol, 1 @ TLane, 8 @ TCol, 1 @ TCol)] + {copies}")
    );
    assert_eq!(
        factors(128, 8, 4),
        format!("S[(4, 32, 2, 4) : (4 @ TCol, 1 @ TLane, 16 @ TCol, 1 @ TCol)] + {copies}")
    );
    let reused = ScaleFactors { rows: 128, columns: 4, per_instruction: 4, reuse: 2, depth: 3 };
    assert_eq!(
        text(&scale_factors(reused).expect("whole words")),
        format!(
            "S[(3, 4, 32, 4, 2) : (16 @ TCol, 4 @ TCol, 1 @ TLane, 1 @ TCol, 0 @ TCol)] + {copies}"
        )
    );
    // Buffers lie as far apart as all the words of one.
    let deep = ScaleFactors { rows: 128, columns: 16, per_instruction: 4, reuse: 1, depth: 2 };
    let shard = scale_factors(deep).expect("whole words").shard().to_vec();
    assert_eq!(shard[0], Iter::new(2, 64, TileAxis::TCol));
    // The same tile as by bases.
    for (rows, columns) in [(128, 4), (256, 8), (128, 16)] {
        let factors = ScaleFactors {
            rows: rows.into(),
            columns: columns.into(),
            per_instruction: 4,
            reuse: 1,
            depth: 1,
        };
        let linear = scale_factors(factors).and_then(|tile| tile.to_linear(&[rows, columns]));
        assert_eq!(linear, Ok(tensor_memory_scales(&[rows, columns]).expect("a tile of scales")));
    }
    // In shared memory: 512 bytes for 128 rows by 4 factors.
    assert_eq!(
        text(&scale_factors_shared(256, 8).expect("whole blocks")),
        "S[(2, 4, 32, 2, 4) : (1024, 4, 16, 512, 1)]"
    );
}

#[test]
fn s1_11_fragments_of_loads() {
    // Rows, columns and registers of every thread t of a warpgroup, by the formulas of the PTX manual.
    for n in [1, 2, 4, 8] {
        for t in 0..128_i64 {
            let (w, l) = (t / 32, t % 32);
            let expect = |atom, columns: u64, register: i64, row: i64, col: i64| {
                let layout = fragment(atom, 64, n, 32).expect("a load");
                let at = [row, col].map(i64::cast_unsigned);
                let places = layout.apply(&[64, columns], &at).expect("an element");
                assert_eq!(along(&places, TileAxis::ThreadInWarpgroup), t, "{atom} {row},{col}");
                assert_eq!(along(&places, TileAxis::Memory), register, "{atom} {row},{col}");
            };
            for r in 0..n.cast_signed() {
                let (t0, t1, t2) = (l % 2, l / 2 % 2, l / 4);
                expect(TmemAtom::M16x64b, 2 * n, r, t2 + 8 * t0 + 16 * w, t1 + 2 * r);
                for a in 0..2 {
                    let (t0, t1) = (l % 4, l / 4);
                    expect(TmemAtom::M16x128b, 4 * n, a + 2 * r, t1 + 8 * a + 16 * w, t0 + 4 * r);
                    for v in 0..2 {
                        let register = v + 2 * a + 4 * r;
                        let (row, col) = (t1 + 8 * a + 16 * w, v + 2 * t0 + 8 * r);
                        expect(TmemAtom::M16x256b, 8 * n, register, row, col);
                    }
                }
            }
        }
    }
    assert_eq!(
        text(&fragment(TmemAtom::M32x32b, 64, 16, 32).expect("a load")),
        "S[(64, 2, 16) : (1 @ tid_in_wg, 64 @ tid_in_wg, 1)]"
    );
    assert!(fragment(TmemAtom::M16x256b, 64, 64, 32).is_err());
    assert!(fragment(TmemAtom::M16x32bx2, 128, 16, 32).is_err());
}

#[test]
fn s1_11_fragments_are_the_registers_of_loads() {
    // 128 rows are data path D, 64 rows data path F, and 64 rows by 32x32b data path B.
    for (rows, two_ctas) in [(128, false), (64, false), (64, true)] {
        for atom in TmemAtom::ALL {
            for bits in [8, 16, 32] {
                let fits = match (rows, two_ctas) {
                    (128, _) => atom != TmemAtom::M16x32bx2,
                    (_, true) => atom == TmemAtom::M32x32b,
                    (_, false) => atom != TmemAtom::M32x32b,
                };
                if !fits {
                    continue;
                }
                let columns = 64 * 32 / bits;
                let memory = tensor_memory([rows, columns], 1, two_ctas, &[rows, columns]);
                let memory = memory.expect("one block");
                let load = tensor_memory_registers(&memory, atom, TmemColumns::Whole, 4, bits);
                let n = match atom {
                    TmemAtom::M32x32b => {
                        if rows == 64 {
                            32
                        } else {
                            64
                        }
                    }
                    TmemAtom::M16x32bx2 | TmemAtom::M16x64b => 32,
                    TmemAtom::M16x128b => 16,
                    TmemAtom::M16x256b => 8,
                };
                let tile = fragment(atom, rows.into(), n, bits.into()).expect("a load");
                let linear = tile.to_linear(&[rows, columns]).expect("powers of two");
                assert_eq!(linear, load.expect("four warps"), "{atom} {rows} rows {bits} bits");
            }
        }
    }
}

#[test]
fn s1_12_the_copies_that_write_a_layout() {
    for (given, required) in [
        ("S[(128, 64) : (1 @ TLane, 1 @ TCol)]", CopyShape::M128x256b),
        ("S[(4, 64) : (32 @ TLane, 1 @ TCol)]", CopyShape::M4x256b),
        (
            "S[(64, 64) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]",
            CopyShape::M64x128bWarps02And13,
        ),
        (
            "S[(2, 32, 64) : (64 @ TLane, 1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]",
            CopyShape::M64x128bWarps01And23,
        ),
        ("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]", CopyShape::M32x128bWarps4),
        (
            "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[(2, 2) : (32 @ TLane, 64 @ TLane)]",
            CopyShape::M32x128bWarps4,
        ),
    ] {
        assert_eq!(CopyShape::infer(&tile(given)), Ok(required), "{given}");
    }
    assert_eq!(CopyShape::M128x128b.mismatch(&tile("S[(128, 4) : (1 @ TLane, 1 @ TCol)]")), None);
    let refused =
        CopyShape::infer(&tile("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]"));
    let words: Vec<String> =
        refused.expect_err("two copies").iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), 6);
    assert_eq!(
        words[5],
        "tcgen05.cp 32x128b.warpx4: required R[4 : 32 @ TLane], actual R[2 : 32 @ TLane]"
    );
    assert_eq!(
        words[0],
        "tcgen05.cp 128x256b: required S[128 : 1 @ TLane], actual S[32 : 1 @ TLane]"
    );
}

/// Layouts of registers put together from parts of a thread's own and of threads: the last one is innermost.
#[test]
fn s5_3_registers_from_local_and_spatial_parts() {
    let local = |shape: [u64; 2]| TileLayout::row_major(&shape).expect("a small shape");
    let spatial = |[rows, columns]: [u64; 2]| {
        tile(&format!("S[({rows}, {columns}) : ({columns} @ laneid, 1 @ laneid)]"))
    };
    let check = |layout: &TileLayout, shape: [u64; 2], at: [u64; 2], thread: i64, register: i64| {
        let places = layout.apply(&shape, &at).expect("an element");
        assert_eq!(along(&places, TileAxis::LaneId), thread, "{layout} at {at:?}");
        assert_eq!(along(&places, TileAxis::Memory), register, "{layout} at {at:?}");
    };
    let own = spatial([2, 3]).tile(&local([3, 4]), &[3, 4], &[2, 3]).expect("shapes that fit");
    assert_eq!(text(&own), "S[(3, 2, 4, 3) : (4, 3 @ laneid, 1, 1 @ laneid)]");
    check(&own, [6, 12], [0, 3], 0, 1);
    let mma = local([1, 2]).tile(&spatial([8, 4]), &[8, 4], &[1, 2]).expect("shapes that fit");
    let mma = mma.tile(&local([2, 1]), &[2, 1], &[8, 8]).expect("shapes that fit");
    check(&mma, [16, 8], [0, 2], 1, 0);
    check(&mma, [16, 8], [8, 0], 0, 2);
    let mixed = tile("S[(2, 2, 3, 2) : (3 @ laneid, 1, 1 @ laneid, 2)]");
    for (i, j) in (0..4_i64).flat_map(|i| (0..6).map(move |j| (i, j))) {
        let (thread, register) = (i / 2 * 3 + j / 2, j % 2 * 2 + i % 2);
        check(&mixed, [4, 6], [i, j].map(i64::cast_unsigned), thread, register);
    }
    // Reduced along its first axis, every element is on three threads.
    let reduced = tile("S[4 : 1 @ laneid] + R[3 : 4 @ laneid]");
    let threads: Vec<i64> =
        reduced.replicas().iter().map(|copy| along(copy, TileAxis::LaneId)).collect();
    assert_eq!(threads, [0, 4, 8]);
}

#[test]
fn notation_is_read_as_it_is_printed() {
    for given in [
        "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]",
        "S[8 : 4 @ laneid] + 64 + 1 @ laneid + 2 @ warpid",
        "S[() : ()]",
        "S[(2, 2) : (14, 1)] + R[(2, 2) : (8 @ warpid, -3)] + -5",
    ] {
        assert_eq!(text(&tile(given)), given);
    }
    let swizzled = "Compose(0, 2, 3, S[(8, 8) : (8, 1)], outer)";
    assert_eq!(compose(swizzled).to_string(), swizzled);
}

#[test]
fn notation_marks_the_place_of_an_error() {
    let marked = |text: &str| {
        let error = text.parse::<TileLayout>().expect_err("no layout");
        (error.at, error.problem)
    };
    let at = |text: &str, at: usize, problem: &str| {
        assert_eq!(marked(text), (at, problem.to_owned()), "{text}");
    };
    at("S[4 : 1", 7, "required `,` or one of `]`");
    at("S[(4, 2) : 1]", 11, "required 2 strides, actual 1");
    at("S[0 : 1]", 2, "required an extent of at least 1, actual 0");
    at("R[4 : 1]", 0, "required `S[..]` among the parts");
    at("S[4] + S[4]", 7, "required one `S[..]`, this is the second");
    at("S[4 : x]", 6, "required a number");
    at("S[4 : 99999999999999999999]", 6, "required a number of at most 2^30");
    at(
        "S[4 : 1 @ ]",
        10,
        &format!("required an axis: one of {}", TileAxis::ALL.map(TileAxis::name).join(", ")),
    );
    at("S[(65536, 65536)]", 2, "the product of the extents exceeds 2^30");
    at("S[4 : 4611686018427387904]", 0, "a stride exceeds 2^30");
    at("S[4 : 1] ]", 9, "required `+` or the end of the layout");
    at("", 0, "required `S[..]`, `R[..]` or an offset");
}

#[test]
fn layouts_that_are_not_linear_say_why() {
    let refused = |given: &str, shape: &[u32]| {
        tile(given).to_linear(shape).expect_err("not linear").to_string()
    };
    assert_eq!(
        refused("S[(8, 8) : (9, 1)]", &[8, 8]),
        "not linear along m: a stride is no power of two"
    );
    assert_eq!(
        refused("S[(8, 8) : (16, 1)]", &[8, 8]),
        "not linear: between the first place and the last, some hold nothing"
    );
    assert_eq!(
        refused("S[64 : 1] + 8", &[8, 8]),
        "not linear along m: an offset moves every place"
    );
    assert_eq!(
        refused("S[(8, 8) : (4, 1)]", &[64]),
        "not linear along m: two digits share a bit of the place"
    );
    assert_eq!(
        refused("S[(8, 8) : (0, 1)]", &[64]),
        "not linear along m: two elements share a place"
    );
    assert_eq!(
        refused("S[64 : 1 @ laneid]", &[64]),
        "not linear along laneid: a warp has 32 lanes"
    );
    assert_eq!(refused("S[64 : 1 @ bx]", &[64]), "linear layouts have no dimension for bx");
    assert_eq!(refused("S[64 : 1]", &[32]), "layout S[64 : 1] can not be grouped by shape [32]");
    assert_eq!(refused("S[(2, 8) : (-8, 1)]", &[16]), "not linear along m: a stride is negative");
}
