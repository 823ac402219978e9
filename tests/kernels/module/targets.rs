//! One kernel for two targets, with a branch on which it is.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64] bits
//@ arg out: i32[64] poison
//@ expect out: x(i) * 2
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a, sm_100a], warps = 2, grid = 1)]
pub fn targets(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    let v = x.tile([0], [64]).load();
    let y = if target(sm_90a) { v + v } else { v * 2 };
    out.tile([0], [64]).store(y);
}
