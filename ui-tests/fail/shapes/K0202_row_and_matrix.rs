use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn add(bias: Tensor<f32, 1>, x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [32, 64]);
    window.store(window.load() + bias.tile([0], [64]).load());
}

fn main() {}
