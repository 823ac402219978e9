//! A copied row read in two register layouts: one of 4 elements a thread, where its type is wider, and one of 8. The copy's
//! 16 bytes stay side by side, in their order.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[1, N] list(1, -2, 3, 4, -5)
//@ arg out: f32[1, N] poison
//@ arg same: f16[1, N] poison
//@ expect out: x(i, j)
//@ expect same: x(i, j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(N = [512, 1024, 2048, 4096]))]
pub fn rows_two_ways<const N: i32>(
    x: Tensor<f16, 2>,
    out: TensorMut<f32, 2>,
    same: TensorMut<f16, 2>,
) {
    let row = shared::<f16>([1, N]);
    copy_async(x.tile([0, 0], [1, N]), row);
    copy_async_wait_all();
    sync();
    out.tile([0, 0], [1, N]).store(row.load().cast::<f32>());
    same.tile([0, 0], [1, N]).store(row.load());
}
