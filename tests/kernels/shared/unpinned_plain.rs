//! Small arrays: one row, one column, one element.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] bits
//@ arg out: T[3, 64] poison
//@ expect out: if i == 2 { x(0) } else { x(j) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [i8, i16, i32, i64]))]
pub fn unpinned_plain<T: Int>(x: Tensor<T, 1>, out: TensorMut<T, 2>) {
    let row = shared::<T>([1, 64]);
    let col = shared::<T>([64, 1]);
    let one = shared::<T>([1]);
    let v = x.tile([0], [64]).load();
    row.store(v.expand(0));
    col.store(v.expand(1));
    one.store(x.tile([0], [1]).load());
    sync();
    out.tile([0, 0], [1, 64]).store(row.load());
    out.tile([1, 0], [1, 64]).store(col.load().t());
    out.tile([2, 0], [1, 64]).store(one.load().expand(0).broadcast([1, 64]));
}
