// Triton: axpy over pointers with a mask for the tail. `<` between a tile and a scalar: Rust's comparison gives one bool, tiles have `.lt`.
// RIGHT: let mask = at.lt(n);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 1024))]
pub fn axpy(x: Ptr<f32>, y: Ptr<f32>, alpha: f32, n: i32) {
    let at = block_id(0) * 1024 + arange(0, 1024);
    let mask = at < n;
    let a = load_masked(x + at, mask, 0.0);
    let b = load_masked(y + at, mask, 0.0);
    store_masked(y + at, mask, alpha * a + b);
}

fn main() {}
