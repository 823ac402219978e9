use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let start = blok_id(0) * 128;
    y.tile([start], [128]).store(x.tile([start], [128]).load());
}

fn main() {}
