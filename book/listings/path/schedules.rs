use std::collections::BTreeSet;

use kiln::sched::{Grouped, Linear, Schedule};

/// The multiprocessors of an H200, each with one block.
const BLOCKS: i32 = 132;

// ANCHOR: read
/// Rows of `a` and columns of `b` that the first tiles of all blocks need, of a result of
/// 8192 × 8192 in tiles of 128 × 256.
fn read<S: Schedule>() -> (usize, usize) {
    let order = S::new(8192 / 128, 8192 / 256);
    let tiles: Vec<(i32, i32)> = (0..BLOCKS).map(|i| order.tile(i)).collect();
    let rows: BTreeSet<i32> = tiles.iter().map(|tile| tile.0).collect();
    let columns: BTreeSet<i32> = tiles.iter().map(|tile| tile.1).collect();
    (rows.len() * 128, columns.len() * 256)
}
// ANCHOR_END: read

pub fn main() -> kiln::Result<()> {
    println!("{:>11}  {:>9}  {:>12}  {:>5}", "", "rows of a", "columns of b", "both");
    for (name, (rows, columns)) in
        [("Linear", read::<Linear>()), ("Grouped<16>", read::<Grouped<16>>())]
    {
        println!("{name:>11}  {rows:>9}  {columns:>12}  {:>5}", rows + columns);
    }
    // ANCHOR: rounds
    for extent in [2048, 4096, 8192] {
        let tiles = (extent / 128) * (extent / 256);
        let rounds = (tiles + BLOCKS - 1) / BLOCKS;
        let busy = 100 * tiles / (rounds * BLOCKS);
        println!("{extent}: {tiles} tiles, rounds: {rounds}, multiprocessors busy: {busy}%");
    }
    // ANCHOR_END: rounds
    Ok(())
}
