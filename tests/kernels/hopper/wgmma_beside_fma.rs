//! One accumulator that products by fused multiply-add and by `wgmma` add to in turn: it is converted between them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, 64] poison
//@ arg turns: i32 scalar 2
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wgmma_beside_fma(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    turns: i32,
) {
    let (sa, sb) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    sa.store(a.tile([0, 0], [64, 64]).load());
    sb.store(b.tile([0, 0], [64, 64]).load());
    fence_async();
    sync();
    let p = a.tile([0, 0], [64, 16]).load().cast::<f32>();
    let q = b.tile([0, 0], [16, 64]).load().cast::<f32>();
    let mut acc = zeros::<f32>([64, 64]);
    for _ in 0..turns {
        acc = dot(p, q, acc);
        acc = wgmma::wait(0, wgmma::mma(sa, sb, acc));
    }
    c.tile([0, 0], [64, 64]).store(acc);
}
