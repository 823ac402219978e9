//! Rank 4 and 5.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[3, 2, 4, 5, 8] bits
//@ arg out: f32[3, 2, 4, 5, 8] poison
//@ arg sums: f32[3, 2, 4, 8] poison
//@ arg x: f32[3, 2, 4, 5, 8] list(1, 2, 3, -4, 5)
//@ expect out: x(i, j, k, l, m)
//@ expect sums: sum(n, 0, 5, x(i, j, k, n, l))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn rank5(x: Tensor<f32, 5>, out: TensorMut<f32, 5>, sums: TensorMut<f32, 4>) {
    let v = x.tile([0, 0, 0, 0, 0], [4, 2, 4, 8, 8]).load();
    out.tile([0, 0, 0, 0, 0], [4, 2, 4, 8, 8]).store(v);
    sums.tile([0, 0, 0, 0], [4, 2, 4, 8]).store(v.sum(3));
}
