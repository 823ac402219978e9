use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn first(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]).load();
    out.tile([0], [1]).store(full([1], tile[0]));
}

fn main() {}
