//! Bit operations, and shifts by an amount modulo the width.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[225] edges(0)
//@ arg b: T[225] edges(1)
//@ arg out: T[6, 225] poison
//@ expect out: if i == 0 { a(j) & b(j) } else { if i == 1 { a(j) | b(j) } else { if i == 2 { a(j) ^ b(j) } else { if i == 3 { !a(j) } else { if i == 4 { a(j) << (b(j) & (W - 1)) } else { a(j) >> (b(j) & (W - 1)) } } } } }
//@ case: edges
//@ case: random
//@ arg a: T[225] bits
//@ arg b: T[225] bits
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1,
         instances((T, W) = [(i8, 8), (i16, 16), (i32, 32), (i64, 64), (u8, 8), (u16, 16), (u32, 32), (u64, 64)]))]
pub fn int_bits<T: Int, const W: i32>(a: Tensor<T, 1>, b: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Int>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 256]).store(x.expand(0));
    }
    let (a, b) = (a.tile([0], [256]).load(), b.tile([0], [256]).load());
    put(out, 0, a & b);
    put(out, 1, a | b);
    put(out, 2, a ^ b);
    put(out, 3, !a);
    put(out, 4, a << b);
    put(out, 5, a >> b);
}
