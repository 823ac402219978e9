use kiln::prelude::*;

// Wrong: the loop is a chain of iterator adapters, `range(..).map(..).fold(..)`; right is `let mut sum = zeros(..); for at in range(0, x.dim(1), 256) { sum += ..; }`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 4))]
pub fn wrong(x: Tensor<f32, 2>, means: TensorMut<f32, 1>) {
    let row = block_id(0) * 4;
    let sum = range(0, x.dim(1), 256)
        .map(|at| x.tile([row, at], [4, 256]).load())
        .fold(zeros::<f32>([4, 256]), |sum, part| sum + part);
    let mean = sum.sum(1) / x.dim(1) as f32;
    means.tile([row], [4]).store(mean);
}

fn main() {}
