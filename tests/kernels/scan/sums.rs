//! Running sums along each axis, over registers, lanes and warps.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64, 32] uniform(-1000, 1000)
//@ arg down: i32[64, 32] poison
//@ arg right: i32[64, 32] poison
//@ expect down: sum(n, 0, i + 1, x(n, j))
//@ expect right: sum(n, 0, j + 1, x(i, n))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8]))]
pub fn sums<const W: i32>(x: Tensor<i32, 2>, down: TensorMut<i32, 2>, right: TensorMut<i32, 2>) {
    let x = x.tile([0, 0], [64, 32]).load();
    down.tile([0, 0], [64, 32]).store(x.cumsum(0));
    right.tile([0, 0], [64, 32]).store(x.cumsum(1));
}
