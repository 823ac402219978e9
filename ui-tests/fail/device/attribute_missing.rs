//! The function is there, but not for kernels.

use kiln::prelude::*;

mod library {
    use kiln::prelude::*;

    pub fn plain(x: Tile<f32>) -> Tile<f32> {
        x
    }
}

use library::plain;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [64]);
    window.store(plain(window.load()));
}

fn main() {}
