//! Rows that the cache is to evict first.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn rows(x: Tensor<f32, 2>, list: Tensor<i32, 1>, y: TensorMut<f32, 2>) {
    let rows = list.tile([0], [16]).load();
    y.tile([0, 0], [16, 64]).store(x.tile_rows(rows, [0, 0], [16, 64]).evict_first().load());
}

fn main() {}
