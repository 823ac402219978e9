use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let i = blockIdx.x * 256;
    out.tile([i], [256]).store(x.tile([i], [256]).load());
}

fn main() {}
