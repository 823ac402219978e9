//! NVFP4 on tensor cores that read registers: two numbers to a byte, FP8 scales for each 16 of them.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m1x2[M, K / 2] bits
//@ arg b: e2m1x2[N, K / 2] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg s: e4m3[M, K / 16] list(1, 0.5, 3, 1.5, 2)
//@ arg t: e4m3[N, K / 16] list(2, 1, 0.25, 3)
//@ arg c: f32[M, N] list(5, -6, 7)
//@ arg out: f32[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K, e2m1(a(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2) * s(i, k / 16) * t(j, k / 16))
use kiln::prelude::*;

#[kernel(target = sm_120a, warps = W, grid = 1,
         instances((M, N, K, W) = [(16, 8, 64, 1), (32, 32, 64, 4), (32, 16, 128, 2)]))]
pub fn scaled_nvfp4<const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<e2m1x2, 2>,
    b: Tensor<e2m1x2, 2>,
    s: Tensor<e4m3, 2>,
    t: Tensor<e4m3, 2>,
    c: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let right = shared::<e2m1x2>([N, K / 2]);
    right.store(b.tile([0, 0], [N, K / 2]).load());
    sync();
    let left = a.tile([0, 0], [M, K / 2]).load();
    let (of_left, of_right) = (s.tile([0, 0], [M, K / 16]).load(), t.tile([0, 0], [N, K / 16]).load());
    let acc = c.tile([0, 0], [M, N]).load();
    out.tile([0, 0], [M, N]).store(dot_scaled(left, right.t(), acc, of_left, of_right));
}
