//! Assertions of scalars and masks that hold everywhere.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[100] uniform(0, 9)
//@ arg out: i32[100] poison
//@ expect out: x(i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn asserts_hold(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    let v = x.tile([0], [128]).load();
    device_assert(x.dim(0) == 100);
    device_assert(v.ge(0) & v.lt(10));
    out.tile([0], [128]).store(v);
}
