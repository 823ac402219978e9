//! Counting a mask, and combining masks along an axis.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[16, 64] uniform(-5, 50)
//@ arg count: i32[16] poison
//@ arg any: bool[64] poison
//@ expect count: sum(c, 0, 64, if x(i, c) < 10 { 1 } else { 0 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn masks(x: Tensor<i32, 2>, count: TensorMut<i32, 1>, any: TensorMut<bool, 1>) {
    let x = x.tile([0, 0], [16, 64]).load();
    count.tile([0], [16]).store(x.lt(10).cast::<i32>().sum(1));
    any.tile([0], [64]).store(x.lt(0).reduce(0, |a, b| a | b));
}
