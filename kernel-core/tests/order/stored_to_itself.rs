//! K0418: A store that completes on a barrier is not over when the threads meet.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn stored_to_itself(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let (rank, slot, full) = (cluster::rank(), shared::<f32>([8, 64]), barrier(1));
    full.expect(slot.bytes());
    slot.of_block(rank).store_async(x.tile([0, 0], [8, 64]).load(), full);
    y.tile([8 * rank, 0], [8, 64]).store(slot.load());
    full.wait(0);
}
