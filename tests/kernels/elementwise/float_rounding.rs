//! Rounding to integral values in five ways, and magnitudes with the signs of others.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] list(0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49, -0.49, 0.75, 3.5, 100.25, -100.75, inf, -inf, nan, 1024.0, -2048.0, 0.001, 127.5, -127.5, 126.5)
//@ arg y: T[64] list(1.0, -1.0, -0.0, 0.0, inf, -inf, -2.0)
//@ arg trunc: T[64] poison
//@ arg away: T[64] poison
//@ arg even: T[64] poison
//@ arg sign: T[64] poison
//@ arg of_scalars: f32[4, 64] poison
//@ expect trunc: if x(i) < 0.0 { ceil(x(i)) } else { floor(x(i)) }
//@ expect away: if x(i) < 0.0 { ceil(x(i) - 0.5) } else { if x(i) > 0.0 { floor(x(i) + 0.5) } else { x(i) } }
//@ expect even: if x(i) < 0.0 { -(if -x(i) - floor(-x(i)) == 0.5 { 2.0 * floor(-x(i) / 2.0 + 0.5) } else { floor(0.5 - x(i)) }) } else { if x(i) > 0.0 { if x(i) - floor(x(i)) == 0.5 { 2.0 * floor(x(i) / 2.0 + 0.5) } else { floor(x(i) + 0.5) } } else { x(i) } }
//@ expect sign: if y(i) < 0.0 || 1.0 / y(i) < 0.0 { -abs(x(i)) } else { abs(x(i)) }
//@ expect of_scalars: if i == 0 { if x(j) < 0.0 { ceil(x(j)) } else { floor(x(j)) } } else { if i == 1 { if x(j) < 0.0 { ceil(x(j) - 0.5) } else { if x(j) > 0.0 { floor(x(j) + 0.5) } else { x(j) } } } else { if i == 2 { if x(j) < 0.0 { -(if -x(j) - floor(-x(j)) == 0.5 { 2.0 * floor(-x(j) / 2.0 + 0.5) } else { floor(0.5 - x(j)) }) } else { if x(j) > 0.0 { if x(j) - floor(x(j)) == 0.5 { 2.0 * floor(x(j) / 2.0 + 0.5) } else { floor(x(j) + 0.5) } } else { x(j) } } } else { -abs(x(j)) } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_rounding<T: Float>(
    x: Tensor<T, 1>,
    y: Tensor<T, 1>,
    trunc: TensorMut<T, 1>,
    away: TensorMut<T, 1>,
    even: TensorMut<T, 1>,
    sign: TensorMut<T, 1>,
    of_scalars: TensorMut<f32, 2>,
) {
    let (v, w) = (x.tile([0], [64]).load(), y.tile([0], [64]).load());
    trunc.tile([0], [64]).store(v.trunc());
    away.tile([0], [64]).store(v.round());
    even.tile([0], [64]).store(v.round_ties_even());
    sign.tile([0], [64]).store(v.copysign(w));
    for at in 0..64 {
        let one = x.tile([at], [1]).load().item().cast::<f32>();
        of_scalars.tile([0, at], [1, 1]).store(full([1, 1], one.trunc()));
        of_scalars.tile([1, at], [1, 1]).store(full([1, 1], one.round()));
        of_scalars.tile([2, at], [1, 1]).store(full([1, 1], one.round_ties_even()));
        of_scalars.tile([3, at], [1, 1]).store(full([1, 1], one.copysign(-1.0)));
    }
}
