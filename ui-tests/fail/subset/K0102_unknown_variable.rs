use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let offset = block_id(0) * 128;
    y.tile([offset], [128]).store(x.tile([ofset], [128]).load());
}

fn main() {}
