// Rust: the negative of pixels, which are u8.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<u8, 1>, out: TensorMut<i32, 1>) {
    let v = x.tile([0], [64]).load();
    out.tile([0], [64]).store(-v);
}

fn main() {}
