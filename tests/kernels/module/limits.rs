//! The constants of number types.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg out: T[3] poison
//@ arg special: F[4] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1,
         instances((T, F) = [(i8, f16), (i16, bf16), (i32, f32), (i64, f64), (u8, f32), (u16, f32), (u32, f32), (u64, f32), (f16, f16), (bf16, bf16), (f32, f32), (f64, f64)]))]
pub fn limits<T: Number, F: Float>(out: TensorMut<T, 1>, special: TensorMut<F, 1>) {
    out.tile([0], [1]).store(full([1], T::MIN));
    out.tile([1], [1]).store(full([1], T::MAX));
    out.tile([2], [1]).store(full([1], T::ZERO));
    special.tile([0], [1]).store(full([1], F::INFINITY));
    special.tile([1], [1]).store(full([1], F::NEG_INFINITY));
    special.tile([2], [1]).store(full([1], F::NAN));
    special.tile([3], [1]).store(full([1], F::EPSILON));
}
