use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn common(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    y.tile([0], [128]).atomic_and(x.tile([0], [128]).load());
}

fn main() {}
