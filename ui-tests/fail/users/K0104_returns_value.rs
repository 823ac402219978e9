use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn total(x: Tensor<f32, 1>) -> f32 {
    x.tile([0], [128]).load().sum(0).item()
}

fn main() {}
