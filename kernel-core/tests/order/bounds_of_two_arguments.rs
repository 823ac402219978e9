//! Related: Right where the two arguments are equal.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn bounds_of_two_arguments(
    #[block(64)] x: TensorMap<f32, 1>,
    y: TensorMut<f32, 1>,
    n: i32,
    m: i32,
) {
    let bufs = shared::<f32>([2, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for turn in 0..n {
                full[turn % 2].wait(turn / 2 % 2);
                y.tile([64 * turn], [64]).store(bufs[turn % 2].load());
                empty[turn % 2].arrive();
            }
        },
        [partition(1).run(|| {
            for turn in 0..m {
                empty[turn % 2].wait(1 - turn / 2 % 2);
                full[turn % 2].expect(x.block_bytes());
                tma::load(x, [64 * turn], full[turn % 2], bufs[turn % 2]);
            }
        })],
    );
}
