//! A copy of listed rows that is to complete on a barrier.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn rows(x: Tensor<f32, 2>, list: Tensor<i32, 1>, y: TensorMut<f32, 2>) {
    let rows = list.tile([0], [16]).load();
    let (held, full) = (shared::<f32>([16, 64]), barrier(1));
    full.expect(held.bytes());
    copy_async(x.tile_rows(rows, [0, 0], [16, 64]), held).on(full);
    full.wait(0);
    y.tile([0, 0], [16, 64]).store(held.load());
}

fn main() {}
