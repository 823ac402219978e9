//! What attributes state is used, and holds.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg p: ptr f32[4096] bits
//@ arg n: i32 scalar 64
//@ arg out: ptr f32[64, 64] poison
//@ expect out: p(i * 64 + j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn multiple_of(#[multiple_of(16)] p: Ptr<f32>, #[multiple_of(16)] n: i32, #[multiple_of(16)] out: Ptr<f32>) {
    let rows = arange(0, 64).expand(1) * n;
    let at = rows + arange(0, 64).expand(0);
    store(out + at, load(p + at));
}
