// Triton: Mean squared error of each row. A keyword argument, `axis = 1`: Rust has none.
// RIGHT: let loss = (d * d).sum(1) / (x.dim(1) as f32);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 8))]
pub fn mse_rows(x: Tensor<f32, 2>, target: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 8;
    let a = x.tile([row, 0], [8, 512]).load();
    let b = target.tile([row, 0], [8, 512]).load();
    let d = a - b;
    let loss = (d * d).sum(axis = 1) / (x.dim(1) as f32);
    out.tile([row], [8]).store(loss);
}

fn main() {}
