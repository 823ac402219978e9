//! Parts of tiles on each axis, of elements that stand in registers, lanes and warps, and their sums.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ instance: T = f32, W = 1
//@ instance: T = f32, W = 4
//@ instance: T = i8, W = 4
//@ instance: T = f16, W = 8
//@ instance: T = u64, W = 2
//@ arg x: T[32, 64] iota(-50, 1)
//@ arg corner: T[8, 16] poison
//@ arg row: T[1, 64] poison
//@ arg turned: T[16, 32] poison
//@ arg one: T[1, 1] poison
//@ expect corner: x(i + 16, j + 48)
//@ expect row: x(31, j)
//@ expect turned: x(j, i + 16)
//@ expect one: x(5, 3)
use kiln::prelude::*;

#[kernel(
    target = sm_80,
    warps = W,
    grid = 1,
    instances((T, W) = [(f32, 1), (f32, 4), (i8, 4), (f16, 8), (u64, 2)])
)]
pub fn slices<T: Scalar, const W: i32>(
    x: Tensor<T, 2>,
    corner: TensorMut<T, 2>,
    row: TensorMut<T, 2>,
    turned: TensorMut<T, 2>,
    one: TensorMut<T, 2>,
) {
    let t = x.tile([0, 0], [32, 64]).load();
    corner.tile([0, 0], [8, 16]).store(t.slice((16..24, 48..64)));
    row.tile([0, 0], [1, 64]).store(t.slice([31..32, 0..64]));
    turned.tile([0, 0], [16, 32]).store(t.t().slice((16..32, ..)));
    one.tile([0, 0], [1, 1]).store(t.slice((4..8, ..)).slice((1..2, 3..4)));
}
