//! Proven 3: The iterations of a `while` count as those of a `for`, and its last look at the condition does not.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn while_is_counted(y: TensorMut<f32, 1>, n: i32) {
    let full = barrier(1);
    let mut step = 0;
    while step < n {
        if step != 32 {
            full.arrive();
        }
        full.wait(step % 2);
        y.tile([128 * step], [128]).store(zeros([128]));
        step += 1;
    }
}
