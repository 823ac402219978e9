//! Rows of 512 bytes are longer than a box: their bytes go two at a time, where an even number of them is known.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg b: u8[rows, columns] poison
//@ expect b: a(i, j)
//@ case: whole
//@ arg rows: i32 scalar 16
//@ arg columns: i32 scalar 1024
//@ arg a: u8[rows, columns] iota(0, 7)
//@ case: ends within a window
//@ arg rows: i32 scalar 11
//@ arg columns: i32 scalar 784
//@ arg a: u8[rows, columns] iota(0, 7)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [cdiv(rows, 8), cdiv(columns, 512)])]
pub fn promoted(
    rows: i32,
    columns: i32,
    #[stride(_, 1)] a: Tensor<u8, 2>,
    #[stride(_, 1)] b: TensorMut<u8, 2>,
) {
    let at = [block_id(0) * 8, block_id(1) * 512];
    let staged = shared::<u8>([8, 512]).with_layout(row_major());
    let bar = barrier(1);
    bar.expect(staged.bytes());
    copy_async(a.tile(at, [8, 512]), staged).on(bar);
    bar.wait(0);
    copy_async(staged, b.tile(at, [8, 512]));
    tma::store_wait(0);
}
