//! Unseen: The same of partitions, one of which the default part lets go on.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn first_phase_missed_of_three(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let (asked, empty) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            asked.wait(0);
            empty.arrive();
        },
        [
            partition(1).run(|| {
                empty.wait(1);
                y.tile([0], [64]).store(x.tile([0], [64]).load());
            }),
            partition(1).run(|| asked.arrive()),
        ],
    );
}
