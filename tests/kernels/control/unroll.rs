//! Unrolled loops: the variable is known when compiling, as an extent, an axis offset, a shift.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 64] uniform(-100, 100)
//@ arg out: i32[4, 64] poison
//@ arg sizes: i32[15] poison
//@ expect out: x(i, j) << i
//@ expect sizes: if i == 0 { 1 } else { if i < 3 { 2 } else { if i < 7 { 4 } else { 8 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(N = [4]))]
pub fn unroll_turns<const N: i32>(x: Tensor<i32, 2>, out: TensorMut<i32, 2>, sizes: TensorMut<i32, 1>) {
    for i in unroll(0..N) {
        let row = x.tile([i, 0], [1, 64]).load();
        out.tile([i, 0], [1, 64]).store(row << i);
        let extent = 1 << i;
        sizes.tile([extent - 1], [extent]).store(full([extent], extent));
    }
    for k in unroll(range(6, 0, -2)) {
        const { assert!(N > 2, "enough turns") };
        device_assert(k >= 2);
    }
}
