use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn many(xs: [Tensor<f32, 2>; 200]) {}

fn main() {}
