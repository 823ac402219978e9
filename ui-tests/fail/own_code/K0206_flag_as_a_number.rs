// CUDA: `if (causal)` with an int flag.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(scores: TensorMut<f32, 2>, causal: i32) {
    let window = scores.tile([0, 0], [64, 64]);
    if causal {
        let seen = arange(0, 64).expand(1).ge(arange(0, 64).expand(0));
        window.store(select(seen, window.load(), f32::NEG_INFINITY));
    }
}

fn main() {}
