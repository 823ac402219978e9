//! Stores to a tile of addresses.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg table: ptr T[512] poison
//@ arg at: i32[512] shuffled
//@ arg x: T[512] bits
//@ case: aligned
//@ case: misaligned
//@ arg table: ptr T[512] poison offset(3)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 2, instances(T = [bool, i8, i16, i32, i64, f16, f32, f64]))]
pub fn scatter<T: Scalar>(table: Ptr<T>, at: Tensor<i32, 1>, x: Tensor<T, 1>) {
    let start = [block_id(0) * 256];
    let at = at.tile(start, [256]).load();
    store(table + at, x.tile(start, [256]).load());
}
