//! The same reductions on every number of warps, over tiles of every form.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[M, N] uniform(-1000, 1000)
//@ arg cols: i32[N] poison
//@ arg rows: i32[M] poison
//@ arg all: i32[1] poison
//@ expect cols: sum(r, 0, M, x(r, i))
//@ expect rows: sum(c, 0, N, x(i, c))
//@ expect all: sum(r, 0, M, sum(c, 0, N, x(r, c)))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances((M, N) = [(1, 512), (512, 1), (16, 16), (2, 128), (64, 4), (4, 4)], W = [1, 2, 8]))]
pub fn warps<const M: i32, const N: i32, const W: i32>(
    x: Tensor<i32, 2>,
    cols: TensorMut<i32, 1>,
    rows: TensorMut<i32, 1>,
    all: TensorMut<i32, 1>,
) {
    let x = x.tile([0, 0], [M, N]).load();
    cols.tile([0], [N]).store(x.sum(0));
    rows.tile([0], [M]).store(x.sum(1));
    all.tile([0], [1]).store(x.sum(1).sum(0).reshape([1]));
}
