//! (M, 1) op (1, N), (M, N) op (1, N), scalars, rank 3, and `broadcast` itself.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg col: i32[30] uniform(-1000, 1000)
//@ arg row: i32[60] uniform(-1000, 1000)
//@ arg out: i32[30, 60] poison
//@ arg wide: i32[30, 60] poison
//@ arg cube: i32[4, 8, 16] poison
//@ expect out: (col(i) - row(j)) * row(j) + col(i)
//@ expect wide: row(j)
//@ expect cube: i * 100 + j * 10 + k
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn broadcast<const W: i32>(
    col: Tensor<i32, 1>,
    row: Tensor<i32, 1>,
    out: TensorMut<i32, 2>,
    wide: TensorMut<i32, 2>,
    cube: TensorMut<i32, 3>,
) {
    let col = col.tile([0], [32]).load().expand(1);
    let row = row.tile([0], [64]).load().expand(0);
    let both = (col - row) * row + col;
    out.tile([0, 0], [32, 64]).store(both);
    wide.tile([0, 0], [32, 64]).store(row.broadcast([32, 64]));
    let i = arange(0, 4).expand(1).expand(2);
    let j = arange(0, 8).expand(0).expand(2);
    let k = arange(0, 16).expand(0).expand(0);
    cube.tile([0, 0, 0], [4, 8, 16]).store(i * 100 + j * 10 + k);
}
