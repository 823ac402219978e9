//! A scalar on either side of an operator, as a literal, a parameter or an expression.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[70] uniform(-4, 4)
//@ arg n: i32[70] uniform(-50, 50)
//@ arg s: f32 scalar 0.75
//@ arg m: i32 scalar 7
//@ arg out: f32[70] poison
//@ arg ints: i32[70] poison
//@ expect ints: (2 * n(i) + m - (100 - n(i)) * (m + 1)) / 3
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn scalar_operands(
    x: Tensor<f32, 1>,
    n: Tensor<i32, 1>,
    s: f32,
    m: i32,
    out: TensorMut<f32, 1>,
    ints: TensorMut<i32, 1>,
) {
    let x = x.tile([0], [128]).load();
    let mut y = 2.0 * x + s;
    y -= 1.5;
    y *= s * 3.0;
    y /= 1.0 + s;
    out.tile([0], [128]).store(y - m as f32);
    let n = n.tile([0], [128]).load();
    ints.tile([0], [128]).store((2 * n + m - (100 - n) * (m + 1)) / 3);
}
