use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn total(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0);
    let sum = x.tile([row, 0], [1, 256]).load().sum([0, 1]).item();
    out.tile([row], [1]).store(sum);
}

fn main() {}
