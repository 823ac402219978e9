use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(a.dim(0), 128))]
pub fn length(a: TensorMut<f32, 1>, b: Tensor<f32, 1>) {
    let at = block_id(0) * 128;
    let w = a.tile([at], [128]);
    w.store(w.load().hypot(b.tile([at], [128]).load()));
}

fn main() {}
