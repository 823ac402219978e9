//! Every operation on windows that reach beyond their tensor: blocks meet in the same elements, what is outside is left out.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[8, 40] bits
//@ arg sums: T[37] fill(5)
//@ arg most: T[37] fill(0)
//@ arg least: T[37] fill(0)
//@ arg ands: T[37] fill(-1)
//@ arg ors: T[37] fill(0)
//@ arg xors: T[37] fill(1)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 8, instances(T = [i32, u32, i64, u64]))]
pub fn windows<T: Int>(
    x: Tensor<T, 2>,
    sums: TensorMut<T, 1>,
    most: TensorMut<T, 1>,
    least: TensorMut<T, 1>,
    ands: TensorMut<T, 1>,
    ors: TensorMut<T, 1>,
    xors: TensorMut<T, 1>,
) {
    let x = x.tile([block_id(0), 0], [1, 64]).load().reshape([64]);
    sums.tile([0], [64]).atomic_add(x);
    most.tile([0], [64]).atomic_max(x);
    least.tile([-3], [64]).atomic_min(x);
    ands.tile([0], [64]).atomic_and(x | 15.cast::<T>());
    ors.tile([0], [64]).atomic_or(x & 240.cast::<T>());
    xors.tile([5], [64]).atomic_xor(x);
}
