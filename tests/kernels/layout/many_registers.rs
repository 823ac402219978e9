//! A tile in as many registers as a thread may have, and twice as many behind it.
//@ run: eval, emulate
//@ compare: exact
//@ arg x: i32[512] bits
//@ arg out: i32[512, 2] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn many_registers(x: Tensor<i32, 1>, out: TensorMut<i32, 2>) {
    const ALL: Layout = blocked([1024], [32], [1], [0]);
    let t = x.tile([0], [512]).load().to_layout(ALL);
    out.tile([0, 0], [512, 2]).store(join(t, t * 3));
}
