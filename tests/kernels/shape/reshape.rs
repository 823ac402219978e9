//! `reshape` keeps the row-major order.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[32, 16] bits
//@ arg flat: i32[512] poison
//@ arg wide: i32[8, 64] poison
//@ arg cube: i32[4, 8, 16] poison
//@ arg tall: i32[512, 1] poison
//@ expect flat: x(i / 16, i % 16)
//@ expect wide: x((i * 64 + j) / 16, (i * 64 + j) % 16)
//@ expect cube: x(i * 8 + j, k)
//@ expect tall: x(i / 16, i % 16)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8]))]
pub fn reshape<const W: i32>(
    x: Tensor<i32, 2>,
    flat: TensorMut<i32, 1>,
    wide: TensorMut<i32, 2>,
    cube: TensorMut<i32, 3>,
    tall: TensorMut<i32, 2>,
) {
    let x = x.tile([0, 0], [32, 16]).load();
    flat.tile([0], [512]).store(x.reshape([512]));
    wide.tile([0, 0], [8, 64]).store(x.reshape([512]).reshape([8, 64]));
    cube.tile([0, 0, 0], [4, 8, 16]).store(x.reshape([4, 8, 16]));
    tall.tile([0, 0], [512, 1]).store(x.reshape([512, 1]));
}
