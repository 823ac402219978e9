//! `ptr` of a tensor, with its strides.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[16, 16] uniform(-1, 1) strides(40, 2) offset(5)
//@ arg out: f32[16] poison
//@ expect out: x(i, i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn of_tensor(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let at = arange(0, 16).cast::<i64>() * (x.stride(0) + x.stride(1));
    out.tile([0], [16]).store(load(x.ptr() + at));
}
