use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f16, 1>) {
    let t = x.tile([0], [256]).load();
    out.tile([0], [256]).store((t * 2.0).half());
}

fn main() {}
