//! A kernel that lets the next one start, and waits for the one before it: what it reads, it reads behind the wait.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[8, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg y: f32[8, 128] poison
//@ expect y: x(i, j) * 3
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = x.dim(0))]
pub fn dependents(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let at = [block_id(0), 0];
    launch_dependents();
    let factor = full([1, 128], 3.0);
    grid_dependency_wait();
    y.tile(at, [1, 128]).store(x.tile(at, [1, 128]).load() * factor);
}
