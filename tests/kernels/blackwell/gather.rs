//! Rows of a tensor in any order, those outside of it as zeros.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ snapshot: ptx
//@ arg x: f32[40, 64] bits
//@ arg rows: i32[16] list(3, -1, 39, 40, 0, 7, 7, -100, 1000, 38, 2, 21, 5, 4, 3, 2)
//@ arg col: i32 scalar 48
//@ arg out: f32[16, 32] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn gather(
    #[block(1, 32)] x: TensorMap<f32, 2>,
    rows: Tensor<i32, 1>,
    col: i32,
    out: TensorMut<f32, 2>,
) {
    let rows = rows.tile([0], [16]).load();
    let dst = shared::<f32>([16, 32]);
    let bar = barrier(1);
    bar.expect(16 * x.block_bytes());
    tma::gather(x, rows, col, bar, dst);
    bar.wait(0);
    out.tile([0, 0], [16, 32]).store(dst.load());
}
