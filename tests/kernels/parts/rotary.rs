//! Rotary embedding: pairs that stand half a row apart, by parts and `concat`, and the halves of an accumulator.
//@ run: eval, emulate, gpu
//@ compare: rtol=1e-5 atol=1e-5
//@ arg x: f32[32, 64] uniform(-1, 1)
//@ arg angle: f32[32, 32] uniform(-3, 3)
//@ arg a: f16[32, 16] uniform(-1, 1)
//@ arg b: f16[16, 64] uniform(-1, 1)
//@ arg out: f32[32, 64] poison
//@ arg gated: f32[32, 32] poison
//@ expect out: if j < 32 { x(i, j) * cos(angle(i, j)) - x(i, j + 32) * sin(angle(i, j)) } else { x(i, j) * cos(angle(i, j - 32)) + x(i, j - 32) * sin(angle(i, j - 32)) }
//@ expect gated: sum(k, 0, 16, a(i, k) * b(k, j)) * sum(k, 0, 16, a(i, k) * b(k, j + 32))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn rotary(
    x: Tensor<f32, 2>,
    angle: Tensor<f32, 2>,
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    out: TensorMut<f32, 2>,
    gated: TensorMut<f32, 2>,
) {
    let x = x.tile([0, 0], [32, 64]).load();
    let angle = angle.tile([0, 0], [32, 32]).load();
    let (sin, cos) = (angle.sin(), angle.cos());
    let (p, q) = (x.slice((.., 0..32)), x.slice((.., 32..64)));
    out.tile([0, 0], [32, 64]).store((p * cos - q * sin).concat(q * cos + p * sin, 1));
    let a = a.tile([0, 0], [32, 16]).load();
    let b = b.tile([0, 0], [16, 64]).load();
    let both = dot(a, b, zeros([32, 64]));
    gated.tile([0, 0], [32, 32]).store(both.slice((.., 0..32)) * both.slice((.., 32..64)));
}
