//! What one block writes to another and tells it by arriving at its barrier, the other sees behind its wait.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[6, 256] uniform(-8, 8)
//@ arg out: f32[6, 256] poison
//@ expect out: if i % 2 == 1 { x(i - 1, j) + x(i, j) } else { x(i, j) }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, cluster = [2, 1], grid = x.dim(0))]
pub fn cluster_arrive(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = block_id(0);
    let given = shared::<f32>([256]);
    let there = barrier(1);
    let mut row = x.tile([at, 0], [1, 256]).load().reshape([256]);
    if cluster::rank() == 0 {
        given.of_block(1).store(row);
        there.of_block(1).arrive();
    } else {
        there.wait(0);
        row += given.load();
    }
    out.tile([at, 0], [1, 256]).store(row.expand(0));
}
