//! Comparisons with NaN are false, but for `ne`; a NaN loses against a number.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[676] edges(0)
//@ arg b: T[676] edges(1)
//@ arg out: bool[6, 676] poison
//@ arg most: T[676] poison
//@ arg least: T[676] poison
//@ expect out: if i == 0 { a(j) < b(j) } else { if i == 1 { a(j) <= b(j) } else { if i == 2 { a(j) > b(j) } else { if i == 3 { a(j) >= b(j) } else { if i == 4 { a(j) == b(j) } else { a(j) != b(j) } } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_compare<T: Float>(
    a: Tensor<T, 1>,
    b: Tensor<T, 1>,
    out: TensorMut<bool, 2>,
    most: TensorMut<T, 1>,
    least: TensorMut<T, 1>,
) {
    fn put(out: TensorMut<bool, 2>, row: i32, x: Tile<bool>) {
        out.tile([row, 0], [1, 1024]).store(x.expand(0));
    }
    let (a, b) = (a.tile([0], [1024]).load(), b.tile([0], [1024]).load());
    put(out, 0, a.lt(b));
    put(out, 1, a.le(b));
    put(out, 2, a.gt(b));
    put(out, 3, a.ge(b));
    put(out, 4, a.eq(b));
    put(out, 5, a.ne(b));
    most.tile([0], [1024]).store(maximum(a, b));
    least.tile([0], [1024]).store(minimum(a, b));
}
