use kiln::prelude::*;

#[kernel(target = sm_80, threads = 256, grid = cdiv(x.dim(0), 256))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let i = block_id(0) * 256;
    out.tile([i], [256]).store(x.tile([i], [256]).load());
}

fn main() {}
