//! What is no layout stands where one is wanted: the help fits the tile and the warps.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn pinned(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [256]);
    let s = shared::<f32>([256]);
    s.with_layout(128).store(window.load());
    window.store(s.load().to_layout([4, 32]));
}

fn main() {}
