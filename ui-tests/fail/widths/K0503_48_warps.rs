use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 48, grid = 1)]
pub fn f(x: Tensor<bf16, 2>, out: TensorMut<f32, 1>) {
    let v = x.tile([0, 0], [128, 64]).load().cast::<f32>();
    out.tile([0], [128]).store(v.sum(1));
}

fn main() {}
