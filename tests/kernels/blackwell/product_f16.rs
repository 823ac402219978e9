//! A product whose sums lie in tensor memory: in steps, the first of which overwrites them.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 256] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[128, 256] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[128, 128] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_f16(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(128, 64)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([128, 64]));
    let acc = tmem::<f32>([128, 128]);
    let (full, done) = (barrier(1), barrier(1));
    for k in 0..4 {
        full.expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [0, 64 * k], full, sa);
        tma::load(b, [0, 64 * k], full, sb);
        full.wait(k & 1);
        tcgen05::mma(sa, sb.t(), acc).accumulate(k > 0);
        tcgen05::commit(done);
        done.wait(k & 1);
    }
    c.tile([0, 0], [128, 128]).store(acc.load());
}
