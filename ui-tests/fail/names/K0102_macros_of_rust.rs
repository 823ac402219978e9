use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn first(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let c = column(x.tile([0], [128]).load());
    y.tile([0], [128]).store(c);
}

#[kernel(target = sm_80, warps = 4)]
pub fn second(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let c = concat(x.tile([0], [64]).load(), x.tile([64], [64]).load());
    y.tile([0], [128]).store(c);
}

fn main() {}
