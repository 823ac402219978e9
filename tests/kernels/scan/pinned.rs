//! Layouts in which the bits of the position along the axis lie in every order: registers above lanes, warps below both. Floats are
//! combined in one tree in all of them, so that their sums are the same to the last bit.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[16, 128] uniform(-1, 1)
//@ arg rows: f32[16, 128] poison
//@ arg high: f32[16, 128] poison
//@ arg warps_low: f32[16, 128] poison
//@ arg columns: f32[16, 128] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn pinned(
    x: Tensor<f32, 2>,
    rows: TensorMut<f32, 2>,
    high: TensorMut<f32, 2>,
    warps_low: TensorMut<f32, 2>,
    columns: TensorMut<f32, 2>,
) {
    const ROWS: Layout = blocked([1, 4], [1, 32], [4, 1], [1, 0]);
    const HIGH: Layout = blocked([1, 1], [4, 8], [1, 4], [1, 0]);
    const WARPS_LOW: Layout = blocked([2, 2], [16, 2], [1, 4], [0, 1]);
    let x = x.tile([0, 0], [16, 128]).load();
    rows.tile([0, 0], [16, 128]).store(x.to_layout(ROWS).cumsum(1));
    high.tile([0, 0], [16, 128]).store(x.to_layout(HIGH).cumsum(1));
    warps_low.tile([0, 0], [16, 128]).store(x.to_layout(WARPS_LOW).cumsum(1));
    columns.tile([0, 0], [16, 128]).store(x.to_layout(HIGH).cumsum(0));
}
