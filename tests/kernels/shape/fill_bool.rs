//! `full` of truth values, with and without the type; from a constant and from what the kernel computes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 3
//@ arg out: bool[3, 64] poison
//@ expect out: if i == 1 { 1 == 2 } else { 1 == 1 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn fill_bool(n: i32, out: TensorMut<bool, 2>) {
    out.tile([0, 0], [1, 64]).store(full([1, 64], true));
    out.tile([1, 0], [1, 64]).store(full::<bool>([1, 64], false));
    out.tile([2, 0], [1, 64]).store(full([1, 64], n > 2));
}
