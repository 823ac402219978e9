//! K0418: A copy that was started before a store says nothing of the store.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn sent_before_the_store(
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
            tma::load(x, [0, 0], full, tile);
            side.store(z.tile([0, 0], [1, 64]).load());
        })],
    );
}
