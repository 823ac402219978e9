//! A window that no single box has: 512 rows, and rows of 512 halves as they are.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg b: f16[rows, 72] poison
//@ expect b: a(i, j)
//@ arg d: f16[9, columns] poison
//@ expect d: c(i, j)
//@ case: ends within a window
//@ arg rows: i32 scalar 700
//@ arg columns: i32 scalar 776
//@ arg a: f16[rows, 72] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg c: f16[9, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ case: whole
//@ arg rows: i32 scalar 1024
//@ arg columns: i32 scalar 1024
//@ arg a: f16[rows, 72] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg c: f16[9, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [2, 2])]
pub fn issues(
    rows: i32,
    columns: i32,
    #[block(512, 64)] a: TensorMap<f16, 2>,
    #[block(512, 64)] b: TensorMapMut<f16, 2>,
    c: Tensor<f16, 2>,
    d: TensorMut<f16, 2>,
) {
    let (tall, wide) = (shared::<f16>([512, 64]), shared::<f16>([8, 512]).with_layout(row_major()));
    let bar = barrier(1);
    bar.expect(tall.bytes() + wide.bytes());
    let (down, across) = ([block_id(0) * 512, block_id(1) * 64], [block_id(0) * 8, block_id(1) * 512]);
    tma::load(a, down, bar, tall);
    copy_async(c.tile(across, [8, 512]), wide).on(bar);
    bar.wait(0);
    tma::store(b, down, tall);
    copy_async(wide, d.tile(across, [8, 512]));
    tma::store_wait(0);
}
