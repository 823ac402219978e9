//! `continue` jumps past sums that the end of the iteration needs as well.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 9
//@ arg out: i32[12] fill(0)
//@ expect out: if i == 0 { 327 } else { if i == 3 { 0 } else { if i == 5 { 0 } else { if i == 10 { 0 } else { if i == 11 { 100 } else { i } } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn continue_skips(n: i32, out: TensorMut<i32, 1>) {
    let mut count = 0;
    'rows: for i in 0..n {
        if i == 2 {
            count += 100;
            continue;
        }
        let next = i + 1;
        for j in 0..3 {
            if j == 1 && i == 4 {
                continue 'rows;
            }
            count += next * (j + 1);
        }
        out.tile([next], [1]).store(full([1], next));
    }
    out.tile([0], [1]).store(full([1], count));
    let mut total = 0;
    let mut i = 0;
    loop {
        i += 1;
        if i == 3 {
            continue;
        }
        if i > n {
            break;
        }
        total += (i + 1) * 2;
    }
    out.tile([11], [1]).store(full([1], total));
}
