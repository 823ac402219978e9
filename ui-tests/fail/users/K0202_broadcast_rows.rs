use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 2>, b: Tensor<f32, 1>, out: TensorMut<f32, 2>) {
    let t = x.tile([0, 0], [32, 64]).load();
    let bias = b.tile([0], [64]).load();
    out.tile([0, 0], [32, 64]).store(t + bias);
}

fn main() {}
