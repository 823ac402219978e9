//! Division by a literal is multiplication and shifts.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[256] bits
//@ arg out: T[6, 256] poison
//@ expect out: if i == 0 { a(j) / 1 } else { if i == 1 { a(j) / 2 } else { if i == 2 { a(j) / 7 } else { if i == 3 { a(j) % 10 } else { if i == 4 { a(j) % 16 } else { a(j) / 100 } } } } }
//@ case: random
//@ case: edges
//@ arg a: T[256] edges(0)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [i8, i16, i32, i64, u8, u16, u32, u64]))]
pub fn int_divide_constant<T: Int>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Int>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 256]).store(x.expand(0));
    }
    let a = a.tile([0], [256]).load();
    put(out, 0, a / 1.cast::<T>());
    put(out, 1, a / 2.cast::<T>());
    put(out, 2, a / 7.cast::<T>());
    put(out, 3, a % 10.cast::<T>());
    put(out, 4, a % 16.cast::<T>());
    put(out, 5, a / 100.cast::<T>());
}
