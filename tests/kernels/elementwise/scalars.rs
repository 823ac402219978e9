//! Scalar parameters of every type reach the kernel, and scalar arithmetic is that of the type.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T scalar X
//@ arg b: T scalar Y
//@ arg out: T[5] poison
//@ expect out: if i == 0 { X + Y } else { if i == 1 { X - Y } else { if i == 2 { X * Y } else { if i == 3 { max(X, Y) } else { min(X, Y) } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1,
         instances((T, X, Y) = [(i8, -100, 100), (i16, 30000, 20000), (i32, -7, 3), (i64, 1234567, 7654321), (u8, 200, 99),
                                (u16, 60000, 9), (u32, 7, 8), (u64, 3, 2), (f16, 3, 7), (bf16, 5, -2), (f32, 5, 11), (f64, 9, 4)]))]
pub fn scalars<T: Number, const X: i32, const Y: i32>(a: T, b: T, out: TensorMut<T, 1>) {
    out.tile([0], [1]).store(full([1], a + b));
    out.tile([1], [1]).store(full([1], a - b));
    out.tile([2], [1]).store(full([1], a * b));
    out.tile([3], [1]).store(full([1], if a > b { a } else { b }));
    out.tile([4], [1]).store(full([1], if a < b { a } else { b }));
}
