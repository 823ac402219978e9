//! A scatter writes no row before the tensor, none twice, and begins at a multiple of 16 bytes.
//@ run: emulate
//@ compare: exact
//@ arg x: f16[20, 64] bits
//@ case: right
//@ arg rows: i32[8] list(19, 3, 2, 7, 20, 20, 0, 11)
//@ arg col: i32 scalar 8
//@ case: a row before the tensor
//@ arg rows: i32[8] list(19, 3, 2, 7, 20, -20, 0, 11)
//@ arg col: i32 scalar 8
//@ fails: writes before the tensor: row -20
//@ case: columns before the tensor
//@ arg rows: i32[8] list(19, 3, 2, 7, 20, 20, 0, 11)
//@ arg col: i32 scalar -8
//@ fails: writes before the tensor: column -8
//@ case: a row twice in one instruction
//@ arg rows: i32[8] list(19, 3, 19, 7, 20, 20, 0, 11)
//@ arg col: i32 scalar 8
//@ fails: for another of its rows too
//@ case: a row twice in two warps
//@ arg rows: i32[8] list(19, 3, 2, 7, 20, 3, 0, 11)
//@ arg col: i32 scalar 8
//@ fails: which an asynchronous copy writes that was issued in
//@ case: within 16 bytes
//@ arg rows: i32[8] list(19, 3, 2, 7, 20, 20, 0, 11)
//@ arg col: i32 scalar 12
//@ fails: a tensor copy starts at a multiple of 16 bytes
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 2, grid = 1)]
pub fn scatter_refused(
    #[block(1, 16)] x: TensorMapMut<f16, 2>,
    rows: Tensor<i32, 1>,
    col: i32,
) {
    let staged = shared::<f16>([8, 16]);
    staged.store(full([8, 16], f16::of(3.0)));
    tma::scatter(x, rows.tile([0], [8]).load(), col, staged);
    tma::store_wait(0);
}
