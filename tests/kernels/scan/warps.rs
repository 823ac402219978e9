//! Scans of columns, over warps: what passes between them lies in shared memory so that the lanes of a warp meet in no bank.
//@ run: eval, emulate, gpu
//@ no-conflicts
//@ compare: exact
//@ arg x: T[128, 64] bits
//@ arg out: T[128, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [i8, u16, i32, i64]))]
pub fn warps<T: Int>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let x = x.tile([0, 0], [128, 64]).load();
    out.tile([0, 0], [128, 64]).store(x.scan(0, |a, b| a | b));
}
