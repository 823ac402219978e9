//! Products of FP8 numbers on tensor cores, and by multiply-add where they are too shallow for those.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[M, K] list(1, -2, 0.5, 0, 2, -1, 4, -3, 1.5, 0, -4)
//@ arg b: T[K, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: A[M, N] list(5, -6, 7)
//@ arg out: A[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 1,
         instances((T, A) = [(e4m3, f32), (e5m2, f32), (e4m3, f16), (e5m2, f16)],
                   (M, N, K, W) = [(16, 8, 32, 1), (16, 32, 64, 4), (32, 16, 16, 2), (16, 16, 8, 1)]))]
pub fn float8<T: Scalar, A: Number, const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: Tensor<A, 2>,
    out: TensorMut<A, 2>,
) {
    let a = a.tile([0, 0], [M, K]).load();
    let b = b.tile([0, 0], [K, N]).load();
    let c = c.tile([0, 0], [M, N]).load();
    out.tile([0, 0], [M, N]).store(dot(a, b, c));
}
