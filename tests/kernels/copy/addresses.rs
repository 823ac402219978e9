//! Copies from tiles of addresses: rows in any order, with masks and what comes elsewhere, aligned and not, along rows and columns, in
//! a pipelined loop.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg table: T[50, 64] list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
//@ arg rows: i32[32] list(3, 49, 0, 17, 17, 5)
//@ arg some: i32[32] list(3, -1, 0, 50, 17, 99, 49)
//@ arg all: T[32, 64] poison
//@ arg zeroed: T[32, 64] poison
//@ arg filled: T[32, 64] poison
//@ arg late: T[32, 32] poison
//@ arg turned: T[64, 32] poison
//@ arg few: T[16] poison
//@ arg sums: T[32, 16] poison
//@ expect all: table(rows(i), j)
//@ expect zeroed: if (some(i) >= 0) && (some(i) < 50) { table(some(i), j) } else { 0 }
//@ expect filled: if (some(i) >= 0) && (some(i) < 50) { if j < 40 { table(some(i), j) } else { 7 } } else { 7 }
//@ expect late: table(rows(i), j + 1)
//@ expect turned: table(rows(j), i)
//@ expect few: if i < 13 { table(2, i) } else { 7 }
//@ expect sums: table(rows(i), j) + table(rows(i), j + 16) + table(rows(i), j + 32) + table(rows(i), j + 48)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [u8, f16, f32, i64]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn addresses<T: Number>(
    table: Tensor<T, 2>,
    rows: Tensor<i32, 1>,
    some: Tensor<i32, 1>,
    all: TensorMut<T, 2>,
    zeroed: TensorMut<T, 2>,
    filled: TensorMut<T, 2>,
    late: TensorMut<T, 2>,
    turned: TensorMut<T, 2>,
    few: TensorMut<T, 1>,
    sums: TensorMut<T, 2>,
) {
    let (zero, seven) = (0_i32.cast::<T>(), 7_i32.cast::<T>());
    let (a, b, c) = (shared::<T>([32, 64]), shared::<T>([32, 64]), shared::<T>([32, 64]));
    let (d, e, f) = (shared::<T>([32, 32]), shared::<T>([64, 32]), shared::<T>([16]));
    let (rows, some) = (rows.tile([0], [32]).load(), some.tile([0], [32]).load());
    let columns = arange(0, 64);
    let at = table.ptr() + (rows.expand(1) * 64 + columns.expand(0));
    copy_async(at, a);
    let valid = (some.ge(0) & some.lt(50)).expand(1).broadcast([32, 64]);
    let some = table.ptr() + (some.expand(1) * 64 + columns.expand(0));
    copy_async_masked(some.reshape([1, 32, 64]), valid.reshape([1, 32, 64]), zero, b);
    copy_async_masked(some, valid & columns.lt(40).expand(0), seven, c);
    copy_async(table.ptr() + 1 + (rows.expand(1) * 64 + arange(0, 32).expand(0)), d);
    copy_async(table.ptr() + (rows.expand(0) * 64 + columns.expand(1)), e);
    let first = arange(0, 16);
    copy_async_masked(table.ptr() + 128 + first, first.lt(13), seven, f);
    copy_async_wait_all();
    sync();
    all.tile([0, 0], [32, 64]).store(a.load());
    zeroed.tile([0, 0], [32, 64]).store(b.load());
    filled.tile([0, 0], [32, 64]).store(c.load());
    late.tile([0, 0], [32, 32]).store(d.load());
    turned.tile([0, 0], [64, 32]).store(e.load());
    few.tile([0], [16]).store(f.load());
    let ring = shared::<T>([32, 16]);
    let mut sum = zeros([32, 16]);
    for k in pipeline(range(0, 64, 16), 3) {
        copy_async(table.ptr() + (rows.expand(1) * 64 + k + arange(0, 16).expand(0)), ring);
        sum = sum + ring.load();
    }
    sums.tile([0, 0], [32, 16]).store(sum);
}
