//! Sums, differences, products and quotients of floats are correctly rounded: subnormals, infinities and NaN included.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[676] edges(0)
//@ arg b: T[676] edges(1)
//@ arg out: T[4, 676] poison
//@ case: edges
//@ case: random bits
//@ arg a: T[676] bits
//@ arg b: T[676] bits
//@ case: near one
//@ arg a: T[676] uniform(0.5, 2)
//@ arg b: T[676] uniform(0.5, 2)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_arith<T: Float>(a: Tensor<T, 1>, b: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 1024]).store(x.expand(0));
    }
    let (a, b) = (a.tile([0], [1024]).load(), b.tile([0], [1024]).load());
    put(out, 0, a + b);
    put(out, 1, a - b);
    put(out, 2, a * b);
    put(out, 3, a / b);
}
