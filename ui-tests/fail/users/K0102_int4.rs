use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn dequant(q: Tensor<i4, 2>, scale: f32, out: TensorMut<f16, 2>) {
    let w = q.tile([0, 0], [64, 64]).load().cast::<f32>() * scale;
    out.tile([0, 0], [64, 64]).store(w.cast::<f16>());
}

fn main() {}
