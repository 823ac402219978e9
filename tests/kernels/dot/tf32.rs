//! `dot_tf32` rounds A and B to 10 bits, ties away from zero.
//@ run: eval, emulate, gpu
//@ arg a: f32[M, K] uniform(-1, 1)
//@ arg b: f32[K, N] uniform(-1, 1)
//@ arg out: f32[M, N] poison
// Products of rounded numbers are exact in f32; 64 of them below 1 are added in an order of the hardware's, whose
// additions may truncate: 64 * 64 * 2^-24 bounds it.
//@ compare: atol=2.5e-4
//@ case: fractions
//@ case: exact
//@ arg a: f32[M, K] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f32[K, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ expect out: sum(k, 0, K, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances((M, N, K, W) = [(16, 8, 8, 1), (16, 8, 4, 1), (32, 32, 4, 4), (16, 16, 32, 2), (32, 32, 64, 4), (64, 16, 16, 8)]))]
pub fn tf32<const M: i32, const N: i32, const K: i32, const W: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
) {
    let a = a.tile([0, 0], [M, K]).load();
    let b = b.tile([0, 0], [K, N]).load();
    out.tile([0, 0], [M, N]).store(dot_tf32(a, b, zeros::<f32>([M, N])));
}
