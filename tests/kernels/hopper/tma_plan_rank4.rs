//! Two heads of 16 rows at once: with the columns taken apart, a map of 5 dimensions; and back by a map of another tensor.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg b: f16[batches, heads, rows, columns] poison
//@ expect b: a(i, j, k, l)
//@ case: whole
//@ arg batches: i32 scalar 2
//@ arg heads: i32 scalar 4
//@ arg rows: i32 scalar 32
//@ arg columns: i32 scalar 128
//@ arg a: f16[batches, heads, rows, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ case: ends within a window along every axis
//@ arg batches: i32 scalar 2
//@ arg heads: i32 scalar 3
//@ arg rows: i32 scalar 21
//@ arg columns: i32 scalar 104
//@ arg a: f16[batches, heads, rows, columns] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [cdiv(rows, 16), cdiv(heads, 2), batches])]
pub fn rank4(
    batches: i32,
    heads: i32,
    rows: i32,
    columns: i32,
    #[block(1, 2, 16, 128)] a: TensorMap<f16, 4>,
    #[block(1, 2, 16, 128)] b: TensorMapMut<f16, 4>,
) {
    let at = [block_id(2), block_id(1) * 2, block_id(0) * 16, 0];
    let staged = shared::<f16>([2, 16, 128]);
    let bar = barrier(1);
    bar.expect(a.block_bytes());
    tma::load(a, at, bar, staged);
    bar.wait(0);
    tma::store(b, at, staged);
    tma::store_wait(0);
}
