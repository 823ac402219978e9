//! Reductions over several axes, and axes counted from the last one.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 8, 16] bits
//@ arg last: i32[4, 8] poison
//@ arg inner: i32[4] poison
//@ arg outer: u32[8] poison
//@ arg all: i32[1] poison
//@ arg running: i32[4, 8, 16] poison
//@ arg turned: i32[16, 4, 8] poison
//@ expect last: sum(c, 0, 16, x(i, j, c))
//@ expect inner: most(c, 0, 128, x(i, c / 16, c % 16))
//@ expect all: sum(c, 0, 512, x(c / 128, c / 16 % 8, c % 16))
//@ expect running: sum(c, 0, k + 1, x(i, j, c))
//@ expect turned: x(j, k, i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn several_axes<const W: i32>(
    x: Tensor<i32, 3>,
    last: TensorMut<i32, 2>,
    inner: TensorMut<i32, 1>,
    outer: TensorMut<u32, 1>,
    all: TensorMut<i32, 1>,
    running: TensorMut<i32, 3>,
    turned: TensorMut<i32, 3>,
) {
    let x = x.tile([0, 0, 0], [4, 8, 16]).load();
    last.tile([0, 0], [4, 8]).store(x.sum(-1));
    inner.tile([0], [4]).store(x.max([1, 2]));
    outer.tile([0], [8]).store(x.cast::<u32>().reduce([-1, 0], |a, b| a ^ b));
    all.tile([0], [1]).store(full([1], x.sum([0, 1, 2]).item()));
    running.tile([0, 0, 0], [4, 8, 16]).store(x.cumsum(-1));
    turned.tile([0, 0, 0], [16, 4, 8]).store(x.permute([-1, 0, 1]));
}
