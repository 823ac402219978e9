//! A copy from shared memory to listed rows.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn rows(x: Tensor<f32, 2>, list: Tensor<i32, 1>, y: TensorMut<f32, 2>) {
    let rows = list.tile([0], [16]).load();
    let held = shared::<f32>([16, 64]);
    held.store(x.tile([0, 0], [16, 64]).load());
    sync();
    copy_async(held, y.tile_rows(rows, [0, 0], [16, 64]));
}

fn main() {}
