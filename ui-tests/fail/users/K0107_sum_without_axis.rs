use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn total(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let sum = x.tile([0], [128]).load().sum();
    out.tile([0], [1]).store(full([1], sum));
}

fn main() {}
