//! Each axis of a tile of rank 3.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[8, 4, 16] uniform(-1000, 1000)
//@ arg a: i32[4, 16] poison
//@ arg b: i32[8, 16] poison
//@ arg c: i32[8, 4] poison
//@ expect a: sum(n, 0, 8, x(n, i, j))
//@ expect b: most(n, 0, 4, x(i, n, j))
//@ expect c: least(n, 0, 16, x(i, j, n))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn rank3<const W: i32>(x: Tensor<i32, 3>, a: TensorMut<i32, 2>, b: TensorMut<i32, 2>, c: TensorMut<i32, 2>) {
    let x = x.tile([0, 0, 0], [8, 4, 16]).load();
    a.tile([0, 0], [4, 16]).store(x.sum(0));
    b.tile([0, 0], [8, 16]).store(x.max(1));
    c.tile([0, 0], [8, 4]).store(x.min(2));
}
