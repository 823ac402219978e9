//! `while` and `loop`, `break` with a value, `continue`.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 27
//@ arg out: i32[4] poison
//@ expect out: if i == 0 { 111 } else { if i == 1 { 9 } else { if i == 2 { 27 * 27 - 27 } else { 729 } } }
//@ case: collatz of 27
//@ case: of 1
//@ arg n: i32 scalar 1
//@ expect out: if i == 0 { 0 } else { if i == 1 { 9 } else { if i == 2 { 0 } else { 1 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn while_loops(n: i32, out: TensorMut<i32, 1>) {
    let mut value = n;
    let mut steps = 0;
    while value != 1 {
        value = if value % 2 == 0 { value / 2 } else { 3 * value + 1 };
        steps += 1;
    }
    out.tile([0], [1]).store(full([1], steps));
    let mut k = 0;
    let found = loop {
        k += 1;
        if k < 8 {
            continue;
        }
        if k * k > 80 {
            break k;
        }
    };
    out.tile([1], [1]).store(full([1], found));
    // The sum of the even numbers below 2 n.
    let mut total = 0;
    for i in 0..2 * n {
        if i % 2 == 1 {
            continue;
        }
        total += i;
    }
    out.tile([2], [1]).store(full([1], total));
    let mut tile = zeros::<i32>([1]);
    let mut turn = 0;
    loop {
        if turn >= n {
            break;
        }
        tile += n;
        turn += 1;
    }
    out.tile([3], [1]).store(tile);
}
