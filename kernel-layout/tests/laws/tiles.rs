//! The laws of tile layouts: every operation leaves elements where its description says, checked place by place.

use std::collections::{BTreeMap, BTreeSet};

use kernel_layout::tile::{ComposeLayout, Iter, Reading, Scopes, Swizzle, TileAxis, TileLayout};
use kernel_layout::{Dim, Layout};
use proptest::prelude::*;

use crate::samples::{bijections, seeded};

/// A place with the axes in order, those at 0 left out.
type Place = BTreeMap<TileAxis, i64>;

fn place(parts: impl IntoIterator<Item = (TileAxis, i64)>) -> Place {
    let mut place = Place::new();
    for (axis, amount) in parts {
        *place.entry(axis).or_insert(0) += amount;
    }
    place.retain(|_, amount| *amount != 0);
    place
}

/// All places of the element with an index, copies included.
fn places(layout: &TileLayout, index: u64) -> BTreeSet<Place> {
    let own = layout.place(index);
    layout.replicas().into_iter().map(|copy| place(own.clone().into_iter().chain(copy))).collect()
}

/// A place with axes of threads counted in threads of the block.
fn in_threads(places: BTreeSet<Place>) -> BTreeSet<Place> {
    let threads = [
        (TileAxis::LaneId, 1),
        (TileAxis::ThreadInWarpgroup, 1),
        (TileAxis::WarpId, 32),
        (TileAxis::WarpInWarpgroup, 32),
        (TileAxis::WarpgroupId, 128),
    ];
    let widen = |(axis, amount): (TileAxis, i64)| {
        let group = threads.iter().find(|(other, _)| *other == axis);
        group.map_or((axis, amount), |(_, threads)| (TileAxis::Thread, threads * amount))
    };
    places.into_iter().map(|at| place(at.into_iter().map(widen))).collect()
}

/// The coordinates of an index.
fn coordinates(shape: &[u64], mut index: u64) -> Vec<u64> {
    let mut at: Vec<u64> = shape
        .iter()
        .rev()
        .map(|size| {
            let digit = index % size;
            index /= size;
            digit
        })
        .collect();
    at.reverse();
    at
}

fn index_of(shape: &[u64], at: &[u64]) -> u64 {
    shape.iter().zip(at).fold(0, |index, (size, digit)| index * size + digit)
}

const AXES: [TileAxis; 4] =
    [TileAxis::Memory, TileAxis::LaneId, TileAxis::WarpInWarpgroup, TileAxis::WarpgroupId];

fn iters(extents: &'static [u64], most: usize) -> impl Strategy<Value = Vec<Iter>> {
    let iter = (prop::sample::select(extents), -4_i64..20, 0..AXES.len())
        .prop_map(|(extent, stride, axis)| Iter::new(extent, stride, AXES[axis]));
    proptest::collection::vec(iter, 0..=most)
}

fn tiles() -> impl Strategy<Value = TileLayout> {
    let offset = proptest::collection::vec((0..AXES.len(), -9_i64..9), 0..3);
    (iters(&[1, 2, 3, 4, 6], 4), iters(&[1, 2, 3], 2), offset).prop_map(
        |(shard, replica, offset)| {
            let offset = offset.into_iter().map(|(axis, amount)| (AXES[axis], amount));
            TileLayout::new(shard, replica, offset).expect("small numbers")
        },
    )
}

/// All layouts of up to three digits of extents 1, 2 and 3 with few strides.
fn all_small() -> Vec<TileLayout> {
    let digits: Vec<Iter> = [1, 2, 3]
        .into_iter()
        .flat_map(|extent| [1, 2].map(|stride| Iter::new(extent, stride, TileAxis::Memory)))
        .chain([Iter::new(2, 1, TileAxis::LaneId)])
        .collect();
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..3 {
        last = last
            .iter()
            .flat_map(|outer: &Vec<Iter>| {
                digits.iter().map(move |&digit| [&outer[..], &[digit]].concat())
            })
            .collect();
        all.extend(last.clone());
    }
    let layout = |shard| TileLayout::new(shard, Vec::new(), []).expect("small numbers");
    all.into_iter().map(layout).collect()
}

/// All shapes of two axes, and some of three, with so many elements.
fn shapes(size: u64) -> Vec<Vec<u64>> {
    let divisors: Vec<u64> = (1..=size).filter(|part| size.is_multiple_of(*part)).collect();
    let pairs = divisors.iter().map(|&rows| vec![rows, size / rows]);
    pairs.chain([vec![size], vec![1, size, 1]]).collect()
}

fn check_canonical(layout: &TileLayout) {
    let short = layout.canonicalize(Scopes::Kept);
    let fused = layout.canonicalize(Scopes::Fused);
    assert_eq!(short.canonicalize(Scopes::Kept), short);
    assert_eq!(fused.canonicalize(Scopes::Fused), fused);
    assert!(short.shard().len() <= layout.shard().len().max(1));
    for index in 0..layout.size() {
        assert_eq!(places(&short, index), places(layout, index), "{layout} to {short} at {index}");
        let required = in_threads(places(layout, index));
        assert_eq!(in_threads(places(&fused, index)), required, "{layout} to {fused} at {index}");
    }
}

#[test]
fn law_canonical_form_keeps_every_place() {
    all_small().iter().for_each(check_canonical);
    proptest!(seeded(400), |(layout in tiles())| check_canonical(&layout));
}

fn check_groups(layout: &TileLayout) {
    for shape in shapes(layout.size()) {
        let Ok(grouped) = layout.group(&shape) else { continue };
        assert_eq!(grouped.separators.len(), shape.len() + 1);
        for (size, group) in shape.iter().zip(grouped.groups()) {
            assert_eq!(group.iter().map(|iter| iter.extent).product::<u64>(), *size);
        }
        for index in 0..layout.size() {
            assert_eq!(
                places(&grouped.layout, index),
                places(layout, index),
                "{layout} by {shape:?}"
            );
        }
    }
    let all = shapes(layout.size());
    for shapes in all.windows(2) {
        let refs: Vec<&[u64]> = shapes.iter().map(Vec::as_slice).collect();
        let Ok((cut, separators)) = layout.group_many(&refs) else { continue };
        for (shape, ends) in shapes.iter().zip(separators) {
            for (size, ends) in shape.iter().zip(ends.windows(2)) {
                let group = &cut.shard()[ends[0]..ends[1]];
                assert_eq!(group.iter().map(|iter| iter.extent).product::<u64>(), *size);
            }
        }
        for index in 0..layout.size() {
            assert_eq!(places(&cut, index), places(layout, index), "{layout} by {shapes:?}");
        }
    }
}

#[test]
fn law_groups_keep_every_place() {
    all_small().iter().for_each(check_groups);
    proptest!(seeded(200), |(layout in tiles())| check_groups(&layout));
}

/// The place of `inner` moved by the place of `outer`, whose steps count `units`.
fn check_within(inner: &TileLayout, outer: &TileLayout, spans: bool) {
    for (inner_shape, outer_shape) in shapes(inner.size()).iter().zip(shapes(outer.size())) {
        if inner_shape.len() != outer_shape.len() {
            continue;
        }
        let tiled = if spans {
            inner.tile(outer, &outer_shape, inner_shape)
        } else {
            inner.direct_sum(outer, &outer_shape, inner_shape)
        };
        let Ok(tiled) = tiled else { continue };
        let shape: Vec<u64> = outer_shape.iter().zip(inner_shape).map(|(a, b)| a * b).collect();
        for index in 0..tiled.size() {
            let at = coordinates(&shape, index);
            let part = |f: fn(u64, u64) -> u64| -> Vec<u64> {
                at.iter().zip(inner_shape).map(|(&at, &size)| f(at, size)).collect()
            };
            let inside = inner.apply(inner_shape, &part(|at, size| at % size)).expect("an element");
            let tile = outer.apply(&outer_shape, &part(|at, size| at / size)).expect("an element");
            let offset = |axis| outer.offset().get(&axis).copied().unwrap_or(0);
            let unit = |axis| if spans { inner.span(axis) } else { 1 };
            let moved = tile
                .into_iter()
                .map(|(axis, at)| (axis, (at - offset(axis)) * unit(axis) + offset(axis)));
            let required = place(inside.into_iter().chain(moved));
            assert_eq!(place(tiled.place(index)), required, "{inner} in {outer} at {at:?}");
        }
        let found = if spans {
            inner.is_tile_inner(&tiled, &shape, inner_shape)
        } else {
            inner.is_direct_sum_right(&tiled, &shape, inner_shape)
        };
        // Another outer layout may give the same tiles; then it is that one which is found.
        if let Some(found) = found {
            let again = if spans {
                inner.tile(&found, &outer_shape, inner_shape)
            } else {
                inner.direct_sum(&found, &outer_shape, inner_shape)
            };
            assert_eq!(again.as_ref(), Ok(&tiled));
        } else {
            // Joined copies cannot be told apart, and digits of an inner span of 0 leave no trace.
            let joined = tiled.replica().len() < inner.replica().len() + outer.replica().len();
            let lost = AXES.iter().any(|&axis| inner.span(axis) == 0);
            assert!(joined || lost, "{inner} in {outer} by {outer_shape:?} is {tiled}");
        }
    }
}

#[test]
fn law_a_tile_of_tiles_places_each() {
    proptest!(seeded(300), |(inner in tiles(), outer in tiles())| check_within(&inner, &outer, true));
}

#[test]
fn law_a_direct_sum_adds_places() {
    proptest!(seeded(300), |(inner in tiles(), outer in tiles())| check_within(&inner, &outer, false));
}

#[test]
fn law_recognisers_undo_tiling() {
    let small: Vec<TileLayout> =
        all_small().into_iter().filter(|layout| layout.shard().len() == 2).collect();
    for (inner, outer) in small.iter().flat_map(|a| small.iter().map(move |b| (a, b))) {
        let shapes = [
            [outer.shard()[0].extent, outer.shard()[1].extent],
            [inner.shard()[0].extent, inner.shard()[1].extent],
        ];
        let whole = [shapes[0][0] * shapes[1][0], shapes[0][1] * shapes[1][1]];
        let tiled = inner.tile(outer, &shapes[0], &shapes[1]).expect("their own shapes");
        let sum = inner.direct_sum(outer, &shapes[0], &shapes[1]).expect("their own shapes");
        let outer = outer.canonicalize(Scopes::Kept);
        let inner = inner.canonicalize(Scopes::Kept);
        let same = |found: Option<TileLayout>, required: &TileLayout| {
            let found = found.unwrap_or_else(|| panic!("{inner} in {outer}"));
            (0..found.size()).all(|index| places(&found, index) == places(required, index))
        };
        assert!(same(inner.is_tile_inner(&tiled, &whole, &shapes[1]), &outer));
        assert!(same(outer.is_tile_outer(&tiled, &whole, &shapes[0]), &inner));
        assert!(same(inner.is_direct_sum_right(&sum, &whole, &shapes[1]), &outer));
        assert!(same(outer.is_direct_sum_left(&sum, &whole, &shapes[0]), &inner));
    }
}

/// Every window of every shape: those that have a layout have the right one.
fn check_windows(layout: &TileLayout) -> usize {
    let mut windows = 0;
    for shape in shapes(layout.size()) {
        let ranges = |size: u64| {
            (0..size).flat_map(move |begin| (1..=size - begin).map(move |extent| (begin, extent)))
        };
        for first in ranges(shape[0]) {
            let mut region = vec![first];
            // One range along the other axes suffices: axes do not influence one another.
            region.extend(shape[1..].iter().map(|&size| (size / 2, size - size / 2)));
            let Ok(window) = layout.slice(&shape, &region) else { continue };
            windows += 1;
            let extents: Vec<u64> = region.iter().map(|&(_, extent)| extent).collect();
            for index in 0..window.size() {
                let at: Vec<u64> = coordinates(&extents, index)
                    .iter()
                    .zip(&region)
                    .map(|(at, (begin, _))| at + begin)
                    .collect();
                let required = places(layout, index_of(&shape, &at));
                assert_eq!(places(&window, index), required, "{layout} as {shape:?}, {region:?}");
            }
        }
    }
    windows
}

#[test]
fn law_a_window_leaves_its_elements_where_they_are() {
    let windows: usize = all_small().iter().map(check_windows).sum();
    assert!(windows > 3_000, "{windows} windows have a layout");
    proptest!(seeded(400), |(layout in tiles())| {
        if layout.size() <= 72 {
            check_windows(&layout);
        }
    });
}

#[test]
fn law_pack_undoes_unpack() {
    proptest!(seeded(200), |(layout in tiles(), count in 1_u64..5)| {
        let small = layout.unpack(count).expect("small numbers");
        prop_assert_eq!(small.size(), layout.size() * count);
        prop_assert_eq!(small.pack(count), Ok(layout.clone()));
        for index in 0..small.size() {
            let factor = |axis: TileAxis| if axis.is_thread() { 1 } else { count.cast_signed() };
            let whole = layout.place(index / count).into_iter();
            let scaled = whole.map(|(axis, at)| (axis, at * factor(axis)));
            let within = (TileAxis::Memory, (index % count).cast_signed());
            prop_assert_eq!(place(small.place(index)), place(scaled.chain([within])));
        }
    });
}

#[test]
fn law_permuting_digits_permutes_axes() {
    proptest!(seeded(200), |(layout in tiles())| {
        let extents: Vec<u64> = layout.shard().iter().map(|iter| iter.extent).collect();
        let order: Vec<usize> = (0..extents.len()).rev().collect();
        let turned = layout.permute_dims(&order).expect("every digit once");
        for index in 0..layout.size() {
            let mut at = coordinates(&extents, index);
            at.reverse();
            let shape: Vec<u64> = extents.iter().rev().copied().collect();
            let required = places(&layout, index);
            prop_assert_eq!(places(&turned, index_of(&shape, &at)), required);
        }
    });
}

/// What a place along the axes of tile layouts is along dimensions.
fn position(at: &Place, threads: bool) -> BTreeMap<Dim, u32> {
    let memory = if threads { Dim::Register } else { Dim::Offset };
    let dims = [
        (TileAxis::Memory, memory),
        (TileAxis::TLane, Dim::Row),
        (TileAxis::TCol, Dim::Col),
        (TileAxis::LaneId, Dim::Lane),
        (TileAxis::WarpId, Dim::Warp),
    ];
    let named = |(&axis, &amount): (&TileAxis, &i64)| {
        let dim = dims.iter().find(|(other, _)| *other == axis).expect("an axis of the samples").1;
        (dim, u32::try_from(amount).expect("places are not negative"))
    };
    at.iter().map(named).collect()
}

fn check_linear(tile: &TileLayout, linear: &Layout, threads: bool) {
    let shape: Vec<u64> = linear.shape().into_iter().map(u64::from).collect();
    for index in 0..tile.size() {
        let required: Vec<u32> = coordinates(&shape, index)
            .into_iter()
            .map(|at| u32::try_from(at).expect("small"))
            .collect();
        for at in places(tile, index) {
            let at: Vec<(Dim, u32)> = position(&at, threads).into_iter().collect();
            assert_eq!(linear.apply(&at), required, "{tile} is {linear}");
        }
    }
    assert_eq!(
        1 << linear.in_bits(),
        tile.size() * tile.replicas().len() as u64,
        "{tile}: no gaps"
    );
}

#[test]
fn law_linear_and_tile_agree() {
    // Permutations of bits, with some of them leading nowhere.
    let dims = [Dim::Register, Dim::Lane, Dim::Warp];
    let order = Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle();
    proptest!(seeded(300), |(order in order, free in 0_usize..3, memory in any::<bool>())| {
        let bits = 7 - free;
        let bases: Vec<Vec<u32>> = order
            .iter()
            .map(|&bit| vec![if bit < bits { 1 << bit } else { 0 }])
            .collect();
        let ins = if memory {
            vec![(Dim::Row, bases[..3].to_vec()), (Dim::Col, bases[3..].to_vec())]
        } else {
            dims.iter().zip([&bases[..2], &bases[2..6], &bases[6..]]).map(|(&dim, b)| (dim, b.to_vec())).collect()
        };
        let linear = Layout::new(ins, vec![(Dim::Axis(0), 1 << bits)]).expect("bases of a tensor");
        let linear = linear.reshape(&[1 << (bits / 2), 1 << (bits - bits / 2)]);
        let tile = TileLayout::from_linear(&linear).expect("every bit once");
        check_linear(&tile, &linear, !memory);
        prop_assert_eq!(tile.to_linear(&linear.shape()), Ok(linear));
    });
    // And the other way round: whatever tile is linear.
    proptest!(seeded(400), |(layout in tiles())| {
        let size = u32::try_from(layout.size()).expect("small");
        if let Ok(linear) = layout.canonicalize(Scopes::Fused).to_linear(&[size]) {
            let again = TileLayout::from_linear(&linear).expect("it was one");
            prop_assert!(again.is_trivial() || again.size() == layout.size());
            for index in 0..layout.size() {
                prop_assert_eq!(in_threads(places(&again, index)), in_threads(places(&layout, index)));
            }
        }
    });
}

#[test]
fn law_swizzled_tiles_agree_with_linear_layouts() {
    for (low, len, up) in [(3, 3, 3), (0, 2, 3), (2, 1, 4), (4, 3, 3), (1, 0, 0)] {
        let swizzle = Swizzle::new(low, len, up, Reading::Inner).expect("a swizzle");
        for tile in ["S[1024 : 1]", "S[(32, 32) : (1, 32)]", "S[(16, 4, 16) : (16, 256, 1)]"] {
            let tile: TileLayout = tile.parse().expect("a layout");
            let layout = ComposeLayout::new(swizzle, tile).expect("along memory");
            let linear = layout.to_linear(&[1024]).expect("powers of two");
            for index in 0..1024 {
                let at = layout.apply(&[1024], &[index.into()]).expect("an element");
                let at = u32::try_from(at).expect("small");
                assert_eq!(linear.apply(&[(Dim::Offset, at)]), [index]);
            }
            let again = ComposeLayout::from_linear(&linear).expect("it was one");
            assert_eq!(again.to_linear(&[1024]), Ok(linear));
        }
    }
    // Any exchange of bits that is none of these is refused.
    proptest!(seeded(200), |(layout in bijections(vec![(Dim::Offset, 6)], vec![(Dim::Axis(0), 6)]))| {
        if let Ok(tile) = ComposeLayout::from_linear(&layout) {
            prop_assert_eq!(tile.to_linear(&[64]), Ok(layout));
        }
    });
}

#[test]
fn law_a_swizzle_undoes_itself() {
    for reading in [Reading::Inner, Reading::Outer] {
        for (low, len, up) in [(0, 1, 1), (3, 3, 3), (2, 2, 5), (4, 3, 4)] {
            let swizzle = Swizzle::new(low, len, up, reading).expect("a swizzle");
            for at in 0..4096 {
                assert_eq!(swizzle.apply(swizzle.apply(at)), at);
            }
        }
    }
}
