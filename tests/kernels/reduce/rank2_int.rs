//! Sums, maxima and minima along each axis of a tile; integers wrap.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[32, 64] bits
//@ arg cols: T[3, 64] poison
//@ arg rows: T[3, 32] poison
//@ expect cols: if i == 0 { sum(r, 0, 32, x(r, j)) } else { if i == 1 { most(r, 0, 32, x(r, j)) } else { least(r, 0, 32, x(r, j)) } }
//@ expect rows: if i == 0 { sum(c, 0, 64, x(j, c)) } else { if i == 1 { most(c, 0, 64, x(j, c)) } else { least(c, 0, 64, x(j, c)) } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [i8, i16, i32, i64, u8, u16, u32, u64]))]
pub fn rank2_int<T: Int>(x: Tensor<T, 2>, cols: TensorMut<T, 2>, rows: TensorMut<T, 2>) {
    let x = x.tile([0, 0], [32, 64]).load();
    cols.tile([0, 0], [1, 64]).store(x.sum(0).expand(0));
    cols.tile([1, 0], [1, 64]).store(x.max(0).expand(0));
    cols.tile([2, 0], [1, 64]).store(x.min(0).expand(0));
    rows.tile([0, 0], [1, 32]).store(x.sum(1).expand(0));
    rows.tile([1, 0], [1, 32]).store(x.max(1).expand(0));
    rows.tile([2, 0], [1, 32]).store(x.min(1).expand(0));
}
