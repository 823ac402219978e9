//! Every operation on integers, where addresses repeat and blocks meet; results that no order changes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[1000] bits
//@ arg sums: ptr T[7] fill(5)
//@ arg most: ptr T[7] fill(0)
//@ arg least: ptr T[7] fill(0)
//@ arg ands: ptr T[7] fill(-1)
//@ arg ors: ptr T[7] fill(0)
//@ arg xors: ptr T[7] fill(1)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 4, instances(T = [i32, u32, i64, u64]))]
pub fn integers<T: Int>(
    x: Tensor<T, 1>,
    sums: Ptr<T>,
    most: Ptr<T>,
    least: Ptr<T>,
    ands: Ptr<T>,
    ors: Ptr<T>,
    xors: Ptr<T>,
) {
    let start = block_id(0) * 256;
    let at = (start + arange(0, 256)) % 7;
    let x = x.tile([start], [256]).load();
    atomic::add(sums + at, x);
    atomic::max(most + at, x);
    atomic::min(least + at, x);
    atomic::and(ands + at, x | 15.cast::<T>());
    atomic::or(ors + at, x & 240.cast::<T>());
    atomic::xor(xors + at, x);
}
