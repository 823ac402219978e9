//! Blocks of a cluster: one copy reaches both, and each tells the other when it has read it, before the next one comes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[4, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg out: f32[4, 128] poison
//@ expect out: x(i, j % 64) * (1 + j / 64)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = 2, cluster = 2)]
pub fn cluster_exchange(#[block(1, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>) {
    let staged = shared::<f32>([64]);
    let (filled, read) = (barrier(1), barrier(2));
    let rank = cluster::rank();
    cluster::sync(); // the barriers of both blocks are there
    for row in 0..x.dim(0) {
        // Both have read the row before; the first row comes into memory that nobody has read.
        read.wait(1 ^ (row & 1));
        filled.expect(x.block_bytes());
        tma::load(x, [row, 0], filled, staged).multicast(0b11).when(rank == row & 1);
        filled.wait(row & 1);
        let scale = (rank + 1) as f32;
        out.tile([row, rank * 64], [1, 64]).store((staged.load() * scale).reshape([1, 64]));
        read.of_block(0).arrive();
        read.of_block(1).arrive();
    }
    cluster::sync(); // nobody leaves while the other arrives here
}
