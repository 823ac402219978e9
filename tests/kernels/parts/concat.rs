//! Tiles that are put together along each axis, also what was taken apart, of rank 1 to 3.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ instance: T = f32, W = 1
//@ instance: T = bf16, W = 4
//@ instance: T = i16, W = 2
//@ arg x: T[16, 32] iota(-50, 1)
//@ arg rows: T[32, 32] poison
//@ arg columns: T[16, 64] poison
//@ arg same: T[16, 32] poison
//@ arg line: T[64] poison
//@ arg deep: T[2, 4, 4] poison
//@ expect rows: if i < 16 { x(i, j) } else { x(i - 16, 31 - j) }
//@ expect columns: if j < 32 { x(i, 31 - j) } else { x(i, j - 32) }
//@ expect same: x(i, j)
//@ expect line: if i < 32 { x(3, i) } else { x(5, i - 32) }
//@ expect deep: x(i, 4 * j + k)
use kiln::prelude::*;

#[kernel(
    target = sm_80,
    warps = W,
    grid = 1,
    instances((T, W) = [(f32, 1), (bf16, 4), (i16, 2)])
)]
pub fn concat<T: Scalar, const W: i32>(
    x: Tensor<T, 2>,
    rows: TensorMut<T, 2>,
    columns: TensorMut<T, 2>,
    same: TensorMut<T, 2>,
    line: TensorMut<T, 1>,
    deep: TensorMut<T, 3>,
) {
    let t = x.tile([0, 0], [16, 32]).load();
    let flipped = t.flip(1);
    rows.tile([0, 0], [32, 32]).store(t.concat(flipped, 0));
    columns.tile([0, 0], [16, 64]).store(flipped.concat(t, -1));
    let quarters = [t.slice((.., 0..8)), t.slice((.., 8..16)), t.slice((.., 16..24)), t.slice((.., 24..32))];
    let halves = (quarters[0].concat(quarters[1], 1), quarters[2].concat(quarters[3], 1));
    same.tile([0, 0], [16, 32]).store(halves.0.concat(halves.1, 1));
    let row = |i: i32| t.gather(0, full([1, 32], i)).reshape([32]);
    line.tile([0], [64]).store(row(3).concat(row(5), 0));
    let cube = t.slice((0..2, 0..16)).reshape([2, 4, 4]);
    let middle = cube.slice((.., 0..2, ..)).concat(cube.slice((.., 2..4, ..)), 1);
    deep.tile([0, 0, 0], [2, 4, 4]).store(middle);
}
