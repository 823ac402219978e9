// Rust: positions are kept as u32.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, first: u32, out: TensorMut<f32, 1>) {
    let v = x.tile([first + 64], [64]).load();
    out.tile([0], [64]).store(v);
}

fn main() {}
