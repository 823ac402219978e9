//! Reverse and exclusive scans of pairs of floats in layouts whose bits walk the axis in every order, one of them both axes at
//! once: the same in all of them, to the last bit.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[16, 128] uniform(-1, 1)
//@ arg b: f32[16, 128] uniform(-1, 1)
//@ arg rows: f32[16, 128] poison
//@ arg high: f32[16, 128] poison
//@ arg warps_low: f32[16, 128] poison
//@ arg columns: f32[16, 128] poison
//@ arg mixed: f32[16, 128] poison
//@ arg flipped: f32[16, 128] poison
//@ expect flipped: 0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "one output for each layout")]
pub fn ends_pinned(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    rows: TensorMut<f32, 2>,
    high: TensorMut<f32, 2>,
    warps_low: TensorMut<f32, 2>,
    columns: TensorMut<f32, 2>,
    mixed: TensorMut<f32, 2>,
    flipped: TensorMut<f32, 2>,
) {
    const ROWS: Layout = blocked([1, 4], [1, 32], [4, 1], [1, 0]);
    const HIGH: Layout = blocked([1, 1], [4, 8], [1, 4], [1, 0]);
    const WARPS_LOW: Layout = blocked([2, 2], [16, 2], [1, 4], [0, 1]);
    const MIXED: Layout = linear(
        [[0, 1], [0, 64], [8, 0], [4, 32]],
        [[1, 2], [2, 4], [0, 2], [0, 4], [0, 8]],
        [[0, 16], [4, 0]],
        [16, 128],
    );
    let a = a.tile([0, 0], [16, 128]).load();
    let b = b.tile([0, 0], [16, 128]).load();
    let (_, h) = (a.to_layout(ROWS), b).scan_reverse(1, |(a, h), (b, g)| (a * b, h * b + g));
    rows.tile([0, 0], [16, 128]).store(h);
    let pair = (a.to_layout(HIGH), b);
    let (_, h) = pair.scan_reverse_exclusive(1, (1.0, 0.5), |(a, h), (b, g)| (a * b, h * b + g));
    high.tile([0, 0], [16, 128]).store(h);
    let pair = (a.to_layout(WARPS_LOW), b);
    let (_, h) = pair.scan_exclusive(1, (1.0, 0.5), |(a, h), (b, g)| (a * b, h * b + g));
    warps_low.tile([0, 0], [16, 128]).store(h);
    let pair = (a.to_layout(HIGH), b);
    let (_, h) = pair.scan_exclusive(0, (1.0, 0.5), |(a, h), (b, g)| (a * b, h * b + g));
    columns.tile([0, 0], [16, 128]).store(h);
    let x = a.to_layout(MIXED);
    mixed.tile([0, 0], [16, 128]).store(x.scan_reverse_exclusive(1, 0.25, |a, b| a + b));
    // What the documentation says it is.
    let twice = x.flip(1).scan_exclusive(1, 0.25, |a, b| a + b).flip(1);
    flipped
        .tile([0, 0], [16, 128])
        .store(twice - x.to_layout(ROWS).scan_reverse_exclusive(1, 0.25, |a, b| a + b));
}
