//! Associative functions that are not sums, among them one that depends on which of its values comes first.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[8, 128] list(3, 0, 0, -7, 0, 11, 0, 0, 0, 2, -1)
//@ arg largest: i32[8, 128] poison
//@ arg products: i32[8, 128] poison
//@ arg first: i32[8, 128] poison
//@ arg filled: i32[8, 128] poison
//@ expect largest: most(n, 0, j + 1, x(i, n))
//@ expect products: product(n, 0, j + 1, x(i, n) * 2 + 1)
//@ expect first: x(i, 0)
//@ expect filled: x(i, most(n, 0, j + 1, if x(i, n) != 0 { n } else { 0 }))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 16]))]
pub fn closures<const W: i32>(
    x: Tensor<i32, 2>,
    largest: TensorMut<i32, 2>,
    products: TensorMut<i32, 2>,
    first: TensorMut<i32, 2>,
    filled: TensorMut<i32, 2>,
) {
    let x = x.tile([0, 0], [8, 128]).load();
    largest.tile([0, 0], [8, 128]).store(x.scan(1, |a, b| a.max(b)));
    products.tile([0, 0], [8, 128]).store((x * 2 + 1).scan(1, |a, b| a * b));
    first.tile([0, 0], [8, 128]).store(x.scan(1, |a, _| a));
    // The last element that is not zero: a gap takes what is left of it.
    filled.tile([0, 0], [8, 128]).store(x.scan(1, |a, b| if b == 0 { a } else { b }));
}
