//! A row is read by every thread before one of them writes it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64, 64] bits
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8]))]
pub fn pivot<const W: i32>(x: TensorMut<i32, 2>) {
    let first = x.tile([0, 0], [1, 64]).load();
    let all = x.tile([0, 0], [64, 64]);
    all.store(all.load() - first);
}
