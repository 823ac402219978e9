//! Counted loops whose bounds lie so near the ends of the type that one step more would wrap.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg lo: i32 scalar -2147483648
//@ arg hi: i32 scalar 2147483647
//@ arg step: i32 scalar 1000000000
//@ arg out: i32[6] poison
//@ expect out: if i == 0 { 5 } else { if i == 1 { 1852516352 } else { if i == 2 { 5 } else { if i == 3 { 5 } else { if i == 4 { 4 } else { 3 } } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn range_ends(lo: i32, hi: i32, step: i32, out: TensorMut<i32, 1>) {
    let mut turns = 0;
    let mut last = 0;
    for at in range(lo, hi, step) {
        turns += 1;
        last = at;
    }
    out.tile([0], [1]).store(full([1], turns));
    out.tile([1], [1]).store(full([1], last));
    turns = 0;
    for _ in range(lo, hi, 1000000000) {
        turns += 1;
    }
    out.tile([2], [1]).store(full([1], turns));
    turns = 0;
    for _ in range(hi, lo, -1000000000) {
        turns += 1;
    }
    out.tile([3], [1]).store(full([1], turns));
    let most = 9223372036854775807 - (lo - lo).cast::<i64>();
    turns = 0;
    for _ in range(most - 10, most, 3) {
        turns += 1;
    }
    out.tile([4], [1]).store(full([1], turns));
    let top = 4294967290 + (lo - lo).cast::<u32>();
    turns = 0;
    for _ in range(top, 4294967295, 2) {
        turns += 1;
    }
    out.tile([5], [1]).store(full([1], turns));
}
