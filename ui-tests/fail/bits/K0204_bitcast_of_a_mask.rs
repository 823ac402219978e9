use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn ballot(x: Tensor<f32, 1>, out: TensorMut<u8, 1>) {
    let positive = x.tile([0], [128]).load().gt(0.0);
    out.tile([0], [128]).store(positive.bitcast());
}

fn main() {}
