//! Registers that repeat elements without a basis of zero: each element counts once.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[16, 4] list(1, -2, 3, 4, -5)
//@ arg rows: f32[16] poison
//@ arg columns: f32[4] poison
//@ expect rows: sum(k, 0, 4, x(i, k))
//@ expect columns: sum(k, 0, 16, x(k, i))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn repeated_registers(x: Tensor<f32, 2>, rows: TensorMut<f32, 1>, columns: TensorMut<f32, 1>) {
    let twice = linear(
        [[0, 1], [0, 2], [1, 0], [1, 0]],
        [[2, 0], [4, 0], [8, 0], [0, 0], [0, 0]],
        [],
        [16, 4],
    );
    let sums = linear(
        [[0, 1], [0, 2], [0, 3], [1, 0]],
        [[2, 0], [4, 0], [8, 0], [0, 0], [0, 0]],
        [],
        [16, 4],
    );
    let v = x.tile([0, 0], [16, 4]).load();
    rows.tile([0], [16]).store(v.to_layout(twice).sum(1));
    columns.tile([0], [4]).store(v.to_layout(sums).sum(0));
}
