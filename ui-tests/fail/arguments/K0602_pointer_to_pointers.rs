use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn table(table: Tensor<Ptr<Ptr<f32>>, 1>) {}

fn main() {}
