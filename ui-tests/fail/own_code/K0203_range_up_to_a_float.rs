// Rust: a loop up to a float.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: TensorMut<f32, 1>, steps: f32) {
    for step in 0..steps {
        let v = x.tile([step * 64], [64]).load();
        x.tile([step * 64], [64]).store(v * 0.5);
    }
}

fn main() {}
