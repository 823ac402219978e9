//! An inner axis of a tile of rank 5, and of one of rank 3 that does not fill its tensor; a scan that a loop carries on.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[2, 4, 2, 8, 4] uniform(-1000, 1000)
//@ arg y: i32[3, 100, 5] uniform(-1000, 1000)
//@ arg middle: i32[2, 4, 2, 8, 4] poison
//@ arg outer: i32[2, 4, 2, 8, 4] poison
//@ arg long: i32[3, 100, 5] poison
//@ expect middle: sum(n, 0, l + 1, x(i, j, k, n, m))
//@ expect outer: sum(n, 0, i + 1, x(n, j, k, l, m))
//@ expect long: sum(n, 0, j + 1, y(i, n, k))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn rank5<const W: i32>(
    x: Tensor<i32, 5>,
    y: Tensor<i32, 3>,
    middle: TensorMut<i32, 5>,
    outer: TensorMut<i32, 5>,
    long: TensorMut<i32, 3>,
) {
    let x = x.tile([0, 0, 0, 0, 0], [2, 4, 2, 8, 4]).load();
    middle.tile([0, 0, 0, 0, 0], [2, 4, 2, 8, 4]).store(x.cumsum(3));
    outer.tile([0, 0, 0, 0, 0], [2, 4, 2, 8, 4]).store(x.cumsum(0));
    let mut before = zeros::<i32>([4, 8]);
    for at in range(0, 100, 32) {
        let part = y.tile([0, at, 0], [4, 32, 8]).load();
        long.tile([0, at, 0], [4, 32, 8]).store(part.cumsum(1) + before.expand(1));
        before += part.sum(1);
    }
}
