// Rust: a running sum begins with the integer 0.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut total = 0;
    for at in range(0, x.dim(0), 512) {
        total += x.tile([at], [512]).load().sum(0).item();
    }
    out.tile([0], [1]).store(full([1], total));
}

fn main() {}
