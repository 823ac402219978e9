//! Chosen: The two parts use one slot unless `n` and `m` have the same parity.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn slots_of_two_arguments(x: Tensor<f32, 2>, y: TensorMut<f32, 2>, n: i32, m: i32) {
    let slots = shared::<f32>([2, 1, 64]);
    slots[0].store(zeros([1, 64]));
    slots[1].store(zeros([1, 64]));
    sync();
    warp_specialize(
        || y.tile([0, 0], [1, 64]).store(slots[n & 1].load()),
        [partition(1).run(|| slots[1 - (m & 1)].store(x.tile([0, 0], [1, 64]).load()))],
    );
}
