//! `t` of a register tile, for every width of element.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg x: T[60, 30] bits
//@ arg out: T[30, 60] poison
//@ expect out: x(j, i)
//@ case: whole rows
//@ case: misaligned
//@ arg x: T[60, 30] bits offset(1) strides(31, 1)
//@ arg out: T[30, 60] poison offset(1)
//@ case: aligned
//@ arg x: T[64, 32] bits
//@ arg out: T[32, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [i8, i16, f32, f64, bool], W = [1, 4]))]
pub fn transpose<T: Scalar, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    out.tile([0, 0], [32, 64]).store(x.tile([0, 0], [64, 32]).load().t());
}
