use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn row_sum(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = x.slice((block_id(0), ..));
    out.tile([block_id(0)], [1]).store(row.tile([0], [256]).load().sum(0).expand(0));
}

fn main() {}
