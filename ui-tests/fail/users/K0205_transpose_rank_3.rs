use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
    let v = x.tile([0, 0, 0], [4, 8, 16]).load();
    out.tile([0, 0, 0], [4, 16, 8]).store(v.t());
}

fn main() {}
