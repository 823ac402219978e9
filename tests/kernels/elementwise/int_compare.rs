//! Comparisons, the larger and the smaller of integers.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[225] edges(0)
//@ arg b: T[225] edges(1)
//@ arg out: bool[6, 225] poison
//@ arg most: T[225] poison
//@ arg least: T[225] poison
//@ expect out: if i == 0 { a(j) < b(j) } else { if i == 1 { a(j) <= b(j) } else { if i == 2 { a(j) > b(j) } else { if i == 3 { a(j) >= b(j) } else { if i == 4 { a(j) == b(j) } else { a(j) != b(j) } } } } }
//@ expect most: max(a(i), b(i))
//@ expect least: min(a(i), b(i))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(T = [i8, i16, i32, i64, u8, u16, u32, u64]))]
pub fn int_compare<T: Int>(
    a: Tensor<T, 1>,
    b: Tensor<T, 1>,
    out: TensorMut<bool, 2>,
    most: TensorMut<T, 1>,
    least: TensorMut<T, 1>,
) {
    fn put(out: TensorMut<bool, 2>, row: i32, x: Tile<bool>) {
        out.tile([row, 0], [1, 256]).store(x.expand(0));
    }
    let (a, b) = (a.tile([0], [256]).load(), b.tile([0], [256]).load());
    put(out, 0, a.lt(b));
    put(out, 1, a.le(b));
    put(out, 2, a.gt(b));
    put(out, 3, a.ge(b));
    put(out, 4, a.eq(b));
    put(out, 5, a.ne(b));
    most.tile([0], [256]).store(maximum(a, b));
    least.tile([0], [256]).store(minimum(a, b));
}
