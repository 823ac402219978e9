//! Early: Block 0 goes on when its own phase is over; block 1 may still be in the phase before.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn multicast_ahead(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (rank, slots, full) = (cluster::rank(), shared::<f32>([2, 1, 64]), barrier(1));
    for step in 0..2 {
        full.expect(x.block_bytes());
        tma::load(x, [step, 0], full, slots[step]).multicast(0b11).when(rank == 0);
        full.wait(step);
        y.tile([2 * rank + step, 0], [1, 64]).store(slots[step].load());
    }
}
