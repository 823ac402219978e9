use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.tile([0, 0], [64, 64]).load(0, 1);
    out.tile([0, 0], [64, 64]).store(v);
}

fn main() {}
