//! Accumulators that have other names, or none.

use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn named(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let mut sums = zeros::<f32>([64, 64]);
    for _ in 0..4 {
        sums = wgmma::mma(a, b, sums);
        sums = wgmma::wait(1, sums);
    }
    c.tile([0, 0], [64, 64]).store(sums * 2.0);
}

#[kernel(target = sm_90a, warps = 4)]
pub fn unnamed(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    c.tile([0, 0], [64, 64]).store(wgmma::mma(a, b, zeros([64, 64])));
}

fn main() {}
