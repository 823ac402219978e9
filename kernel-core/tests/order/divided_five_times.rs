//! Chosen: The divisors multiply beyond every type.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn divided_five_times(y: TensorMut<f32, 1>, n: i32) {
    let full = barrier(1);
    let none = n / 1073741824 / 1073741824 / 1073741824 / 1073741824 / 1073741824;
    if none < 5 {
        full.arrive();
        full.wait(0);
    }
    y.tile([0], [128]).store(zeros([128]));
}
