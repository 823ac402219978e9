//! Words of Gluon for layouts.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn copy(x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [64, 64]);
    let t = window.load().to_layout(BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]));
    let u = convert_layout(window.load(), mma([2, 2]));
    window.store(window.load().convert_layout(mma([2, 2])));
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn lanes(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [128]);
    window.store(window.load().to_layout(layout!(S[(4, 32) : (1 @ warpid, 1 @ lane)])));
}

fn main() {}
