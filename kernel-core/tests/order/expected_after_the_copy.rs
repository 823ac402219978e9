//! K0423: An `expect` that ends a phase whose bytes came before says nothing of the copy to its thread.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn expected_after_the_copy(#[block(1, 64)] x: TensorMap<f32, 2>) {
    let (tile, full, go) = (shared::<f32>([1, 64]), barrier(1), barrier(1));
    warp_specialize(
        || {
            go.wait(0);
            full.expect(x.block_bytes());
        },
        [partition(1).run(|| {
            tma::load(x, [0, 0], full, tile);
            go.arrive();
        })],
    );
}
