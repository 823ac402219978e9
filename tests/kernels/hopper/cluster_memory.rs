//! Blocks of a cluster read each other's shared memory and write to it: rows go round, tiles to the other end. Nothing but the
//! meetings that the program needs for itself is written out: that all blocks have begun, and that none ends early, is not.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[8, 16, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4, 5, 6)
//@ arg read: T[8, 16, 64] poison
//@ arg written: T[8, 16, 64] poison
//@ expect read: x(i / 4 * 4 + (i + 1) % 4, j, k)
//@ expect written: x(i / 4 * 4 + 3 - i % 4, j, k)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, cluster = 4, grid = x.dim(0), instances(T = [i8, f16, bf16, f32, i32, f64]))]
pub fn cluster_memory<T: Number>(
    x: Tensor<T, 3>,
    read: TensorMut<T, 3>,
    written: TensorMut<T, 3>,
) {
    let (at, rank) = (block_id(0), cluster::rank());
    let tile = x.tile([at, 0, 0], [1, 16, 64]).load().reshape([16, 64]);
    let there = shared::<T>([16, 64]);
    there.of_block(cluster::size() - 1 - rank).store(tile);
    let here = shared::<T>([2, 16, 64]);
    here[1].store(tile);
    cluster::sync();
    written.tile([at, 0, 0], [1, 16, 64]).store(there.load().expand(0));
    let next = here.of_block((rank + 1) % cluster::size());
    read.tile([at, 0, 0], [1, 16, 64]).store(next[1].load().expand(0));
}
