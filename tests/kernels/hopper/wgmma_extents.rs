//! Rows from 64 on, columns from 8 on, of one, two and four warpgroups: one instruction, or several.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[M, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[N, 32] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[M, N] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 1,
         instances((M, N, W) = [
             (64, 8, 4), (64, 16, 4), (64, 32, 4), (64, 64, 4), (64, 128, 4), (64, 256, 4), (128, 16, 4), (256, 64, 4),
             (64, 512, 8), (64, 16, 8), (128, 64, 8), (256, 128, 8), (256, 32, 16), (128, 64, 16), (64, 32, 16),
         ]))]
pub fn wgmma_extents<const M: i32, const N: i32, const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([M, 32]), shared::<f16>([N, 32]));
    sa.store(a.tile([0, 0], [M, 32]).load());
    sb.store(b.tile([0, 0], [N, 32]).load());
    fence_async();
    sync();
    let acc = wgmma::wait(0, wgmma::mma(sa, sb.t(), zeros::<f32>([M, N])));
    c.tile([0, 0], [M, N]).store(acc);
}
