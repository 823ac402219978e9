//! Sums at addresses that follow one another: aligned and not, along rows and columns, more than the block has threads and fewer, some of them
//! twice, with old values and without.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[16, 64] list(1, -2, 3, 0, 2, -1, 4)
//@ arg rows: T[16, 64] fill(1)
//@ arg late: T[16, 65] fill(1)
//@ arg twice: T[64] fill(-1)
//@ arg few: T[8] fill(2)
//@ arg old: T[64] fill(3)
//@ arg seen: T[64] poison
//@ expect rows: 1 + x(i, j)
//@ expect late: if j > 0 { 1 + x(i, j - 1) } else { 1 }
//@ expect twice: sum(k, 0, 16, x(k, i)) - 1
//@ expect few: if i < 4 { 2 + x(2, i) } else { 2 }
//@ expect old: 3 + x(0, i)
//@ expect seen: 3
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64, i32]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn addresses_in_a_row<T: Number>(
    x: Tensor<T, 2>,
    rows: TensorMut<T, 2>,
    late: TensorMut<T, 2>,
    twice: TensorMut<T, 1>,
    few: TensorMut<T, 1>,
    old: TensorMut<T, 1>,
    seen: TensorMut<T, 1>,
) {
    let v = x.tile([0, 0], [16, 64]).load();
    let (row, column) = (arange(0, 16).expand(1), arange(0, 64).expand(0));
    atomic::add(rows.ptr() + (row * 64 + column), v);
    atomic::add(late.ptr() + 1 + (row * 65 + column), v);
    atomic::add(twice.ptr() + column.broadcast([16, 64]), v);
    atomic::add(few.ptr() + arange(0, 4), x.tile([2, 0], [1, 4]).load().reshape([4]));
    let first = x.tile([0, 0], [1, 64]).load().reshape([64]);
    let before = atomic::add(old.ptr() + arange(0, 64), first);
    seen.tile([0], [64]).store(before);
}
