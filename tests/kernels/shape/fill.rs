//! `arange`, `zeros` and `full` of every type.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg out: T[3, 100] poison
//@ expect out: if i == 0 { 0 } else { if i == 1 { 5 } else { j - 5 } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [i8, i16, i32, i64, f16, bf16, f32, f64]))]
pub fn fill<T: Number>(out: TensorMut<T, 2>) {
    out.tile([0, 0], [1, 128]).store(zeros::<T>([1, 128]));
    out.tile([1, 0], [1, 128]).store(full([1, 128], 5.cast::<T>()));
    out.tile([2, 0], [1, 128]).store(arange(-5, 123).cast::<T>().expand(0));
}
