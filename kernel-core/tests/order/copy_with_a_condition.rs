//! Chosen: One number of the argument starts no copy.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn copy_with_a_condition(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>, n: i32) {
    let (tile, full) = (shared::<f32>([1, 64]), barrier(1));
    full.expect(x.block_bytes());
    tma::load(x, [0, 0], full, tile).when(n != 7);
    full.wait(0);
    y.tile([0, 0], [1, 64]).store(tile.load());
}
