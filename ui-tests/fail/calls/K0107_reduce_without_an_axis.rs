use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn products(x: Tensor<f32, 2>, y: TensorMut<f32, 1>) {
    let v = x.tile([0, 0], [32, 64]).load();
    y.tile([0], [32]).store(v.reduce(|a, b| a * b));
}

fn main() {}
