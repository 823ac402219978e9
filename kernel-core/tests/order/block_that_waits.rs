//! Related: Every block but the first waits without end.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 4)]
pub fn block_that_waits(y: TensorMut<f32, 1>) {
    let full = barrier(1);
    if block_id(0) == 0 {
        full.arrive();
    }
    full.wait(0);
    y.tile([128 * block_id(0)], [128]).store(zeros([128]));
}
