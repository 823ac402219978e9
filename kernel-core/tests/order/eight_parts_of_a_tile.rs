//! Related: The loop of one part runs eight times as often as that of the other one in the launches that the user makes.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn eight_parts_of_a_tile(
    #[block(64)] x: TensorMap<f32, 1>,
    w: Tensor<f32, 1>,
    y: TensorMut<f32, 1>,
) {
    let bufs = shared::<f32>([2, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for group in 0..w.dim(0) {
                let scale = w.tile([group], [1]).load();
                for part in 0..8 {
                    let turn = 8 * group + part;
                    full[turn % 2].wait(turn / 2 % 2);
                    y.tile([64 * turn], [64]).store(bufs[turn % 2].load() * scale);
                    empty[turn % 2].arrive();
                }
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
