//! Proven 128: No launch has step 0.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn step_around_statements(y: TensorMut<f32, 1>, n: i32) {
    let full = barrier(1);
    let mut phase = 0;
    for at in range(0, 128, n) {
        full.arrive();
        full.wait(phase);
        phase ^= 1;
        y.tile([at], [64]).store(zeros([64]));
    }
}
