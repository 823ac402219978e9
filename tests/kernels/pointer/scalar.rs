//! One address is accessed once for the block.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: ptr T[10] bits
//@ arg i: i32 scalar 4
//@ arg wide: i64 scalar 7
//@ arg out: ptr T[4] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [bool, u8, i16, i32, u64, f16, bf16, f32, f64]))]
pub fn scalar<T: Scalar>(x: Ptr<T>, i: i32, wide: i64, out: Ptr<T>) {
    let mut to = out;
    store(to, load(x + i));
    to += 1;
    store(to, load(x + wide - 2));
    store(to + 1, load_masked(x + 3, i > 3, load(x)));
    store(to + 2, load_masked(x + 100000, i > 100, load(x + 9)));
    store_masked(to + 3000, i < 0, load(x));
}
