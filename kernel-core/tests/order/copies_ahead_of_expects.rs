//! Early: The second copy may deliver its bytes while the first phase waits for those of the first one.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn copies_ahead_of_expects(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (slots, full) = (shared::<f32>([2, 1, 64]), barrier(1));
    warp_specialize(
        || {
            for step in 0..2 {
                full.expect(x.block_bytes());
                full.wait(step);
                y.tile([step, 0], [1, 64]).store(slots[step].load());
            }
        },
        [partition(1).run(|| {
            for step in 0..2 {
                tma::load(x, [step, 0], full, slots[step]);
            }
        })],
    );
}
