//! MXFP4 on tensor cores that read registers: two numbers to a byte, powers of two for each 32 of them.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m1x2[M, K / 2] bits
//@ arg b: e2m1x2[N, K / 2] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg s: ue8m0[M, K / 32] list(127, 126, 128, 129, 125)
//@ arg t: ue8m0[N, K / 32] list(128, 127, 125, 130, 126, 124, 129)
//@ arg c: f32[M, N] list(5, -6, 7)
//@ arg out: f32[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K, e2m1(a(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_120a, warps = W, grid = 1,
         instances((M, N, K, W) = [(16, 8, 64, 1), (32, 32, 64, 4), (32, 16, 128, 2)]))]
pub fn scaled_float4<const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<e2m1x2, 2>,
    b: Tensor<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let right = shared::<e2m1x2>([N, K / 2]);
    right.store(b.tile([0, 0], [N, K / 2]).load());
    sync();
    let left = a.tile([0, 0], [M, K / 2]).load();
    let (of_left, of_right) = (s.tile([0, 0], [M, K / 32]).load(), t.tile([0, 0], [N, K / 32]).load());
    let acc = c.tile([0, 0], [M, N]).load();
    out.tile([0, 0], [M, N]).store(dot_scaled(left, right.t(), acc, of_left, of_right));
}
