//! A kernel, and functions in it, that return early.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 3
//@ arg out: i32[5, 32] fill(-1)
//@ expect out: if i < 3 { if i == 0 { 5 } else { if i == 1 { 10 } else { 200 } } } else { -1 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 5)]
pub fn early_return(n: i32, out: TensorMut<i32, 2>) {
    fn step(i: i32) -> i32 {
        if i == 0 {
            return 5;
        }
        let mut total = 0;
        for k in 0..10 {
            if k > i + 3 {
                return total;
            }
            total += k;
            if i > 1 && k == 2 {
                return 200;
            }
        }
        total
    }
    let row = block_id(0);
    if row >= n {
        return;
    }
    out.tile([row, 0], [1, 32]).store(full([1, 32], step(row)));
}
