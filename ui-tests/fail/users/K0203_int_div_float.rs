use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([0], [256]).load();
    out.tile([0], [256]).store(v / 256);
}

fn main() {}
