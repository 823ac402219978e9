//! Proven 128: No launch has step 0.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn step_that_is_an_argument(y: TensorMut<f32, 1>, n: i32) {
    let full = barrier(1);
    let mut last = 0;
    for at in range(0, 128, n) {
        last = at;
    }
    full.arrive();
    full.wait(last / 128);
    y.tile([0], [128]).store(zeros([128]));
}
