//! Something is wrong in the kernel and in a device function that it calls.

use kiln::prelude::*;

mod library {
    use kiln::prelude::*;

    #[device]
    pub fn three(x: Tile<f32>) -> Tile<f32> {
        x + zeros::<f32>([3])
    }
}

use library::three as shift;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [64]);
    window.store(zeros::<f32>([16]));
    window.store(shift(window.load()));
    window.store(zeros::<f32>([32]));
}

fn main() {}
