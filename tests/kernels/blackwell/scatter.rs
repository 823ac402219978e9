//! Rows of a tensor are written in any order; those behind its end, and columns there, are dropped.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ snapshot: ptx
//@ arg x: bf16[40, 64] bits
//@ arg rows: i32[16] list(3, 1, 39, 40, 0, 7, 70, 100, 1000, 38, 2, 21, 5, 4, 30, 20)
//@ arg col: i32 scalar 48
//@ arg src: bf16[16, 32] bits
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scatter(
    #[block(1, 32)] x: TensorMapMut<bf16, 2>,
    rows: Tensor<i32, 1>,
    col: i32,
    src: Tensor<bf16, 2>,
) {
    let rows = rows.tile([0], [16]).load();
    let staged = shared::<bf16>([16, 32]);
    staged.store(src.tile([0, 0], [16, 32]).load());
    tma::scatter(x, rows, col, staged);
    tma::store_wait(0);
}
