//! What lies outside of the tensor comes as zeros, whichever boxes copy the window: seen by reading the window.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg b: f16[32, 512] poison
//@ expect b: if i < rows && j < columns { a(i, j) } else { 0 }
//@ case: columns that are whole swizzles
//@ arg rows: i32 scalar 27
//@ arg columns: i32 scalar 448
//@ arg a: f16[rows, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ case: columns that are not
//@ arg rows: i32 scalar 27
//@ arg columns: i32 scalar 440
//@ arg a: f16[rows, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 1, grid = [4, 2])]
pub fn columns_read(rows: i32, columns: i32, a: Tensor<f16, 2>, b: TensorMut<f16, 2>) {
    let at = [block_id(0) * 8, block_id(1) * 256];
    let staged = shared::<f16>([8, 256]);
    let bar = barrier(1);
    bar.expect(staged.bytes());
    copy_async(a.tile(at, [8, 256]), staged).on(bar);
    bar.wait(0);
    b.tile(at, [8, 256]).store(staged.load());
}
