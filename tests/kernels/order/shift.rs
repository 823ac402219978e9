//! A window is written one element before where it was read, then read in another layout.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[513] iota(0, 1)
//@ arg sum: i32[1] poison
//@ expect x: min(i + 1, 512)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn shift(x: TensorMut<i32, 1>, sum: TensorMut<i32, 1>) {
    let next = x.tile([1], [512]).load();
    x.tile([0], [512]).store(next);
    let turned = x.tile([0], [512]).load().reshape([16, 32]).t();
    sum.tile([0], [1]).store(turned.max(0).expand(0).max(1));
}
