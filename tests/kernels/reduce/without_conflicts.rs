//! Partial sums of warps meet in shared memory without bank conflicts, along either axis.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg x: f32[128, 64] list(1, -2, 3, 4, -5)
//@ arg rows: f32[128] poison
//@ arg columns: f32[64] poison
//@ arg most: i32[64] poison
//@ expect rows: sum(k, 0, 64, x(i, k))
//@ expect columns: sum(k, 0, 128, x(k, i))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8, 16]))]
pub fn without_conflicts<const W: i32>(
    x: Tensor<f32, 2>,
    rows: TensorMut<f32, 1>,
    columns: TensorMut<f32, 1>,
    most: TensorMut<i32, 1>,
) {
    let v = x.tile([0, 0], [128, 64]).load();
    rows.tile([0], [128]).store(v.sum(1));
    columns.tile([0], [64]).store(v.sum(0));
    most.tile([0], [64]).store(v.argmax(0));
}
