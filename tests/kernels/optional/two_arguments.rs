//! Two arguments that may be absent: each of the four choices computes with what is there, in every variant.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[37, 50] list(1, -2, 0.5, 3, nan, -4, inf, 0, -0.25)
//@ arg bias: f32[50] list(0.5, -1, 2, -inf, 8)
//@ arg scale: f32 scalar 4.0
//@ arg out: f32[37, 50] poison
//@ case: both
//@ expect out: (x(i, j) + bias(j)) * 4.0
//@ case: no bias
//@ arg bias: none
//@ expect out: x(i, j) * 4.0
//@ case: no scale
//@ arg scale: none
//@ expect out: x(i, j) + bias(j)
//@ case: neither
//@ arg bias: none
//@ arg scale: none
//@ expect out: x(i, j)
//@ case: both, aligned
//@ arg x: f32[16, 64] iota(-100.0, 0.5)
//@ arg bias: f32[64] iota(1.0, 1.0)
//@ arg out: f32[16, 64] poison
//@ expect out: (x(i, j) + bias(j)) * 4.0
//@ case: no bias, aligned
//@ arg x: f32[16, 64] iota(-100.0, 0.5)
//@ arg bias: none
//@ arg out: f32[16, 64] poison
//@ expect out: x(i, j) * 4.0
//@ case: every other element of the bias
//@ arg bias: f32[50] iota(1.0, 1.0) strides(2) offset(1)
//@ expect out: (x(i, j) + bias(j)) * 4.0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(0), 16), cdiv(out.dim(1), 32)])]
pub fn two_arguments(
    x: Tensor<f32, 2>,
    bias: Option<Tensor<f32, 1>>,
    scale: Option<f32>,
    out: TensorMut<f32, 2>,
) {
    let at = [block_id(0) * 16, block_id(1) * 32];
    let mut acc = x.tile(at, [16, 32]).load();
    if let Some(bias) = bias {
        acc = acc + bias.tile([at[1]], [32]).load().expand(0);
    }
    acc = match scale {
        Some(scale) => acc * scale,
        None => acc,
    };
    out.tile(at, [16, 32]).store(acc);
}
