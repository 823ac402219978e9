//! Every schedule gives each tile to one block, once.

use kiln::prelude::*;
use kiln::sched::{Clustered, Dynamic, Grouped, Linear, Persistent, Schedule};

/// Rows and columns of tiles: one tile, one row, one column, groups that are full and that are not.
const SIZES: [[i32; 2]; 7] = [[1, 1], [1, 7], [7, 1], [4, 4], [5, 3], [12, 9], [13, 6]];

/// What an order makes of a matrix of tiles.
fn all<S: Schedule>([rows, columns]: [i32; 2]) -> Vec<(i32, i32)> {
    let order = S::new(rows, columns);
    (0..order.count()).map(|i| order.tile(i)).collect()
}

#[track_caller]
fn each_once<S: Schedule>() {
    for size @ [rows, columns] in SIZES {
        let mut tiles = all::<S>(size);
        tiles.sort_unstable();
        let required: Vec<(i32, i32)> =
            (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).collect();
        assert_eq!(tiles, required, "{rows} x {columns}");
    }
}

#[test]
fn orders_have_each_tile_once() {
    each_once::<Linear>();
    each_once::<Grouped<1>>();
    each_once::<Grouped<4>>();
    each_once::<Grouped<16>>();
}

#[test]
fn rows_follow_one_another() {
    assert_eq!(all::<Linear>([2, 3]), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
}

#[test]
fn groups_go_column_after_column_and_the_last_has_what_is_left() {
    assert_eq!(all::<Grouped<2>>([3, 2]), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]);
}

/// Writes to each tile which block computes it, and in which turn; `seen` counts the tiles of each block.
#[kernel(target = sm_90a, warps = 1, cluster = [C, 1],
         instances((S, C) = [(Persistent<Linear>, 1), (Persistent<Grouped<3>>, 1), (Clustered<Linear>, 2), (Clustered<Grouped<3>>, 4)]))]
fn visit<S: Schedule, const C: i32>(places: TensorMut<i32, 2>, seen: TensorMut<i32, 1>) {
    let [rows, columns] = places.dims();
    let tiles = S::new(rows, columns);
    let mut count = 0;
    for i in 0..tiles.count() {
        let (row, column) = tiles.tile(i);
        if row < rows {
            count += 1;
            places.tile([row, column], [1, 1]).store(full([1, 1], 1000 * i + block_id(0)));
        }
    }
    seen.tile([block_id(0)], [1]).store(full([1], count));
}

type Make = for<'a> fn(visit::Args<'a>) -> Launch<'a>;

/// (turn, block) of each tile, row after row.
fn visits(make: Make, [rows, columns]: [i32; 2], blocks: i32) -> Result<Vec<(i32, i32)>> {
    let size = |extent: i32| usize::try_from(extent).expect("sizes are natural");
    let stream = Device::emulator(Target::Sm90a)?.stream()?;
    let mut places = stream.full([size(rows), size(columns)], -1)?;
    let mut seen = stream.zeros([size(blocks)])?;
    make(visit::Args { places: &mut places, seen: &mut seen }).grid(blocks).launch(&stream)?;
    let places = places.to_vec(&stream)?;
    // As many visits as tiles, and no tile without one: each had one.
    assert_eq!(seen.to_vec(&stream)?.iter().sum::<i32>(), rows * columns);
    assert!(places.iter().all(|&place| place >= 0), "{rows} x {columns}: {places:?}");
    Ok(places.iter().map(|place| (place / 1000, place % 1000)).collect())
}

#[test]
fn blocks_that_stay_share_all_tiles() -> Result<()> {
    for size in SIZES {
        for blocks in [1, 3, 8] {
            let linear = visits(visit::<Persistent<Linear>, 1>, size, blocks)?;
            for (at, visit) in (0..).zip(&linear) {
                assert_eq!(*visit, (at / blocks, at % blocks), "{size:?}, {blocks} blocks");
            }
            visits(visit::<Persistent<Grouped<3>>, 1>, size, blocks)?;
        }
    }
    Ok(())
}

/// The blocks of a cluster compute tiles below one another in the same turn, at sizes that are no multiple of a cluster too.
#[test]
fn blocks_of_a_cluster_share_columns() -> Result<()> {
    for size in SIZES {
        for clusters in [1, 3] {
            let pairs = visits(visit::<Clustered<Linear>, 2>, size, 2 * clusters)?;
            below_one_another(&pairs, size, 2);
            let fours = visits(visit::<Clustered<Grouped<3>>, 4>, size, 4 * clusters)?;
            below_one_another(&fours, size, 4);
        }
    }
    Ok(())
}

fn below_one_another(visits: &[(i32, i32)], [_, columns]: [i32; 2], cluster: i32) {
    let columns = usize::try_from(columns).expect("sizes are natural");
    for (row, line) in (0..).zip(visits.chunks(columns)) {
        for (column, &(turn, block)) in line.iter().enumerate() {
            let rank = row % cluster;
            assert_eq!(block % cluster, rank, "row {row}, column {column}");
            if rank > 0 {
                let above = usize::try_from(row - 1).expect("a row above") * columns + column;
                assert_eq!(visits[above], (turn, block - 1), "row {row}, column {column}");
            }
        }
    }
}

/// Writes to each tile which block computes it; `seen` counts the tiles of each block.
#[kernel(target = sm_100a, warps = 1, cluster = [C, 1],
         grid = C * cdiv(places.dim(0), C) * places.dim(1),
         instances((S, C) = [(Linear, 1), (Grouped<3>, 1), (Linear, 2), (Grouped<3>, 4)]))]
fn claim<S: Schedule, const C: i32>(places: TensorMut<i32, 2>, seen: TensorMut<i32, 1>) {
    let [rows, columns] = places.dims();
    let tiles = Dynamic::<S>::new(rows, columns, 1);
    let work = || {
        let (mut count, mut claim) = (0, tiles.first());
        while claim.more {
            let (row, column) = tiles.tile(claim);
            if row < rows {
                count += 1;
                places.tile([row, column], [1, 1]).store(full([1, 1], block_id(0)));
            }
            claim = tiles.next(claim);
        }
        seen.tile([block_id(0)], [1]).store(full([1], count));
    };
    warp_specialize(work, [partition(1).run(|| tiles.ask())]);
}

#[test]
fn blocks_that_are_done_take_tiles_over_and_each_is_computed_once() -> Result<()> {
    let stream = Device::emulator(Target::Sm100a)?.stream()?;
    let size = |extent: i32| usize::try_from(extent).expect("sizes are natural");
    for [rows, columns] in SIZES {
        for one in claim::instances() {
            let blocks = (rows + one.C - 1) / one.C * one.C * columns;
            let mut places = stream.full([size(rows), size(columns)], -1)?;
            let mut seen = stream.zeros([size(blocks)])?;
            one.with(claim::Args { places: &mut places, seen: &mut seen }).launch(&stream)?;
            let (places, seen) = (places.to_vec(&stream)?, seen.to_vec(&stream)?);
            assert!(places.iter().all(|&block| (0..blocks).contains(&block)), "{places:?}");
            assert_eq!(seen.iter().sum::<i32>(), rows * columns, "{rows} x {columns}: {seen:?}");
        }
    }
    Ok(())
}
