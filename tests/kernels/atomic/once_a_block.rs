//! A scalar address is changed once for the whole block, and every thread gets the old value.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg counter: ptr i32[1] fill(0)
//@ arg seen: ptr i32[8] fill(0)
//@ arg total: ptr i64[1] fill(100)
//@ expect counter: 8
//@ expect seen: 256
//@ expect total: 100 + 8 * 5
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 8)]
pub fn once_a_block(counter: Ptr<i32>, seen: Ptr<i32>, total: Ptr<i64>) {
    let ticket = atomic::add(counter, 1);
    atomic::add(seen + full([256], ticket), full([256], 1));
    atomic::add(total, 5);
}
