//! `&&` and `||` of scalars evaluate their right side only where it counts.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg p: ptr i32[1] fill(4)
//@ arg n: i32 scalar 0
//@ arg out: i32[4] poison
//@ case: zero
//@ expect out: if i == 0 { 0 } else { if i == 1 { 1 } else { if i == 2 { 1 } else { 0 } } }
//@ case: four
//@ arg n: i32 scalar 1
//@ expect out: if i == 0 { 1 } else { if i == 1 { 1 } else { if i == 2 { 0 } else { 1 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn logic(p: Ptr<i32>, n: i32, out: TensorMut<i32, 1>) {
    fn put(out: TensorMut<i32, 1>, at: i32, value: bool) {
        out.tile([at], [1]).store(full([1], value as i32));
    }
    // Behind the memory of `p` unless n is 0 or 1.
    put(out, 0, n != 0 && 4 / n == 4);
    put(out, 1, n == 0 || load(p + (1 - n)) == 4);
    put(out, 2, !(n > 0 && n < 9));
    let both = (n == 1) & (n != 3) ^ false;
    put(out, 3, both);
}
