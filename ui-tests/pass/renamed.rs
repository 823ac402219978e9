//! The crate under another name: `crate = path` says where generated code finds it.

extern crate kiln as tiles;

use tiles::prelude::*;

mod kiln {}

/// A device function of this crate, with needs of its own.
#[tiles::device(crate = tiles)]
fn half(x: Tile<f32>) -> Tile<f32> {
    scaled(x, 0.5)
}

/// What `half` uses.
#[tiles::device(crate = tiles)]
fn scaled(x: Tile<f32>, by: f32) -> Tile<f32> {
    x * by
}

/// A kernel with a grid, and without device functions.
#[tiles::kernel(crate = tiles, target = sm_80, warps = 4, grid = cdiv(y.dim(0), N), instances(N = [64, 128]))]
pub fn clear<const N: i32>(y: TensorMut<f32, 1>) {
    y.tile([block_id(0) * N], [N]).store(zeros([N]));
}

/// A kernel that waits for device functions.
#[tiles::kernel(target = sm_80, crate = tiles)]
pub fn halve(y: TensorMut<f32, 1>, p: Ptr<f32>) {
    let window = y.tile([0], [64]);
    window.store(half(window.load()));
    store(p, 1.0);
}

#[tiles::kernel(crate = crate::tiles)]
mod kernels {
    use crate::tiles::prelude::*;

    #[kernel(target = sm_80)]
    pub fn fill(y: TensorMut<f32, 1>, value: f32) {
        y.tile([0], [64]).store(full([64], value));
    }

    #[kernel(target = sm_80)]
    pub fn halve(y: TensorMut<f32, 1>) {
        let window = y.tile([0], [64]);
        window.store(super::half(window.load()));
    }
}

fn main() {
    assert_eq!(clear::INSTANCES.len(), 2);
    assert_eq!(halve::INSTANCES.len(), 1);
    assert_eq!(kernels::fill::TARGETS, [tiles::Target::Sm80]);
    assert_eq!(kernels::halve::INSTANCES.len(), 1);
}
