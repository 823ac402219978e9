use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn first_column(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 64;
    let v = x.tile([row, 0], [64, 32]).load();
    out.tile([row], [64]).store(v[.., 0]);
}

fn main() {}
