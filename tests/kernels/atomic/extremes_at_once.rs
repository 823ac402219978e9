//! The largest and the smallest of halves, of neighbours at once: NaN loses, zeros of both signs and infinities stay.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ target: sm_80, sm_90a
//@ arg x: T[64, 128] list(1, -2, 3.5, inf, nan, 2, -1, 4, -inf, 0.25, nan, -8, 6e-8, -65504)
//@ arg most: T[128] list(-1, nan, 2, 0.5, -inf)
//@ arg least: T[128] list(1, inf, nan, -3)
//@ arg few: T[64, 2] list(nan, 0.75, -4)
//@ arg highest: ptr T[512] list(nan, -inf, 1)
//@ arg lowest: ptr T[512] list(nan, inf, 1)
//@ case: aligned
//@ case: a ragged row
//@ arg x: T[64, 101] list(1, nan, -2, 3.5, inf, nan, 2, -1, 4, -inf, 0.25, -8)
//@ arg most: T[101] list(-1, nan, 2)
//@ arg least: T[77] fill(1)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 2, grid = 8, instances(T = [f16, bf16]))]
pub fn extremes_at_once<T: Float>(
    x: Tensor<T, 2>,
    most: TensorMut<T, 1>,
    least: TensorMut<T, 1>,
    few: TensorMut<T, 2>,
    highest: Ptr<T>,
    lowest: Ptr<T>,
) {
    let rows = x.tile([block_id(0) * 8, 0], [8, 128]).load();
    most.tile([0], [128]).atomic_max(rows.max(0));
    least.tile([0], [128]).atomic_min(rows.min(0));
    // Two neighbours are one vector, of single halves.
    let pairs = x.tile([block_id(0) * 8, 4], [64, 2]).load();
    few.tile([0, 0], [64, 2]).atomic_max(pairs);
    let at = arange(0, 512);
    let value = x.tile([block_id(0), 0], [4, 128]).load().reshape([512]);
    atomic::max(highest + at, value);
    atomic::min(lowest + at, value);
}
