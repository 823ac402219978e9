//! One prefetch for each line of 128 bytes, by as many threads as there are lines, of those that begin within the tensor.
//@ run: eval, emulate, gpu
//@ snapshot: ptx
//@ compare: exact
//@ arg x: f32[20, 100] bits
//@ arg y: f32[1] poison
//@ expect y: x(19, 99)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn prefetch_lines(x: Tensor<f32, 2>, y: TensorMut<f32, 1>) {
    x.tile([0, 0], [32, 128]).prefetch();
    y.tile([0], [1]).store(x.tile([19, 99], [1, 1]).load().reshape([1]));
}
