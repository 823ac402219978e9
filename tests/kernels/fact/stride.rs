//! Strides stated by attributes: the last axis contiguous, the first one, a constant pitch.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[30, 40] bits strides(50, 1)
//@ arg y: f32[30, 40] bits strides(1, 30)
//@ arg z: f32[30, 40] bits strides(64, 1)
//@ arg out: f32[3, 30, 40] poison
//@ expect out: if i == 0 { x(j, k) } else { if i == 1 { y(j, k) } else { z(j, k) } }
//@ case: plain
//@ case: aligned
//@ arg x: f32[32, 32] bits
//@ arg y: f32[32, 32] bits strides(1, 32)
//@ arg z: f32[32, 32] bits strides(64, 1)
//@ arg out: f32[3, 32, 32] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn stride(
    #[stride(_, 1)] x: Tensor<f32, 2>,
    #[stride(1, _)] y: Tensor<f32, 2>,
    #[stride(64, 1)] z: Tensor<f32, 2>,
    out: TensorMut<f32, 3>,
) {
    out.tile([0, 0, 0], [1, 32, 64]).store(x.tile([0, 0], [32, 64]).load().expand(0));
    out.tile([1, 0, 0], [1, 32, 64]).store(y.tile([0, 0], [32, 64]).load().expand(0));
    out.tile([2, 0, 0], [1, 32, 64]).store(z.tile([0, 0], [32, 64]).load().expand(0));
}
