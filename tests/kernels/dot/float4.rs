//! FP4 by FP4, and by FP8 on either side, on tensor cores that read registers.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m1x2[M, K / 2] bits
//@ arg b: e2m1x2[N, K / 2] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg e: T[M, K] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg c: f32[M, N] list(5, -6, 7)
//@ arg out: f32[M, N] poison
//@ arg left: f32[M, N] poison
//@ arg half: f16[M, M] poison
//@ expect out: c(i, j) + sum(k, 0, K, e2m1(a(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2))
//@ expect left: sum(k, 0, K, e(i, k) * e2m1(b(j, k / 2), k % 2))
//@ expect half: sum(k, 0, K, e2m1(a(i, k / 2), k % 2) * e(j, k))
use kiln::prelude::*;

#[kernel(target = sm_120a, warps = W, grid = 1,
         instances((T, M, N, K, W) = [(e4m3, 16, 8, 32, 1), (e5m2, 32, 32, 32, 4), (e4m3, 32, 16, 64, 2)]))]
pub fn float4<T: Scalar, const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<e2m1x2, 2>,
    b: Tensor<e2m1x2, 2>,
    e: Tensor<T, 2>,
    c: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
    left: TensorMut<f32, 2>,
    half: TensorMut<f16, 2>,
) {
    let (pairs, bytes) = (shared::<e2m1x2>([N, K / 2]), shared::<T>([M, K]));
    let (a, e) = (a.tile([0, 0], [M, K / 2]).load(), e.tile([0, 0], [M, K]).load());
    pairs.store(b.tile([0, 0], [N, K / 2]).load());
    bytes.store(e);
    sync();
    out.tile([0, 0], [M, N]).store(dot(a, pairs.t(), c.tile([0, 0], [M, N]).load()));
    left.tile([0, 0], [M, N]).store(dot(e, pairs.t(), zeros([M, N])));
    half.tile([0, 0], [M, M]).store(dot(a, bytes.t(), zeros::<f16>([M, M])));
}
