//! Argument(1): One iteration leaves its arrival out.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn arrival_of_an_argument(y: TensorMut<f32, 1>, n: i32) {
    let full = barrier(1);
    for step in 0..8 {
        if step != n - 4 {
            full.arrive();
        }
        full.wait(step % 2);
        y.tile([128 * step], [128]).store(zeros([128]));
    }
}
