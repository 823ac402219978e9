use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 256))]
pub fn add(a: Tensor<f16, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 256];
    out.tile(at, [256]).store(a.tile(at, [256]).load() + b.tile(at, [256]).load());
}

fn main() {}
