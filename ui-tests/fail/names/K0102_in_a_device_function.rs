use kiln::prelude::*;

#[device]
fn silu(x: Tile<f32>) -> Tile<f32> {
    x * sigmoyd(x)
}

#[kernel(target = sm_80, warps = 4)]
pub fn activate(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    y.tile([0], [128]).store(silu(x.tile([0], [128]).load()));
}

fn main() {}
