//! Loads from a tile of addresses, 32 and 64 bits wide offsets.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg table: ptr T[512] bits
//@ arg at: i32[512] shuffled
//@ arg out: T[512] poison
//@ arg back: T[512] poison
//@ expect out: table(at(i))
//@ expect back: table(511 - at(i))
//@ case: aligned
//@ case: misaligned
//@ arg table: ptr T[512] bits offset(1)
//@ arg at: i32[512] shuffled offset(1)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 2, instances(T = [bool, i8, i16, i32, i64, f16, bf16, f32, f64]))]
pub fn gather<T: Scalar>(table: Ptr<T>, at: Tensor<i32, 1>, out: TensorMut<T, 1>, back: TensorMut<T, 1>) {
    let start = [block_id(0) * 256];
    let at = at.tile(start, [256]).load();
    out.tile(start, [256]).store(load(table + at));
    back.tile(start, [256]).store(load(table + 511 - at.cast::<i64>()));
}
