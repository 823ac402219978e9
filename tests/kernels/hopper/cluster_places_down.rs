//! Where a block stands in a cluster along the second axis of the grid.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg out: i32[3, 4, 4] poison
//@ expect out: if k == 0 { j % 2 } else { if k == 1 { 0 } else { if k == 2 { j % 2 } else { i * 100 + j / 2 } } }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, cluster = [1, 2], grid = [out.dim(0), out.dim(1)])]
pub fn cluster_places_down(out: TensorMut<i32, 3>) {
    let k = arange(0, 4);
    let mut tile = full([4], cluster::rank());
    tile = select(k.eq(1), full([4], cluster::block_id(0)), tile);
    tile = select(k.eq(2), full([4], cluster::block_id(1)), tile);
    tile = select(k.eq(3), full([4], cluster::id(0) * 100 + cluster::id(1)), tile);
    out.tile([block_id(0), block_id(1), 0], [1, 1, 4]).store(tile.expand(0).expand(0));
}
