//! Pieces that cover an extent, at the ends of the range: as the host counts them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg out: i32[8] poison
//@ expect out: (i + 2) / 3
//@ arg most: i32 scalar 2147483647
//@ arg none: i32 scalar 0
//@ arg below: i32 scalar -7
//@ arg seven: i32 scalar 7
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn pieces(out: TensorMut<i32, 1>, most: i32, none: i32, below: i32, seven: i32) {
    let (two, three) = (seven / 3, seven / 2);
    device_assert(cdiv(most, 3) == 715_827_883);
    device_assert(cdiv(most, 4096) == 524_288);
    device_assert(cdiv(most, three) == 715_827_883);
    device_assert(cdiv(none, 32) == 0 && cdiv(below, 32) == 0 && cdiv(below, two) == 0);
    device_assert(cdiv(seven, two) == 4 && cdiv(seven, 7) == 1 && cdiv(8, 7) == 2);
    for i in unroll(0..8) {
        out.tile([i], [1]).store(full([1], cdiv(i, 3)));
    }
}
