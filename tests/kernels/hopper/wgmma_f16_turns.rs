//! What a loop carries of sums in `f16` are the words that products write: nothing moves them while one is under way.
//@ run: eval, emulate, gpu
//@ snapshot: ptx
//@ compare: exact
//@ arg a: f16[64, 16] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[8, 16] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg n: i32 scalar 3
//@ arg c: f16[64, 8] poison
//@ expect c: 0.5 + 3 * sum(k, 0, 16, a(i, k) * b(j, k))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wgmma_f16_turns(a: Tensor<f16, 2>, b: Tensor<f16, 2>, n: i32, c: TensorMut<f16, 2>) {
    let (sa, sb) = (shared::<f16>([64, 16]), shared::<f16>([8, 16]));
    sa.store(a.tile([0, 0], [64, 16]).load());
    sb.store(b.tile([0, 0], [8, 16]).load());
    fence_async();
    sync();
    let mut acc = full([64, 8], f16::of(0.5));
    for _ in 0..n {
        acc = wgmma::mma(sa, sb.t(), acc);
        acc = wgmma::wait(1, acc);
    }
    acc = wgmma::wait(0, acc);
    c.tile([0, 0], [64, 8]).store(acc);
}
