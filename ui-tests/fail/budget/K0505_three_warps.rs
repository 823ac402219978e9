//! A partition of three warps, and one with a budget that cannot be set.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn clear(x: TensorMut<f32, 1>, y: TensorMut<f32, 1>) {
    warp_specialize(
        || x.tile([0], [128]).store(zeros([128])),
        [
            partition(3).run(|| y.tile([0], [128]).store(zeros([128]))),
            partition(1).registers(41).run(|| sync()),
        ],
    );
}

fn main() {}
