//! A tile of what a thread reads of itself has one value for each element, whatever layouts it is used in.
//@ run: emulate, gpu
//@ compare: exact
//@ arg apart: i32[64] poison
//@ arg rows: i32[8, 64] poison
//@ arg first: i32[64] poison
//@ arg second: i32[64] poison
//@ expect apart: 0
//@ expect rows: 0
//@ expect first: i % 32
//@ expect second: i % 32
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn one_value(
    apart: TensorMut<i32, 1>,
    rows: TensorMut<i32, 2>,
    first: TensorMut<i32, 1>,
    second: TensorMut<i32, 1>,
) {
    // Element i in lane i % 32, and in lane i / 2.
    const FAR: Layout = blocked([1], [32], [1], [0]);
    const NEAR: Layout = blocked([2], [32], [1], [0]);
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    // Stored in the layout asked for first, and in another one.
    let t = full([64], lane);
    first.tile([0], [64]).store(t.to_layout(FAR));
    second.tile([0], [64]).store(t.to_layout(NEAR));
    // Arithmetic of it, in two layouts.
    let x = arange(0, 64).map(|e| e + lane);
    apart.tile([0], [64]).store((x.to_layout(FAR) - x.to_layout(NEAR).to_layout(FAR)).to_layout(NEAR));
    // Each row of a repeated tile is the tile.
    let repeated = full([64], lane).expand(0).broadcast([8, 64]);
    let least = repeated.min(0);
    rows.tile([0, 0], [8, 64]).store(repeated - least.expand(0).broadcast([8, 64]));
}
