use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn fold(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([0], [1024]).load().reshape(32, 32);
    out.tile([0], [32]).store(v.sum(1));
}

fn main() {}
