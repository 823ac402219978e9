//! `break` and `continue` of outer loops, from counted, endless and unrolled ones (there under conditions known when compiling).
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg limit: i32 scalar 7
//@ arg out: i32[3] poison
//@ expect out: if i == 0 { 1203 } else { if i == 1 { 52 } else { 13 } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn labels(limit: i32, out: TensorMut<i32, 1>) {
    // The first pair (a, b) with a > b and a * b > 4 * limit, as 100 * a + b.
    let mut pair = 0;
    'search: for a in 0..100 {
        for b in 0..a {
            if a * b > 4 * limit && a > limit + 4 {
                pair = 100 * a + b;
                break 'search;
            }
        }
    }
    out.tile([0], [1]).store(full([1], pair));
    // Rows are left at their first multiple of 4.
    let mut count = 0;
    'rows: for a in 0..limit {
        let mut b = a;
        loop {
            b += 1;
            if b % 4 == 0 {
                continue 'rows;
            }
            if b > 20 {
                break;
            }
            count += b;
        }
    }
    out.tile([1], [1]).store(full([1], count));
    let mut total = 0;
    for i in unroll(0..6) {
        if i == 4 {
            break;
        }
        if i == 1 {
            continue;
        }
        for j in unroll(0..2) {
            total += i + j;
        }
    }
    out.tile([2], [1]).store(full([1], total));
}
