use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn needs(bias: Option<Tensor<f32, 1>>, y: TensorMut<f32, 1>) {
    assert!(bias.is_some(), "a bias is needed");
    let Some(bias) = bias else { return };
    y.tile([0], [128]).store(bias.tile([0], [128]).load());
}

fn main() {}
