//! `fma` rounds once; a product and a sum that are written apart round twice.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[676] edges(0)
//@ arg b: T[676] edges(1)
//@ arg c: T[676] bits
//@ arg fused: T[676] poison
//@ arg apart: T[676] poison
//@ case: edges
//@ case: random
//@ arg a: T[676] uniform(-2, 2)
//@ arg b: T[676] uniform(-2, 2)
//@ arg c: T[676] uniform(-2, 2)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_fma<T: Float>(
    a: Tensor<T, 1>,
    b: Tensor<T, 1>,
    c: Tensor<T, 1>,
    fused: TensorMut<T, 1>,
    apart: TensorMut<T, 1>,
) {
    let (a, b, c) =
        (a.tile([0], [1024]).load(), b.tile([0], [1024]).load(), c.tile([0], [1024]).load());
    fused.tile([0], [1024]).store(fma(a, b, c));
    apart.tile([0], [1024]).store(a * b + c);
}
