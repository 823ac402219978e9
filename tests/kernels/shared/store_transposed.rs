//! A tile stored through the transpose of an array; the same array written and read many times.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg x: f32[5, 32, 16] uniform(-1, 1)
//@ arg out: f32[5, 16, 32] poison
//@ expect out: x(i, k, j) * 2.0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn store_transposed(x: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
    let s = shared::<f32>([16, 32]);
    for n in 0..x.dim(0) {
        s.t().store(x.tile([n, 0, 0], [1, 32, 16]).load().reshape([32, 16]));
        sync();
        out.tile([n, 0, 0], [1, 16, 32]).store((s.load() * 2.0).expand(0));
        sync();
    }
}
