//! Copies of 8-byte elements, and a vector.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[300] bits
//@ arg out: T[512] poison
//@ expect out: if i < 300 { x(i) } else { 0 }
//@ case: aligned
//@ case: one behind
//@ arg x: T[300] bits offset(1)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [i32, i64, f64]))]
pub fn wide_types<T: Scalar>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
    let s = shared::<T>([512]);
    copy_async(x.tile([0], [512]), s);
    copy_async_wait_all();
    sync();
    out.tile([0], [512]).store(s.load());
}
