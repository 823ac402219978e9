//! Masks combine with `&`, `|`, `^` and `!`, travel through memory, and choose.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: bool[100] bits
//@ arg b: bool[100] bits
//@ arg x: f32[100] uniform(-1, 1)
//@ arg out: bool[5, 100] poison
//@ arg chosen: f32[3, 100] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn masks(
    a: Tensor<bool, 1>,
    b: Tensor<bool, 1>,
    x: Tensor<f32, 1>,
    out: TensorMut<bool, 2>,
    chosen: TensorMut<f32, 2>,
) {
    fn put<T: Scalar>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 128]).store(x.expand(0));
    }
    let (a, b) = (a.tile([0], [128]).load(), b.tile([0], [128]).load());
    let x = x.tile([0], [128]).load();
    put(out, 0, a & b);
    put(out, 1, a | b);
    put(out, 2, a ^ b);
    put(out, 3, !a);
    put(out, 4, a & x.gt(0.0) | !b);
    put(chosen, 0, select(a, x, 0.0));
    put(chosen, 1, select(b, 2.5, x));
    put(chosen, 2, select(a & b, x, -x));
}
