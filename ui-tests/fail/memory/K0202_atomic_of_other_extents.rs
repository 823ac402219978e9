use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn sums(x: Tensor<f32, 2>, y: TensorMut<f32, 1>) {
    y.tile([0], [128]).atomic_add(x.tile([0, 0], [16, 64]).load().sum(0));
}

fn main() {}
