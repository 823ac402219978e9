//! Reductions with a function of two values.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: u32[16, 32] bits
//@ arg xors: u32[32] poison
//@ arg products: u32[16] poison
//@ arg largest: u32[16] poison
//@ expect products: product(c, 0, 32, x(i, c))
//@ expect largest: most(c, 0, 32, x(i, c))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn closures<const W: i32>(
    x: Tensor<u32, 2>,
    xors: TensorMut<u32, 1>,
    products: TensorMut<u32, 1>,
    largest: TensorMut<u32, 1>,
) {
    let x = x.tile([0, 0], [16, 32]).load();
    xors.tile([0], [32]).store(x.reduce(0, |a, b| a ^ b));
    products.tile([0], [16]).store(x.reduce(1, |a, b| a * b));
    largest.tile([0], [16]).store(x.reduce(1, |a, b| if a > b { a } else { b }));
}
