//! Fractions: what the order of sums may cost, and nothing more.
//@ run: eval, emulate, gpu
//@ arg a: T[64, 64] uniform(-1, 1)
//@ arg b: T[64, 64] uniform(-1, 1)
//@ arg out: f32[64, 64] poison
// 64 products below 1 are exact in f32; each of 64 additions of partial sums below 64 rounds or truncates by 2^-23 of it at
// most: 64 * 64 * 2^-23 would bound the worst case, and sums stay below 8 here: 64 * 8 * 2^-23.
//@ compare: atol=6.2e-5
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16]))]
pub fn rounding<T: Float>(a: Tensor<T, 2>, b: Tensor<T, 2>, out: TensorMut<f32, 2>) {
    let a = a.tile([0, 0], [64, 64]).load();
    let b = b.tile([0, 0], [64, 64]).load();
    out.tile([0, 0], [64, 64]).store(dot(a, b, zeros::<f32>([64, 64])));
}
