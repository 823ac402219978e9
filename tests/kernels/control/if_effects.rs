//! Branches that assign variables, store, and leave variables alone.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 5
//@ arg out: i32[64] fill(-1)
//@ arg more: i32[64] fill(-1)
//@ case: odd
//@ expect out: i + 50
//@ expect more: 5
//@ case: even
//@ arg n: i32 scalar 8
//@ expect out: i * 3 + 16
//@ expect more: -1
//@ case: negative
//@ arg n: i32 scalar -2
//@ expect out: i * 3 + 2
//@ expect more: -1
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn if_effects(n: i32, out: TensorMut<i32, 1>, more: TensorMut<i32, 1>) {
    let mut v = arange(0, 64);
    let mut s = 2;
    if n % 2 != 0 {
        s = n * 10;
        more.tile([0], [64]).store(full([64], n));
    } else {
        v *= 3;
        if n > 0 {
            s *= n;
        }
    }
    out.tile([0], [64]).store(v + s);
}
