//! A tensor of 5 axes has no dimension to spare: the window is as wide as the swizzle, and one box all the same.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[2, 3, 2, 11, 36] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: f32[2, 3, 2, 11, 36] poison
//@ expect b: 2 * a(i, j, k, l, m)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [4, 2, 4])]
pub fn rank5(
    #[block(1, 2, 1, 8, 32)] a: TensorMap<f32, 5>,
    #[block(1, 2, 1, 8, 32)] b: TensorMapMut<f32, 5>,
) {
    let (outer, middle) = (block_id(2) / 2, block_id(2) % 2);
    let at = [outer, block_id(1) * 2, middle, (block_id(0) / 2) * 8, (block_id(0) % 2) * 32];
    let staged = shared::<f32>([2, 8, 32]);
    let out = shared::<f32>([2, 8, 32]);
    let bar = barrier(1);
    bar.expect(a.block_bytes());
    tma::load(a, at, bar, staged);
    bar.wait(0);
    out[0].store(staged[0].load() * 2.0);
    out[1].store(staged[1].load() * 2.0);
    fence_async();
    tma::store(b, at, out);
    tma::store_wait(0);
}
