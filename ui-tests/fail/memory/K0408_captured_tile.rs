//! A partition uses a tile that other warps hold.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn both(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, z: TensorMut<f32, 1>) {
    let v = x.tile([0], [128]).load();
    warp_specialize(
        || y.tile([0], [128]).store(v + 1.0),
        [partition(1).run(|| z.tile([0], [128]).store(v - 1.0))],
    );
}

fn main() {}
