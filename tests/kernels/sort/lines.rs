//! Each line along an axis is sorted by itself, whatever threads hold it; lines of one element and of two.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 16] uniform(-9, 9)
//@ arg cube: i32[4, 2, 8] uniform(-9, 9)
//@ arg rows: i32[4, 16] poison
//@ arg columns: i32[4, 16] poison
//@ arg down: i32[4, 16] poison
//@ arg middle: i32[4, 2, 8] poison
//@ arg single: i32[4, 1] poison
//@ expect rows: least(n, 0, 16, if sum(m, 0, 16, if x(i, m) <= x(i, n) { 1 } else { 0 }) > j { x(i, n) } else { 100 })
//@ expect columns: least(n, 0, 4, if sum(m, 0, 4, if x(m, j) <= x(n, j) { 1 } else { 0 }) > i { x(n, j) } else { 100 })
//@ expect down: most(n, 0, 16, if sum(m, 0, 16, if x(i, m) >= x(i, n) { 1 } else { 0 }) > j { x(i, n) } else { -100 })
//@ expect middle: if j == 0 { min(cube(i, 0, k), cube(i, 1, k)) } else { max(cube(i, 0, k), cube(i, 1, k)) }
//@ expect single: x(i, 0)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(W = [1, 4, 8]))]
#[expect(clippy::too_many_arguments, reason = "one output for each sort")]
pub fn lines<const W: i32>(
    x: Tensor<i32, 2>,
    cube: Tensor<i32, 3>,
    rows: TensorMut<i32, 2>,
    columns: TensorMut<i32, 2>,
    down: TensorMut<i32, 2>,
    middle: TensorMut<i32, 3>,
    single: TensorMut<i32, 2>,
) {
    let tile = x.tile([0, 0], [4, 16]).load();
    rows.tile([0, 0], [4, 16]).store(tile.sort(1));
    columns.tile([0, 0], [4, 16]).store(tile.sort(0));
    down.tile([0, 0], [4, 16]).store(tile.sort_descending(-1));
    middle.tile([0, 0, 0], [4, 2, 8]).store(cube.tile([0, 0, 0], [4, 2, 8]).load().sort(1));
    single.tile([0, 0], [4, 1]).store(x.tile([0, 0], [4, 1]).load().sort(1));
}
