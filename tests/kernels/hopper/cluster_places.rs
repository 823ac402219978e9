//! Where a block stands in its cluster, and the cluster in the grid: on two axes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg out: i32[4, 6, 8] poison
//@ expect out: if k == 0 { i % 2 } else { if k == 1 { 2 } else { if k == 2 { i % 2 } else { if k == 3 { 0 } else { if k == 4 { i / 2 } else { if k == 5 { j } else { if k == 6 { i } else { j } } } } } } }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, cluster = [2, 1], grid = [out.dim(0), out.dim(1)])]
pub fn cluster_places(out: TensorMut<i32, 3>) {
    let k = arange(0, 8);
    let mut tile = full([8], cluster::rank());
    tile = select(k.eq(1), full([8], cluster::size()), tile);
    tile = select(k.eq(2), full([8], cluster::block_id(0)), tile);
    tile = select(k.eq(3), full([8], cluster::block_id(1)), tile);
    tile = select(k.eq(4), full([8], cluster::id(0)), tile);
    tile = select(k.eq(5), full([8], cluster::id(1)), tile);
    tile = select(k.eq(6), full([8], block_id(0)), tile);
    tile = select(k.eq(7), full([8], block_id(1)), tile);
    out.tile([block_id(0), block_id(1), 0], [1, 1, 8]).store(tile.expand(0).expand(0));
}
