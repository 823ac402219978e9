//! Elements along an axis at indices: more and fewer than the axis has, along each axis, by shuffles and through shared memory. An index outside of
//! the axis gives zero.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[8, 32] uniform(-1, 1)
//@ arg wide: i32[8, 64] uniform(-3, 34)
//@ arg short: i32[8, 4] uniform(0, 31)
//@ arg tall: i32[16, 32] uniform(-2, 9)
//@ arg line: i32[64] uniform(-2000000000, 2000000000)
//@ arg p: f16[64] uniform(-1, 1)
//@ arg near: i32[64] uniform(-5, 70)
//@ arg masks: bool[64] list(0, 1, 1, 0, 1)
//@ arg doubles: f64[1, 64] uniform(-1, 1)
//@ arg by_wide: f32[8, 64] poison
//@ arg by_short: f32[8, 4] poison
//@ arg by_tall: f32[16, 32] poison
//@ arg far: f16[64] poison
//@ arg by_near: f16[64] poison
//@ arg kept: bool[64] poison
//@ arg first: f64[1, 64] poison
//@ arg rotated: f16[64] poison
//@ expect by_wide: if wide(i, j) >= 0 && wide(i, j) < 32 { x(i, min(max(wide(i, j), 0), 31)) } else { 0.0 }
//@ expect by_short: x(i, short(i, j))
//@ expect by_tall: if tall(i, j) >= 0 && tall(i, j) < 8 { x(min(max(tall(i, j), 0), 7), j) } else { 0.0 }
//@ expect far: if line(i) >= 0 && line(i) < 64 { p(min(max(line(i), 0), 63)) } else { 0.0 }
//@ expect by_near: if near(i) >= 0 && near(i) < 64 { p(min(max(near(i), 0), 63)) } else { 0.0 }
//@ expect kept: if near(i) >= 0 && near(i) < 64 { masks(min(max(near(i), 0), 63)) } else { 0 > 1 }
//@ expect first: if near(j) == 0 { doubles(0, j) } else { 0.0 }
//@ expect rotated: p((i + 5) & 63)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 2, 8]))]
#[expect(clippy::too_many_arguments, reason = "one output for each gather")]
pub fn gather<const W: i32>(
    x: Tensor<f32, 2>,
    wide: Tensor<i32, 2>,
    short: Tensor<i32, 2>,
    tall: Tensor<i32, 2>,
    line: Tensor<i32, 1>,
    p: Tensor<f16, 1>,
    near: Tensor<i32, 1>,
    masks: Tensor<bool, 1>,
    doubles: Tensor<f64, 2>,
    by_wide: TensorMut<f32, 2>,
    by_short: TensorMut<f32, 2>,
    by_tall: TensorMut<f32, 2>,
    far: TensorMut<f16, 1>,
    by_near: TensorMut<f16, 1>,
    kept: TensorMut<bool, 1>,
    first: TensorMut<f64, 2>,
    rotated: TensorMut<f16, 1>,
) {
    let x = x.tile([0, 0], [8, 32]).load();
    by_wide.tile([0, 0], [8, 64]).store(x.gather(1, wide.tile([0, 0], [8, 64]).load()));
    by_short.tile([0, 0], [8, 4]).store(x.gather(1, short.tile([0, 0], [8, 4]).load()));
    by_tall.tile([0, 0], [16, 32]).store(x.gather(0, tall.tile([0, 0], [16, 32]).load()));
    let p = p.tile([0], [64]).load();
    far.tile([0], [64]).store(p.gather(0, line.tile([0], [64]).load()));
    let near = near.tile([0], [64]).load();
    by_near.tile([0], [64]).store(p.gather(0, near));
    kept.tile([0], [64]).store(masks.tile([0], [64]).load().gather(0, near));
    first.tile([0, 0], [1, 64]).store(doubles.tile([0, 0], [1, 64]).load().gather(0, near.expand(0)));
    rotated.tile([0], [64]).store(p.gather(0, (arange(0, 64) + 5) & 63));
}
