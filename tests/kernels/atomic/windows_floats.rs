//! Sums of floats in windows, of numbers that any order adds exactly.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64, 24] list(1, -2, 3, 0, 2, -1, 4)
//@ arg sums: T[24] fill(1)
//@ expect sums: 1 + sum(k, 0, 64, x(k, i))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 4, instances(T = [f16, bf16, f32, f64]))]
pub fn windows_floats<T: Float>(x: Tensor<T, 2>, sums: TensorMut<T, 1>) {
    let rows = x.tile([block_id(0) * 16, 0], [16, 32]).load();
    sums.tile([0], [32]).atomic_add(rows.sum(0));
}
