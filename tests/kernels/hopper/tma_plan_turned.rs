//! A tensor declared with its columns contiguous: the tile in shared memory lies as they do.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg b: f16[rows, columns] poison
//@ expect b: a(i, j)
//@ case: whole
//@ arg rows: i32 scalar 256
//@ arg columns: i32 scalar 16
//@ arg a: f16[rows, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4) strides(1, 256)
//@ case: ends within a window
//@ arg rows: i32 scalar 200
//@ arg columns: i32 scalar 13
//@ arg a: f16[rows, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4) strides(1, 208)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [cdiv(rows, 128), cdiv(columns, 8)])]
pub fn turned(
    rows: i32,
    columns: i32,
    #[stride(1, _)] a: Tensor<f16, 2>,
    b: TensorMut<f16, 2>,
) {
    let at = [block_id(0) * 128, block_id(1) * 8];
    let staged = shared::<f16>([128, 8]);
    let bar = barrier(1);
    bar.expect(staged.bytes());
    copy_async(a.tile(at, [128, 8]), staged).on(bar);
    bar.wait(0);
    b.tile(at, [128, 8]).store(staged.load());
}
