//! Every pair of operand and sum types, of small integers: exact.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[M, K] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: T[K, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: A[M, N] list(5, -6, 7)
//@ arg out: A[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances((T, A) = [(f16, f16), (bf16, f32), (i8, i32), (f32, f32), (f64, f64)],
                   (M, N, K, W) = [(16, 8, 32, 1), (16, 32, 32, 4), (32, 16, 64, 2)]))]
pub fn types<T: Number, A: Number, const M: i32, const N: i32, const K: i32, const W: i32>(
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
