//! A gather begins at a column that is a multiple of 16 bytes: elsewhere it stops the kernel.
//@ run: emulate
//@ compare: exact
//@ arg x: f16[20, 64] bits
//@ arg rows: i32[8] list(19, 3, -2, 7, 20, 0, 0, 11)
//@ arg y: f16[8, 16] poison
//@ case: 16 bytes
//@ arg col: i32 scalar 8
//@ case: 4 bytes
//@ arg col: i32 scalar 2
//@ fails: a tensor copy starts at a multiple of 16 bytes
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 1, grid = 1)]
pub fn gather_misaligned(
    #[block(1, 16)] x: TensorMap<f16, 2>,
    rows: Tensor<i32, 1>,
    col: i32,
    y: TensorMut<f16, 2>,
) {
    let dst = shared::<f16>([8, 16]);
    let bar = barrier(1);
    bar.expect(8 * x.block_bytes());
    tma::gather(x, rows.tile([0], [8]).load(), col, bar, dst);
    bar.wait(0);
    y.tile([0, 0], [8, 16]).store(dst.load());
}
