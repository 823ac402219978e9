//! Sums of floats in any order: of small integers exactly, of others nearly.
//@ run: eval, emulate, gpu
//@ arg x: T[32, 16] uniform(0, 1)
//@ arg rows: T[32] poison
//@ arg cols: T[16] poison
//@ case: fractions
// 32 terms below 1 in a tree or a chain: at most 31 roundings of half a unit in the last place of a sum below 32, 31 * 2^-24 * 32
// for f32 and in proportion for the others.
//@ compare f32: atol=6e-5
//@ compare f64: atol=2e-13
//@ compare f16: atol=0.5
//@ compare bf16: atol=4
//@ case: halves
//@ arg x: T[32, 16] list(1, 0, 2, 0.5, 1, 1.5, 0)
//@ expect rows: sum(c, 0, 16, x(i, c))
//@ expect cols: sum(r, 0, 32, x(r, i))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_sum<T: Float>(x: Tensor<T, 2>, rows: TensorMut<T, 1>, cols: TensorMut<T, 1>) {
    let x = x.tile([0, 0], [32, 16]).load();
    rows.tile([0], [32]).store(x.sum(1));
    cols.tile([0], [16]).store(x.sum(0));
}
