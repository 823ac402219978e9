use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v: float4 = x.tile([block_id(0) * 512], [512]).load();
    out.tile([block_id(0) * 512], [512]).store(v * 2.0f);
}

fn main() {}
