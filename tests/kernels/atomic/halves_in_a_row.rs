//! Atomic sums of halves, which loop, by some threads and then by all.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 3
//@ arg p: ptr f16[3] fill(1)
//@ arg q: ptr f16[7] fill(-1)
//@ arg out: i32[128] poison
//@ expect out: (i % 16) * 3 + i
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 2)]
pub fn halves_in_a_row(n: i32, p: Ptr<f16>, q: Ptr<f16>, out: TensorMut<i32, 1>) {
    let few = arange(0, 16);
    let all = arange(0, 128);
    atomic::add(p + few % n, (few * 2).cast::<f16>());
    atomic::add(p, f16::of(0.5));
    atomic::add(q + all % 7, (all % 16).cast::<f16>());
    out.tile([0], [128]).store((all % 16) * n + all);
}
