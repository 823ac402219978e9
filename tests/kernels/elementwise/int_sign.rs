//! Negation and absolute value of signed integers wrap at the least value.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[100] edges(0)
//@ arg out: T[2, 100] poison
//@ expect out: if i == 0 { -a(j) } else { abs(a(j)) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1, instances(T = [i8, i16, i32, i64]))]
pub fn int_sign<T: Int + core::ops::Neg<Output = T>>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    let a = a.tile([0], [128]).load();
    out.tile([0, 0], [1, 128]).store((-a).expand(0));
    out.tile([1, 0], [1, 128]).store(a.abs().expand(0));
}
