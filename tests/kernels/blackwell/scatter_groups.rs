//! Scatters of several warps, stores and copies of bytes: a wait for all but the last of them waits for the same in every thread.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[70, 128] bits
//@ arg y: f32[32, 32] bits
//@ arg z: f32[32, 32] poison
//@ arg rows: i32[32] list(3, 1, 69, 70, 0, 7, 8, 100, 1000, 38, 2, 21, 5, 4, 6, 9, 64, 68, 67, 66, 11, 12, 13, 14, 50, 40, 30, 20, 10, 15, 16, 17)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scatter_groups(
    #[block(1, 32)] x: TensorMapMut<f32, 2>,
    y: Tensor<f32, 2>,
    #[block(32, 32)] z: TensorMapMut<f32, 2>,
    rows: Tensor<i32, 1>,
) {
    let rows = rows.tile([0], [32]).load();
    let ring = shared::<f32>([2, 32, 32]);
    let tile = y.tile([0, 0], [32, 32]).load();
    for k in 0..4 {
        tma::store_wait(1); // the scatter before the last has read its tile
        ring[k % 2].store(tile + 1.0);
        tma::scatter(x, rows, 32 * k, ring[k % 2]);
    }
    tma::store_wait(1);
    ring[0].store(tile * 2.0);
    tma::store(z, [0, 0], ring[0]);
    tma::store_wait_written(0);
    ring[1].store(tile);
    tma::scatter(x, rows, 0, ring[1]).when(y.dim(0) > 31);
    tma::store_wait(0);
}
