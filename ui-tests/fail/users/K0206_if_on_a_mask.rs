// CUDA: Gradient clipping with the usual bounds check. `if` takes one bool, and `at.lt(n)` is a mask.
// RIGHT: store_masked(grad + at, at.lt(n), load_masked(grad + at, at.lt(n), 0.0).clamp(-limit, limit));
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = cdiv(n, 256))]
pub fn clip_gradient(grad: Ptr<f32>, limit: f32, n: i32) {
    let at = block_id(0) * 256 + arange(0, 256);
    if at.lt(n) {
        let g = load(grad + at);
        store(grad + at, g.clamp(-limit, limit));
    }
}

fn main() {}
