use kiln::prelude::*;

// Wrong: `error ** 2`, Python's power, which Rust reads as `error * (*2)`; right is `error * error` or `error.powi(2)`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(goal.dim(0), 16))]
pub fn wrong(prediction: Tensor<f16, 2>, goal: Tensor<f16, 2>, losses: TensorMut<f32, 1>) {
    let row = block_id(0) * 16;
    let p = prediction.tile([row, 0], [16, 256]).load().cast::<f32>();
    let g = goal.tile([row, 0], [16, 256]).load().cast::<f32>();
    let error = p - g;
    let loss = (error ** 2).sum(1) / goal.dim(1) as f32;
    losses.tile([row], [16]).store(loss);
}

fn main() {}
