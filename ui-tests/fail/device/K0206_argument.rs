//! A number is given where a function of another crate takes a tile.

use device_library::act::silu;
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [64]);
    window.store(window.load() + silu(3.0));
}

fn main() {}
