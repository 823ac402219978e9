//! Parts of tiles of shared memory as operands of `wgmma`: halves along the rows and along `k`, one of which begins where only the kernel knows,
//! for one and for two warpgroups; columns of rows that are contiguous along `n`; and words read as bf16.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[256, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 128] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg e: f16[128, 64] list(2, 0, -1, 1, 3)
//@ arg x: u32[128, 64] list(0x40003f80, 0x3f80bf80, 0x00004040, 0xbf004000, 0x3f803f80)
//@ arg half: i32 scalar 1
//@ arg c: f32[128, 32] poison
//@ arg d: f32[128, 32] poison
//@ arg f: f32[128, 64] poison
//@ expect c: sum(k, 0, 64, a(128 + i, 64 + k) * b(32 + j, 64 + k))
//@ expect d: sum(k, 0, 64, a(i, k) * e(64 + k, 32 + j)) + sum(k, 0, 32, a(128 + i, 32 + k) * b(j, 96 + k))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = WARPS, grid = 1, instances(WARPS = [4, 8]))]
pub fn wgmma_parts_of_shared<const WARPS: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    e: Tensor<f16, 2>,
    x: Tensor<u32, 2>,
    half: i32,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
    f: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f16>([256, 128]), shared::<f16>([64, 128]));
    let (along, words) = (shared::<f16>([128, 64]), shared::<u32>([128, 64]));
    left.store(a.tile([0, 0], [256, 128]).load());
    right.store(b.tile([0, 0], [64, 128]).load());
    along.store(e.tile([0, 0], [128, 64]).load());
    words.store(x.tile([0, 0], [128, 64]).load());
    fence_async();
    sync();
    let lower = left.tile([128 * half, 64 * half], [128, 64]);
    let mut acc = zeros::<f32>([128, 32]);
    acc = wgmma::wait(0, wgmma::mma(lower, right.t().tile([64, 32], [64, 32]), acc));
    c.tile([0, 0], [128, 32]).store(acc);
    let mut more = zeros::<f32>([128, 32]);
    more = wgmma::mma(left.tile([0, 0], [128, 64]), along.tile([64, 32 * half], [64, 32]), more);
    more = wgmma::mma(left.tile([128, 32], [128, 32]), right.tile([0, 96], [32, 32]).t(), more);
    more = wgmma::wait(0, more);
    d.tile([0, 0], [128, 32]).store(more);
    let halves = words.view::<bf16>();
    let mut square = zeros::<f32>([128, 64]);
    square = wgmma::wait(0, wgmma::mma(halves, halves.tile([64, 0], [64, 128]).t(), square));
    f.tile([0, 0], [128, 64]).store(square);
}
