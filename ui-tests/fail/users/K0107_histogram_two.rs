use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn hist(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    out.tile([0], [64]).store(x.tile([0], [128]).load().histogram(64, 0));
}

fn main() {}
