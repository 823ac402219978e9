//! The algebra: places, scopes, canonical forms, groups, tiles of tiles, windows, parts.

use kernel_layout::tile::{Iter, Scope, ScopeError, Scopes, TileAxis, TileError, TileLayout};

use super::{along, text, tile};

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
