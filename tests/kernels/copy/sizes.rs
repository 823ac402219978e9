//! Copies of every element type; the alignment of rows decides on pieces of 4, 8 or 16 bytes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ expect out: if (i < x.dim(0)) && (j < x.dim(1)) { x(i, j) } else { 0 }
//@ arg out: T[32, 64] poison
//@ case: aligned
//@ arg x: T[32, 64] bits
//@ case: aligned, ragged
//@ arg x: T[21, 48] bits
//@ case: rows of a multiple of 8 bytes
//@ arg x: T[30, 40] bits strides(40 + 8 / B, 1)
//@ case: rows of a multiple of 4 bytes, misaligned by 4
//@ arg x: T[30, 44] bits strides(48 + 4 / B, 1) offset(4 / B)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances((T, B) = [(i8, 1), (f16, 2), (bf16, 2), (i32, 4), (f32, 4)], W = [1, 4]))]
pub fn sizes<T: Scalar, const B: i32, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let s = shared::<T>([32, 64]);
    copy_async(x.tile([0, 0], [32, 64]), s);
    copy_async_wait_all();
    sync();
    out.tile([0, 0], [32, 64]).store(s.load());
}
