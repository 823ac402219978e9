//! K0418: The same, with a store that reads what the copy writes.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn stored_after_the_expect(
    #[block(1, 64)] x: TensorMap<f32, 2>,
    #[block(1, 64)] y: TensorMapMut<f32, 2>,
) {
    let (tile, full, go) = (shared::<f32>([1, 64]), barrier(1), barrier(1));
    warp_specialize(
        || {
            go.wait(0);
            full.expect(x.block_bytes());
            tma::store(y, [0, 0], tile);
            tma::store_wait(0);
        },
        [partition(1).run(|| {
            tma::load(x, [0, 0], full, tile);
            go.arrive();
        })],
    );
}
