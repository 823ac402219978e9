//! Windows that begin before the tensor or lie outside of it: reads give zero, writes are dropped.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[20, 24] bits
//@ arg dr: i32 scalar -3
//@ arg dc: i32 scalar 5
//@ arg out: i32[32, 32] poison
//@ arg back: i32[20, 24] fill(7)
//@ expect out: if (i + dr >= 0) && (i + dr < 20) { if (j + dc >= 0) && (j + dc < 24) { x(i + dr, j + dc) } else { 0 } } else { 0 }
//@ expect back: if (i - dr >= 0) && (i - dr < 32) { if (j - dc >= 0) && (j - dc < 32) { (i - dr) * 32 + j - dc } else { 7 } } else { 7 }
//@ case: before and behind
//@ case: far outside
//@ arg dr: i32 scalar 100
//@ arg dc: i32 scalar -100
//@ case: by a multiple of the row
//@ arg dr: i32 scalar 0
//@ arg dc: i32 scalar 24
//@ case: near the ends of i32
//@ arg dr: i32 scalar 2147483600
//@ arg dc: i32 scalar -2147483600
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn outside(x: Tensor<i32, 2>, dr: i32, dc: i32, out: TensorMut<i32, 2>, back: TensorMut<i32, 2>) {
    out.tile([0, 0], [32, 32]).store(x.tile([dr, dc], [32, 32]).load());
    let numbers = arange(0, 32).expand(1) * 32 + arange(0, 32).expand(0);
    back.tile([dr, dc], [32, 32]).store(numbers);
}
