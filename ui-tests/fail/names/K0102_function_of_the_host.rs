use kiln::prelude::*;

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())
}

#[kernel(target = sm_80, warps = 4)]
pub fn activate(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    y.tile([0], [128]).store(gelu(x.tile([0], [128]).load()));
}

fn main() {
    gelu(1.0);
}
