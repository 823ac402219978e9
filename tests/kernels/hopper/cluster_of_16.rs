//! A cluster of sixteen blocks, more than every device holds: each adds its number to what the one before it has.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg out: i32[32] poison
//@ expect out: i % 16 + (i + 15) % 16
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, cluster = 16, grid = 32)]
pub fn cluster_of_16(out: TensorMut<i32, 1>) {
    let rank = cluster::rank();
    let cell = shared::<i32>([1]);
    cell.store(full([1], rank));
    cluster::sync();
    let before = cell.of_block((rank + 15) % 16).load();
    out.tile([block_id(0)], [1]).store(before + rank);
    cluster::sync();
}
