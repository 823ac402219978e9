use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let t = x.tile([0, 0], [32, 64]).load();
    out.tile([0], [32]).store(t.var(1));
}

fn main() {}
