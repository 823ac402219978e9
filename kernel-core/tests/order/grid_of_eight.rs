//! Related: The grid is 8.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 8)]
pub fn grid_of_eight(#[block(64)] x: TensorMap<f32, 1>, y: TensorMut<f32, 2>) {
    let bufs = shared::<f32>([2, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for turn in 0..num_blocks(0) {
                full[turn % 2].wait(turn / 2 % 2);
                y.tile([block_id(0), 64 * turn], [1, 64])
                    .store(bufs[turn % 2].load().reshape([1, 64]));
                empty[turn % 2].arrive();
            }
        },
        [partition(1).run(|| {
            for turn in 0..8 {
                empty[turn % 2].wait(1 - turn / 2 % 2);
                full[turn % 2].expect(x.block_bytes());
                tma::load(x, [64 * turn], full[turn % 2], bufs[turn % 2]);
            }
        })],
    );
}
