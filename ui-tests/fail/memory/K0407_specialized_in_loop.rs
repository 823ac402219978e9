//! Warps are specialised in a loop.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(n: i32, x: Tensor<f32, 2>, y: TensorMut<f32, 2>, z: TensorMut<f32, 2>) {
    for i in 0..n {
        warp_specialize(
            || y.tile([i, 0], [1, 128]).store(x.tile([i, 0], [1, 128]).load()),
            [partition(1).run(|| z.tile([i, 0], [1, 128]).store(full([1, 128], 0.0)))],
        );
    }
}

fn main() {}
