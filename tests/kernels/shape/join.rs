//! Pairs: made, taken apart, interleaved, in registers and in layouts that hold them in several lanes or warps.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[16, 64] uniform(-1000, 1000)
//@ arg pairs: i32[16, 64, 2] poison
//@ arg even: i32[16, 32] poison
//@ arg odd: i32[16, 32] poison
//@ arg mixed: i32[16, 128] poison
//@ arg lanes: i32[16, 64, 2] poison
//@ arg warps: i32[16, 64, 2] poison
//@ arg apart: i32[16, 32] poison
//@ arg two: i32[2] poison
//@ arg both: i32[2] poison
//@ arg positions: i32[64] poison
//@ expect pairs: if k == 0 { x(i, j) } else { 7 - x(i, j) }
//@ expect even: x(i, 2 * j)
//@ expect odd: x(i, 2 * j + 1)
//@ expect mixed: if j % 2 == 0 { x(i, j / 2) } else { 7 - x(i, j / 2) }
//@ expect lanes: if k == 0 { x(i, j) + 100 } else { 107 - x(i, j) }
//@ expect warps: if k == 0 { x(i, j) + 100 } else { 107 - x(i, j) }
//@ expect apart: x(i, 2 * j) - 2 * x(i, 2 * j + 1)
//@ expect two: 2 * x(0, 1 - i)
//@ expect both: if i == 0 { most(n, 0, 64, x(0, n)) } else { least(n, 0, 64, x(0, n)) }
//@ expect positions: if i % 2 == 0 { i / 2 } else { 32 - i / 2 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "one output for each form")]
pub fn join_split(
    x: Tensor<i32, 2>,
    pairs: TensorMut<i32, 3>,
    even: TensorMut<i32, 2>,
    odd: TensorMut<i32, 2>,
    mixed: TensorMut<i32, 2>,
    lanes: TensorMut<i32, 3>,
    warps: TensorMut<i32, 3>,
    apart: TensorMut<i32, 2>,
    two: TensorMut<i32, 1>,
    both: TensorMut<i32, 1>,
    positions: TensorMut<i32, 1>,
) {
    // Pairs in neighbouring lanes.
    const LANES: Layout = blocked([1, 1, 1], [2, 8, 2], [1, 4, 1], [2, 1, 0]);
    // Pairs in two warps.
    const WARPS: Layout = blocked([1, 2, 1], [2, 16, 1], [1, 2, 2], [1, 2, 0]);
    let tile = x.tile([0, 0], [16, 64]).load();
    pairs.tile([0, 0, 0], [16, 64, 2]).store(join(tile, 7 - tile));
    let (first, second) = tile.reshape([16, 32, 2]).split();
    even.tile([0, 0], [16, 32]).store(first);
    odd.tile([0, 0], [16, 32]).store(second);
    mixed.tile([0, 0], [16, 128]).store(join(tile, 7 - tile).reshape([16, 128]));
    // What a pinned tile is added to takes its layout.
    let hundred = full([16, 64, 2], 100).to_layout(LANES);
    lanes.tile([0, 0, 0], [16, 64, 2]).store(join(tile, 7 - tile) + hundred);
    let hundred = full([16, 64, 2], 100).to_layout(WARPS);
    warps.tile([0, 0, 0], [16, 64, 2]).store(join(tile, 7 - tile) + hundred);
    let (first, second) = tile.reshape([16, 32, 2]).to_layout(LANES).split();
    apart.tile([0, 0], [16, 32]).store(first - 2 * second);
    // Of rank 1, and of what is left of it.
    let (first, second) = x.tile([0, 0], [1, 2]).load().reshape([2]).split();
    two.tile([0], [2]).store(join(second + second, first * 2));
    let row = x.tile([0, 0], [1, 64]).load().reshape([64]);
    both.tile([0], [2]).store(join(row.max(0), row.min(0)));
    positions.tile([0], [64]).store(join(arange(0, 32), 32 - arange(0, 32)).reshape([64]));
}
