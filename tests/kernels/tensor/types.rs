//! Every element type through registers, aligned, misaligned and strided.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ expect out: x(i)
//@ case: aligned
//@ arg x: T[512] bits
//@ arg out: T[512] poison
//@ case: ragged
//@ arg x: T[301] bits
//@ arg out: T[301] poison
//@ case: misaligned
//@ arg x: T[512] bits offset(1)
//@ arg out: T[512] poison offset(3)
//@ case: strided
//@ arg x: T[100] bits strides(3)
//@ arg out: T[100] poison strides(2) offset(1)
//@ case: one element
//@ arg x: T[1] bits strides(7)
//@ arg out: T[1] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = cdiv(out.dim(0), 256),
         instances(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64]))]
pub fn types<T: Scalar>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
    let at = [block_id(0) * 256];
    out.tile(at, [256]).store(x.tile(at, [256]).load());
}
