//! Sorts and gathers in layouts where registers, lanes, warps and sums of their bits walk the axis, and where several threads hold one element.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i16[8, 64] iota(0, 37)
//@ arg at: i32[8, 64] uniform(0, 63)
//@ arg line: i32[64] iota(0, 37)
//@ arg lanes: i16[8, 64] poison
//@ arg warps: i16[8, 64] poison
//@ arg mixed: i16[8, 64] poison
//@ arg registers: i16[8, 64] poison
//@ arg top_lanes: i32[8, 4] poison
//@ arg top_warps: i32[8, 16] poison
//@ arg repeated: i32[64] poison
//@ arg top_repeated: i32[2] poison
//@ arg by_registers: i16[8, 64] poison
//@ arg by_lanes: i16[8, 64] poison
//@ arg by_warps: i16[8, 64] poison
//@ arg counts: i32[8] poison
//@ expect lanes: j - 20
//@ expect warps: j - 20
//@ expect mixed: j - 20
//@ expect registers: j - 20
//@ expect by_registers: ((37 * at(i, j) + 11 * i) & 63) - 20
//@ expect by_lanes: ((37 * at(i, j) + 11 * i) & 63) - 20
//@ expect by_warps: ((37 * at(i, j) + 11 * i) & 63) - 20
//@ expect top_lanes: (45 * (63 - j - 11 * i)) & 63
//@ expect top_warps: (45 * (63 - j - 11 * i)) & 63
//@ expect repeated: i / 4
//@ expect top_repeated: if i == 0 { 12 } else { 19 }
//@ expect counts: 4
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "one output for each layout")]
pub fn layouts(
    x: Tensor<i16, 2>,
    at: Tensor<i32, 2>,
    line: Tensor<i32, 1>,
    lanes: TensorMut<i16, 2>,
    warps: TensorMut<i16, 2>,
    mixed: TensorMut<i16, 2>,
    registers: TensorMut<i16, 2>,
    top_lanes: TensorMut<i32, 2>,
    top_warps: TensorMut<i32, 2>,
    repeated: TensorMut<i32, 1>,
    top_repeated: TensorMut<i32, 1>,
    by_registers: TensorMut<i16, 2>,
    by_lanes: TensorMut<i16, 2>,
    by_warps: TensorMut<i16, 2>,
    counts: TensorMut<i32, 1>,
) {
    const LANES: Layout = blocked([1, 2], [1, 32], [4, 1], [1, 0]);
    const WARPS: Layout = blocked([1, 4], [8, 4], [1, 4], [1, 0]);
    // A thread has a row, and so have others.
    const REGISTERS: Layout = blocked([1, 64], [8, 4], [4, 1], [1, 0]);
    // Bits of lanes and of warps that walk both axes at once.
    const MIXED: Layout = linear(
        [[0, 32], [0, 1]],
        [[1, 2], [2, 0], [4, 4], [0, 2], [0, 4]],
        [[0, 8], [1, 16]],
        [8, 64],
    );
    // Each warp holds all of it, and half of the lanes what the others hold.
    const REPEATED: Layout = linear([[16], [32]], [[1], [2], [4], [8], [0]], [[0], [0]], [64]);
    // A permutation of 64 numbers in each row: 37 and 45 are inverse to each other modulo 64.
    let rows = arange(0, 8).cast::<i16>().expand(1);
    let x = ((x.tile([0, 0], [8, 64]).load() + rows * 11) & 63) - 20;
    let at = at.tile([0, 0], [8, 64]).load();
    lanes.tile([0, 0], [8, 64]).store(x.to_layout(LANES).sort(1));
    warps.tile([0, 0], [8, 64]).store(x.to_layout(WARPS).sort(1));
    mixed.tile([0, 0], [8, 64]).store(x.to_layout(MIXED).sort(1));
    registers.tile([0, 0], [8, 64]).store(x.to_layout(REGISTERS).sort(1));
    top_lanes.tile([0, 0], [8, 4]).store(x.to_layout(LANES).top_k(4, 1).1);
    top_warps.tile([0, 0], [8, 16]).store(x.to_layout(WARPS).top_k(16, 1).1);
    by_registers.tile([0, 0], [8, 64]).store(x.to_layout(REGISTERS).gather(1, at));
    by_lanes.tile([0, 0], [8, 64]).store(x.to_layout(LANES).gather(1, at.to_layout(LANES)));
    by_warps.tile([0, 0], [8, 64]).store(x.to_layout(WARPS).gather(1, at));
    // Four of each number.
    let line = ((line.tile([0], [64]).load() & 63) >> 2).to_layout(REPEATED);
    repeated.tile([0], [64]).store(line.sort(0));
    top_repeated.tile([0], [2]).store(line.top_k(2, 0).1);
    counts.tile([0], [8]).store(line.histogram(8));
}
