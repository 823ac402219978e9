//! Flips of every width of element, of masks and of addresses; in layouts where lanes, warps, registers and sums of their bits walk
//! the axis, and where several threads hold one element. Two halves move in one word, an odd one alone.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: i8[8, 64] bits
//@ arg b: f16[8, 64] bits
//@ arg c: bf16[64] uniform(-1, 1)
//@ arg d: f64[8, 64] uniform(-1, 1)
//@ arg e: bool[8, 64] list(0, 1, 1, 0, 0, 0, 1)
//@ arg p: ptr i32[64] bits
//@ arg bytes: i8[8, 64] poison
//@ arg halves: f16[8, 64] poison
//@ arg one: bf16[64] poison
//@ arg doubles: f64[8, 64] poison
//@ arg masks: bool[8, 64] poison
//@ arg gathered: i32[64] poison
//@ arg mixed: f16[8, 64] poison
//@ arg few: bf16[64] poison
//@ expect bytes: a(7 - i, j)
//@ expect halves: b(i, 63 - j)
//@ expect one: c(63 - i)
//@ expect doubles: d(i, 63 - j)
//@ expect masks: e(7 - i, 63 - j)
//@ expect gathered: p(63 - i)
//@ expect mixed: b(i, 63 - j)
//@ expect few: c(63 - i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "one input and one output for each type")]
pub fn flip_types(
    a: Tensor<i8, 2>,
    b: Tensor<f16, 2>,
    c: Tensor<bf16, 1>,
    d: Tensor<f64, 2>,
    e: Tensor<bool, 2>,
    p: Ptr<i32>,
    bytes: TensorMut<i8, 2>,
    halves: TensorMut<f16, 2>,
    one: TensorMut<bf16, 1>,
    doubles: TensorMut<f64, 2>,
    masks: TensorMut<bool, 2>,
    gathered: TensorMut<i32, 1>,
    mixed: TensorMut<f16, 2>,
    few: TensorMut<bf16, 1>,
) {
    const LANES: Layout = blocked([1, 2], [1, 32], [4, 1], [1, 0]);
    const WARPS: Layout = blocked([1, 4], [8, 4], [1, 4], [1, 0]);
    // Bits of lanes and of warps that walk both axes at once.
    const MIXED: Layout = linear(
        [[0, 32], [0, 1]],
        [[1, 2], [2, 0], [4, 4], [0, 2], [0, 4]],
        [[0, 8], [1, 16]],
        [8, 64],
    );
    // Each warp holds all of it, and half of the lanes what the others hold.
    const REPEATED: Layout = linear([[16], [32]], [[1], [2], [4], [8], [0]], [[0], [0]], [64]);
    bytes.tile([0, 0], [8, 64]).store(a.tile([0, 0], [8, 64]).load().to_layout(WARPS).flip(0));
    let b = b.tile([0, 0], [8, 64]).load();
    halves.tile([0, 0], [8, 64]).store(b.to_layout(LANES).flip(1));
    mixed.tile([0, 0], [8, 64]).store(b.to_layout(MIXED).flip(1));
    let c = c.tile([0], [64]).load();
    one.tile([0], [64]).store(c.to_layout(blocked([1], [32], [4], [0])).flip(0));
    few.tile([0], [64]).store(c.to_layout(REPEATED).flip(0));
    let d = d.tile([0, 0], [8, 64]).load();
    doubles.tile([0, 0], [8, 64]).store(d.to_layout(WARPS).flip(-1));
    masks.tile([0, 0], [8, 64]).store(e.tile([0, 0], [8, 64]).load().flip(0).flip(1));
    gathered.tile([0], [64]).store(load((p + arange(0, 64)).flip(0)));
}
