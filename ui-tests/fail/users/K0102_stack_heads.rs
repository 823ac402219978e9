use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let a = x.tile([0], [64]).load();
    let b = x.tile([64], [64]).load();
    out.tile([0], [128]).store(cat([a, b]));
}

fn main() {}
