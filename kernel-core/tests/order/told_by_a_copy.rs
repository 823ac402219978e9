//! Unannounced: What a thread wrote before it started a copy is not what the copy says to be there.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn told_by_a_copy(
    #[block(1, 64)] x: TensorMap<f32, 2>,
    z: Tensor<f32, 2>,
    y: TensorMut<f32, 2>,
) {
    let (tile, side, full) = (shared::<f32>([1, 64]), shared::<f32>([1, 64]), barrier(1));
    warp_specialize(
        || {
            full.expect(x.block_bytes());
            full.wait(0);
            y.tile([0, 0], [1, 64]).store(tile.load() + side.load());
        },
        [partition(1).run(|| {
            side.store(z.tile([0, 0], [1, 64]).load());
            sync();
            tma::load(x, [0, 0], full, tile);
        })],
    );
}
