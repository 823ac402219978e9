//! Few: Right where one tensor has two tiles more than the other one.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn two_tiles_fewer(#[block(64)] x: TensorMap<f32, 1>, y: TensorMut<f32, 1>) {
    let bufs = shared::<f32>([2, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for turn in 0..y.dim(0) / 64 - 2 {
                full[turn % 2].wait(turn / 2 % 2);
                y.tile([64 * turn + 64], [64]).store(bufs[turn % 2].load());
                empty[turn % 2].arrive();
            }
        },
        [partition(1).run(|| {
            for turn in 0..x.dim(0) / 64 {
                empty[turn % 2].wait(1 - turn / 2 % 2);
                full[turn % 2].expect(x.block_bytes());
                tma::load(x, [64 * turn], full[turn % 2], bufs[turn % 2]);
            }
        })],
    );
}
