// Rust: one branch keeps f16, the other computes in f32.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 256))]
pub fn wrong(x: Tensor<f16, 1>, scale: f32, normalize: bool, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 256];
    let v = x.tile(at, [256]).load();
    let y = if normalize { v.cast::<f32>() * scale } else { v };
    out.tile(at, [256]).store(y);
}

fn main() {}
