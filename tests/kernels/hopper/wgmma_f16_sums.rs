//! Sums in `f16`, with a product under way from iteration to iteration, and between them scaled.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[64, 256] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: T[64, 256] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f16[64, 64] poison
//@ arg d: f16[64, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(T = [f16, e4m3, e5m2]))]
pub fn wgmma_f16_sums<T: Scalar>(
    #[block(64, 64)] a: TensorMap<T, 2>,
    #[block(64, 64)] b: TensorMap<T, 2>,
    c: TensorMut<f16, 2>,
    d: TensorMut<f16, 2>,
) {
    let (sa, sb) = (shared::<T>([4, 64, 64]), shared::<T>([4, 64, 64]));
    let full = barriers(4, 1);
    for i in 0..4 {
        full[i].expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [0, 64 * i], full[i], sa[i]);
        tma::load(b, [0, 64 * i], full[i], sb[i]);
    }
    let mut acc = zeros::<f16>([64, 64]);
    for i in 0..4 {
        full[i].wait(0);
        acc = wgmma::mma(sa[i], sb[i].t(), acc);
        acc = wgmma::wait(1, acc);
    }
    acc = wgmma::wait(0, acc);
    c.tile([0, 0], [64, 64]).store(acc);
    let mut scaled = zeros::<f16>([64, 64]);
    for i in 0..3 {
        scaled = scaled * f16::of(0.5);
        scaled = wgmma::wait(0, wgmma::mma(sa[i], sb[i].t(), scaled));
    }
    d.tile([0, 0], [64, 64]).store(scaled);
}
