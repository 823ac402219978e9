// CUDA: `y[i] = a * x[i] + y[i]` with the index of a thread.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(y.dim(0), 128))]
pub fn wrong(a: f32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let i = block_id(0) * 128 + arange(0, 128);
    y[i] = a * x[i] + y[i];
}

fn main() {}
