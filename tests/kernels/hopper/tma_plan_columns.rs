//! 8 rows of 256 halves in the swizzle of 128 bytes: one box of rank 3 where 64 divides the columns, four boxes elsewhere. Both ways
//! leave the same at the edges.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg b: f16[rows, columns] poison
//@ expect b: a(i, j)
//@ case: whole
//@ arg rows: i32 scalar 16
//@ arg columns: i32 scalar 512
//@ arg a: f16[rows, columns] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ case: columns that end within a swizzle
//@ arg rows: i32 scalar 13
//@ arg columns: i32 scalar 1000
//@ arg a: f16[rows, columns] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ case: columns that end within a window
//@ arg rows: i32 scalar 5
//@ arg columns: i32 scalar 320
//@ arg a: f16[rows, columns] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 1, grid = [cdiv(rows, 8), cdiv(columns, 256)])]
pub fn columns(rows: i32, columns: i32, a: Tensor<f16, 2>, b: TensorMut<f16, 2>) {
    let at = [block_id(0) * 8, block_id(1) * 256];
    let staged = shared::<f16>([8, 256]).with_layout(swizzle(128));
    let bar = barrier(1);
    bar.expect(staged.bytes());
    copy_async(a.tile(at, [8, 256]), staged).on(bar);
    bar.wait(0);
    copy_async(staged, b.tile(at, [8, 256]));
    tma::store_wait(0);
}
