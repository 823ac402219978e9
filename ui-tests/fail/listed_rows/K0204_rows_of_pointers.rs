//! Listed rows of a tensor of pointers.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn rows(table: Tensor<Ptr<f32>, 1>, list: Tensor<i32, 1>, y: TensorMut<f32, 1>) {
    let rows = list.tile([0], [16]).load();
    let at = table.tile_rows(rows, [0], [16]).load();
    y.tile([0], [16]).store(load(at));
}

fn main() {}
