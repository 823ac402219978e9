//! The largest and the smallest of floats, in windows that reach beyond their tensor and at addresses. NaN loses.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64, 40] list(1, -2, 3.5, 0, inf, nan, 2, -1, 4, -inf, 0.25, nan, -8)
//@ arg most: T[37] list(-1, nan, 2)
//@ arg least: T[37] fill(1)
//@ arg highest: ptr T[5] fill(-inf)
//@ arg lowest: ptr T[5] fill(3)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 8, instances(T = [f16, bf16, f32, f64]))]
pub fn extremes_of_floats<T: Float>(
    x: Tensor<T, 2>,
    most: TensorMut<T, 1>,
    least: TensorMut<T, 1>,
    highest: Ptr<T>,
    lowest: Ptr<T>,
) {
    let x = x.tile([block_id(0) * 8, 0], [1, 64]).load().reshape([64]);
    most.tile([0], [64]).atomic_max(x);
    least.tile([-3], [64]).atomic_min(x);
    let at = arange(0, 64) % 5;
    atomic::max(highest + at, x);
    atomic::min(lowest + at, x);
}
