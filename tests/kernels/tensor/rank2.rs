//! Windows of matrices: rows and columns that do not divide the tile, any strides, both orders of axes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ expect out: x(i, j)
//@ case: whole
//@ arg x: T[64, 64] bits
//@ arg out: T[64, 64] poison
//@ case: aligned, ragged
//@ arg x: T[50, 48] bits
//@ arg out: T[50, 48] poison
//@ case: odd rows
//@ arg x: T[37, 33] bits
//@ arg out: T[37, 33] poison
//@ case: padded rows
//@ arg x: T[37, 40] bits strides(64, 1)
//@ arg out: T[37, 40] poison strides(48, 1)
//@ case: columns contiguous
//@ arg x: T[37, 40] bits strides(1, 48)
//@ arg out: T[37, 40] poison
//@ case: one row of many
//@ arg x: T[1, 100] bits offset(1)
//@ arg out: T[1, 100] poison
//@ case: one column
//@ arg x: T[70, 1] bits strides(3, 1)
//@ arg out: T[70, 1] poison strides(1, 70)
//@ case: every row the same
//@ arg x: T[20, 40] bits strides(0, 1)
//@ arg out: T[20, 40] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = [cdiv(out.dim(0), 32), cdiv(out.dim(1), 64)], instances(T = [u8, f16, f32, i64], W = [1, 4]))]
pub fn rank2<T: Scalar, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let at = [block_id(0) * 32, block_id(1) * 64];
    out.tile(at, [32, 64]).store(x.tile(at, [32, 64]).load());
}
