//! Each axis in reverse order, of tiles of rank 1 to 3; over registers, lanes and warps.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64, 32] bits
//@ arg line: i32[N] bits
//@ arg cube: i32[4, 8, 16] bits
//@ arg rows: i32[64, 32] poison
//@ arg columns: i32[64, 32] poison
//@ arg both: i32[64, 32] poison
//@ arg back: i32[N] poison
//@ arg middle: i32[4, 8, 16] poison
//@ expect rows: x(63 - i, j)
//@ expect columns: x(i, 31 - j)
//@ expect both: x(63 - i, 31 - j)
//@ expect back: line(N - 1 - i)
//@ expect middle: cube(i, 7 - j, k)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8], N = [1, 2, 64, 2048]))]
#[expect(clippy::too_many_arguments, reason = "one output for each flip")]
pub fn flip<const W: i32, const N: i32>(
    x: Tensor<i32, 2>,
    line: Tensor<i32, 1>,
    cube: Tensor<i32, 3>,
    rows: TensorMut<i32, 2>,
    columns: TensorMut<i32, 2>,
    both: TensorMut<i32, 2>,
    back: TensorMut<i32, 1>,
    middle: TensorMut<i32, 3>,
) {
    let x = x.tile([0, 0], [64, 32]).load();
    rows.tile([0, 0], [64, 32]).store(x.flip(0));
    columns.tile([0, 0], [64, 32]).store(x.flip(-1));
    both.tile([0, 0], [64, 32]).store(x.flip(0).flip(1));
    back.tile([0], [N]).store(line.tile([0], [N]).load().flip(0));
    middle.tile([0, 0, 0], [4, 8, 16]).store(cube.tile([0, 0, 0], [4, 8, 16]).load().flip(1));
}
