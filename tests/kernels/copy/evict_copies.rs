//! Copies in groups with a priority in the cache: of windows and of tiles of addresses, given for the copy and for the window, in pieces of all
//! widths.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[50, 56] bits
//@ arg rows: i32[32] list(3, -1, 0, 50, 17, 99, 49)
//@ arg whole: T[32, 64] poison
//@ arg gathered: T[32, 64] poison
//@ arg late: T[32, 32] poison
//@ expect whole: if j < 56 { if i < 30 { x(i + 20, j) } else { 0 } } else { 0 }
//@ expect gathered: if (rows(i) >= 0) && (rows(i) < 50) { if j < 56 { x(rows(i), j) } else { 7 } } else { 7 }
//@ expect late: if j < 31 { x(i + 1, j + 25) } else { 0 }
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a, sm_100a], warps = 4, grid = 1, instances(T = [u8, f16, f32, i64]))]
pub fn evict_copies<T: Number>(
    x: Tensor<T, 2>,
    rows: Tensor<i32, 1>,
    whole: TensorMut<T, 2>,
    gathered: TensorMut<T, 2>,
    late: TensorMut<T, 2>,
) {
    let (a, b, c) = (shared::<T>([32, 64]), shared::<T>([32, 64]), shared::<T>([32, 32]));
    let (rows, columns) = (rows.tile([0], [32]).load().expand(1), arange(0, 64).expand(0));
    let valid = (rows.ge(0) & rows.lt(50)).broadcast([32, 64]) & columns.lt(56);
    copy_async(x.tile([20, 0], [32, 64]), a).evict_first();
    copy_async_masked(x.ptr() + (rows * 56 + columns), valid, 7_i32.cast::<T>(), b).evict_last();
    copy_async(x.tile([1, 25], [32, 32]).evict_last(), c);
    copy_async_wait_all();
    sync();
    whole.tile([0, 0], [32, 64]).store(a.load());
    gathered.tile([0, 0], [32, 64]).store(b.load());
    late.tile([0, 0], [32, 32]).store(c.load());
}
