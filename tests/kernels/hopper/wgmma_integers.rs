//! Products of bytes by two warpgroups: signed and unsigned ones on either side, the extremes of each.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: A[128, 64] bits
//@ arg b: B[64, 64] bits
//@ arg c: i32[128, 64] list(1000000, -7, 0)
//@ arg out: i32[128, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8, grid = 1,
         instances((A, B) = [(i8, i8), (i8, u8), (u8, i8), (u8, u8)]))]
pub fn wgmma_integers<A: Scalar, B: Scalar>(
    #[block(128, 64)] a: TensorMap<A, 2>,
    #[block(64, 64)] b: TensorMap<B, 2>,
    c: Tensor<i32, 2>,
    out: TensorMut<i32, 2>,
) {
    let (sa, sb) = (shared::<A>([128, 64]), shared::<B>([64, 64]));
    let bar = barrier(1);
    bar.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], bar, sa);
    tma::load(b, [0, 0], bar, sb);
    bar.wait(0);
    let acc = wgmma::mma(sa, sb.t(), c.tile([0, 0], [128, 64]).load());
    let acc = wgmma::wait(0, acc);
    out.tile([0, 0], [128, 64]).store(acc);
}
