//! `range` with steps, downwards too; bounds that the step does not meet.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg from: i32 scalar 3
//@ arg to: i32 scalar 20
//@ arg out: i32[32] fill(0)
//@ case: up
//@ expect out: if i == 3 { 2 } else { if (i < 20) && ((i - 3) % 4 == 0) && (i > 3) { 2 } else { if i == 31 { 5 } else { if i == 28 { 5 } else { if i == 25 { 5 } else { 0 } } } } }
//@ case: nothing
//@ arg from: i32 scalar 9
//@ arg to: i32 scalar 9
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn ranges(from: i32, to: i32, out: TensorMut<i32, 1>) {
    for i in range(from, to, 4) {
        out.tile([i], [1]).store(full([1], 2));
    }
    for i in range(31, 22, -3) {
        out.tile([i], [1]).store(full([1], 5));
    }
    for i in range(5, 5, 1) {
        out.tile([i], [1]).store(full([1], 77));
    }
}
