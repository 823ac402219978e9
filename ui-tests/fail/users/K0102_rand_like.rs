use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([0], [256]).load();
    let r = rand(42, arange(0, 256));
    out.tile([0], [256]).store(select(r > 0.5, v, 0.0));
}

fn main() {}
