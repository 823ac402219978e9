//! Rank 3, with extents of 1, permuted strides and windows that stick out on every axis.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ expect out: x(i, j, k)
//@ case: ragged
//@ arg x: T[5, 11, 18] bits
//@ arg out: T[5, 11, 18] poison
//@ case: aligned
//@ arg x: T[4, 8, 16] bits
//@ arg out: T[4, 8, 16] poison
//@ case: permuted
//@ arg x: T[5, 6, 7] bits strides(1, 5, 30)
//@ arg out: T[5, 6, 7] poison strides(7, 35, 1)
//@ case: flat
//@ arg x: T[1, 1, 9] bits
//@ arg out: T[1, 1, 9] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(0), 4), cdiv(out.dim(1), 8), cdiv(out.dim(2), 16)],
         instances(T = [i8, f16, f32, f64]))]
pub fn rank3<T: Scalar>(x: Tensor<T, 3>, out: TensorMut<T, 3>) {
    let at = [block_id(0) * 4, block_id(1) * 8, block_id(2) * 16];
    out.tile(at, [4, 8, 16]).store(x.tile(at, [4, 8, 16]).load());
}
