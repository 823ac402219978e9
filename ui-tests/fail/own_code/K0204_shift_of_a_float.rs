// CUDA: a float is doubled by a shift.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([0], [64]).load();
    out.tile([0], [64]).store(v << 1);
}

fn main() {}
