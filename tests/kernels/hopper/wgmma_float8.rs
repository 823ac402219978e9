//! Products of FP8 numbers by a warpgroup: both formats on either side, sums in `f32` and in `f16`.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: A[64, K] list(1, -2, 0.5, 0, 2, -1, 4, -3, 1.5, 0, -4)
//@ arg b: B[128, K] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, 128] poison
//@ arg d: f16[64, 128] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1,
         instances((A, B, K) = [(e4m3, e4m3, 128), (e4m3, e5m2, 64), (e5m2, e4m3, 32), (e5m2, e5m2, 256)]))]
pub fn wgmma_float8<A: Scalar, B: Scalar, const K: i32>(
    #[block(64, K)] a: TensorMap<A, 2>,
    #[block(128, K)] b: TensorMap<B, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f16, 2>,
) {
    let (sa, sb) = (shared::<A>([64, K]), shared::<B>([128, K]));
    let bar = barrier(1);
    bar.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], bar, sa);
    tma::load(b, [0, 0], bar, sb);
    bar.wait(0);
    let wide = wgmma::mma(sa, sb.t(), full::<f32>([64, 128], 1.0));
    let narrow = wgmma::mma(sa, sb.t(), zeros::<f16>([64, 128]));
    let wide = wgmma::wait(1, wide);
    c.tile([0, 0], [64, 128]).store(wide);
    let narrow = wgmma::wait(0, narrow);
    d.tile([0, 0], [64, 128]).store(narrow);
}
