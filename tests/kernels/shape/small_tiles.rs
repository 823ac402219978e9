//! Tiles smaller than the block: extents of 1, 2 and 4 on eight warps.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 2] bits
//@ arg out: i32[4, 2] poison
//@ arg one: i32[1] poison
//@ arg t: i32[2, 4] poison
//@ expect out: x(i, j) + 1
//@ expect one: sum(a, 0, 4, sum(b, 0, 2, x(a, b)))
//@ expect t: x(j, i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = 1)]
pub fn small_tiles(x: Tensor<i32, 2>, out: TensorMut<i32, 2>, one: TensorMut<i32, 1>, t: TensorMut<i32, 2>) {
    let x = x.tile([0, 0], [4, 2]).load();
    out.tile([0, 0], [4, 2]).store(x + 1);
    one.tile([0], [1]).store(x.sum(0).sum(0).reshape([1]));
    t.tile([0, 0], [2, 4]).store(x.t());
}
