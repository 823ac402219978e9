//! Long: A loop of which nothing but what it carries matters.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn two_thousand_million_iterations(y: TensorMut<f32, 1>) {
    let full = barrier(1);
    let mut last = 0;
    for turn in 0..2_000_000_000 {
        last = turn;
    }
    full.arrive();
    full.wait(1 - last % 2);
    y.tile([0], [128]).store(zeros([128]));
}
