//! A product by one warpgroup: operands in shared memory, depth and columns contiguous.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 128] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg bt: f16[128, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, 128] poison
//@ arg d: f32[64, 128] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wgmma_f16(
    #[block(64, 64)] a: TensorMap<f16, 2>,
    #[block(64, 128)] b: TensorMap<f16, 2>,
    #[block(128, 64)] bt: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let (sa, sb, st) = (shared::<f16>([64, 64]), shared::<f16>([64, 128]), shared::<f16>([128, 64]));
    let bar = barrier(1);
    bar.expect(a.block_bytes() + b.block_bytes() + bt.block_bytes());
    tma::load(a, [0, 0], bar, sa);
    tma::load(b, [0, 0], bar, sb);
    tma::load(bt, [0, 0], bar, st);
    bar.wait(0);
    let first = wgmma::mma(sa, sb, zeros([64, 128]));
    let second = wgmma::mma(sa, st.t(), full([64, 128], 1.0));
    let first = wgmma::wait(1, first);
    c.tile([0, 0], [64, 128]).store(first);
    let second = wgmma::wait(0, second);
    d.tile([0, 0], [64, 128]).store(second);
}
