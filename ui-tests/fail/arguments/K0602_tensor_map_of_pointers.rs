use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn table(#[block(16)] table: TensorMap<Ptr<f32>, 1>) {}

fn main() {}
