use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn row_max(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, 256]).load();
    out.tile([row], [1]).store(v.reduce(1, maximum));
}

fn main() {}
