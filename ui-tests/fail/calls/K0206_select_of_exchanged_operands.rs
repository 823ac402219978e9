use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn relu(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let v = x.tile([0], [128]).load();
    y.tile([0], [128]).store(select(v, v.gt(0.0), 0.0));
}

fn main() {}
