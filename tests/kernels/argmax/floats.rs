//! NaN loses against numbers; of a line of NaNs the index is 0, and zeros of both signs are equal.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[4, 8] list(nan, 1, 5, nan, 5, 2, -3, -3, nan, nan, nan, nan, nan, nan, nan, nan, -0.0, 0, -0.0, 0, 0, 0, 0, 0, inf, -inf, inf, -inf, nan, 0, 0, 0)
//@ arg h: f16[4, 64] uniform(-1, 1)
//@ arg high: i32[4] poison
//@ arg low: i32[4] poison
//@ arg one: i32[1] poison
//@ arg half: i32[4] poison
//@ expect high: if i == 0 { 2 } else { 0 }
//@ expect low: if i == 0 { 6 } else { if i == 3 { 1 } else { 0 } }
//@ expect one: 24
//@ expect half: least(n, 0, 64, if h(i, n) == most(m, 0, 64, h(i, m)) { n } else { 64 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 2]))]
pub fn floats<const W: i32>(
    x: Tensor<f32, 2>,
    h: Tensor<f16, 2>,
    high: TensorMut<i32, 1>,
    low: TensorMut<i32, 1>,
    one: TensorMut<i32, 1>,
    half: TensorMut<i32, 1>,
) {
    let x = x.tile([0, 0], [4, 8]).load();
    high.tile([0], [4]).store(x.argmax(1));
    low.tile([0], [4]).store(x.argmin(1));
    one.tile([0], [1]).store(x.reshape([32]).argmax(0).expand(0));
    half.tile([0], [4]).store(h.tile([0, 0], [4, 64]).load().argmax(1));
}
