//! The value of an `if let` is computed once, whether the pattern fits or not.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg start: i32 scalar 3
//@ arg counter: i32[1] iota(0, 1)
//@ arg out: i32[2] poison
//@ expect counter: 2
//@ expect out: if i == 0 { 1 } else { 30 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn if_let_once(start: i32, counter: TensorMut<i32, 1>, out: TensorMut<i32, 1>) {
    let one = || counter.tile([0], [1]).atomic_add(full([1], 1)).item();
    let fits = if let 0 = one() { 1 } else { 2 };
    let named = if let n @ 5..=9 = one() + start { n } else { 30 };
    out.tile([0], [1]).store(full([1], fits));
    out.tile([1], [1]).store(full([1], named));
}
