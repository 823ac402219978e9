//! Integers wrap; division truncates and the remainder has the sign of the left side.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[225] edges(0)
//@ arg b: T[225] edges(1)
//@ arg out: T[5, 225] poison
//@ expect out: if i == 0 { a(j) + b(j) } else { if i == 1 { a(j) - b(j) } else { if i == 2 { a(j) * b(j) } else { if i == 3 { a(j) / (if b(j) == 0 { 3 } else { b(j) }) } else { a(j) % (if b(j) == 0 { 3 } else { b(j) }) } } } }
//@ case: edges
//@ case: random
//@ arg a: T[225] bits
//@ arg b: T[225] bits
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [i8, i16, i32, i64, u8, u16, u32, u64]))]
pub fn int_arith<T: Int>(a: Tensor<T, 1>, b: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Int>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 256]).store(x.expand(0));
    }
    let (a, b) = (a.tile([0], [256]).load(), b.tile([0], [256]).load());
    put(out, 0, a + b);
    put(out, 1, a - b);
    put(out, 2, a * b);
    let divisor = select(b.eq(T::ZERO), 3.cast::<T>(), b);
    put(out, 3, a / divisor);
    put(out, 4, a % divisor);
}
