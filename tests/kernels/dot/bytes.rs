//! Products of bytes, signed and not, on tensor cores: every shape of instruction, every way that warps share rows and columns.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[M, K] list(-128, 127, 3, 0, 101, -1, 4, -3, 1, 90, -4)
//@ arg b: T[K, N] list(127, -128, 0, 3, -77, -2, 1)
//@ arg c: i32[M, N] list(5, -6, 2147483647)
//@ arg out: i32[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances(T = [i8, u8],
                   (M, N, K, W) = [(16, 8, 8, 1), (16, 8, 16, 1), (16, 8, 32, 1), (16, 16, 64, 2), (32, 32, 32, 4), (64, 32, 16, 8),
                                   (16, 64, 32, 4), (64, 16, 128, 4), (8, 8, 32, 1), (64, 64, 64, 4)]))]
pub fn bytes<T: Number, const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: Tensor<i32, 2>,
    out: TensorMut<i32, 2>,
) {
    let a = a.tile([0, 0], [M, K]).load();
    let b = b.tile([0, 0], [K, N]).load();
    let c = c.tile([0, 0], [M, N]).load();
    out.tile([0, 0], [M, N]).store(dot(a, b, c));
}
