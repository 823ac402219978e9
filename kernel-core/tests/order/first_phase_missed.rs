//! Unseen: If the partition arrives first, phase 0 is over, and the wait for the phase before never ends.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn first_phase_missed(y: TensorMut<f32, 1>) {
    let empty = barrier(1);
    warp_specialize(
        || {
            empty.wait(1);
            y.tile([0], [128]).store(zeros([128]));
        },
        [partition(1).run(|| empty.arrive())],
    );
}
