//! What a copy by tensor map still reads is no scratch: a reduction between its start and its wait has bytes of its own.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f32[64, 64] poison
//@ arg sums: f32[64] poison
//@ expect b: a(i, j)
//@ expect sums: sum(k, 0, 64, a(k, i))
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = 1)]
pub fn scratch_in_flight(
    a: Tensor<f32, 2>,
    #[block(64, 64)] b: TensorMapMut<f32, 2>,
    sums: TensorMut<f32, 1>,
) {
    let tile = a.tile([0, 0], [64, 64]).load();
    let staged = shared::<f32>([64, 64]);
    staged.store(tile);
    fence_async();
    tma::store(b, [0, 0], staged);
    sums.tile([0], [64]).store(tile.sum(0));
    tma::store_wait(0);
}
