//! Products of f16 matrices with f32 sums, from registers, of small integers: every sum is exact, whatever the order.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[M, K] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[K, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[M, N] list(5, -6, 7)
//@ arg out: f32[M, N] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances((M, N, K, W) = [(16, 8, 16, 1), (16, 16, 16, 1), (16, 16, 32, 2), (32, 32, 16, 4), (64, 64, 32, 4), (64, 32, 64, 8),
                                   (128, 128, 16, 8), (16, 128, 16, 4), (128, 16, 16, 4), (128, 64, 128, 4), (32, 8, 16, 2)]))]
pub fn f16_dot<const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let a = a.tile([0, 0], [M, K]).load();
    let b = b.tile([0, 0], [K, N]).load();
    let c = c.tile([0, 0], [M, N]).load();
    out.tile([0, 0], [M, N]).store(dot(a, b, c));
}
