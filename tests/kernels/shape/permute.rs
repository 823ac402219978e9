//! Axes in other orders, of tiles of rank 3 to 5.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 8, 16] bits
//@ arg y: i32[2, 4, 2, 8, 4] bits
//@ arg turned: i32[16, 4, 8] poison
//@ arg swapped: i32[4, 16, 8] poison
//@ arg reversed: i32[4, 8, 2, 4, 2] poison
//@ arg back: i32[4, 8, 16] poison
//@ expect turned: x(j, k, i)
//@ expect swapped: x(i, k, j)
//@ expect reversed: y(m, l, k, j, i)
//@ expect back: x(i, j, k)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn axes<const W: i32>(
    x: Tensor<i32, 3>,
    y: Tensor<i32, 5>,
    turned: TensorMut<i32, 3>,
    swapped: TensorMut<i32, 3>,
    reversed: TensorMut<i32, 5>,
    back: TensorMut<i32, 3>,
) {
    let x = x.tile([0, 0, 0], [4, 8, 16]).load();
    let y = y.tile([0, 0, 0, 0, 0], [2, 4, 2, 8, 4]).load();
    turned.tile([0, 0, 0], [16, 4, 8]).store(x.permute([2, 0, 1]));
    swapped.tile([0, 0, 0], [4, 16, 8]).store(x.permute([0, 2, 1]));
    reversed.tile([0, 0, 0, 0, 0], [4, 8, 2, 4, 2]).store(y.permute([4, 3, 2, 1, 0]));
    back.tile([0, 0, 0], [4, 8, 16]).store(x.permute([2, 0, 1]).permute([1, 2, 0]));
}
