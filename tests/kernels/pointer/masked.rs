//! Masked accesses touch no memory where the mask fails, and give `other` there.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 77
//@ arg other: T scalar 9
//@ arg x: ptr T[77] bits
//@ arg out: ptr T[128] poison
//@ arg some: ptr T[77] fill(3)
//@ expect out: if i < 77 { x(i) } else { 9 }
//@ expect some: if i % 3 == 0 { x(i) } else { 3 }
//@ case: aligned
//@ case: misaligned
//@ arg x: ptr T[77] bits offset(1)
//@ arg some: ptr T[77] fill(3) offset(1)
//@ case: nothing
//@ arg n: i32 scalar 0
//@ arg x: ptr T[77] bits
//@ expect out: 9
//@ expect some: 3
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [bool, u8, i16, i32, u64, f16, bf16, f32, f64]))]
pub fn masked<T: Scalar>(n: i32, other: T, x: Ptr<T>, out: Ptr<T>, some: Ptr<T>) {
    let at = arange(0, 128);
    let inside = at.lt(n);
    let v = load_masked(x + at, inside, other);
    store(out + at, v);
    store_masked(some + at, inside & (at % 3).eq(0), v);
}
