use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let t = x.tile([block_id(0) * 256], [256]).load();
    atomicAdd(&out[0], t.sum(0));
}

fn main() {}
