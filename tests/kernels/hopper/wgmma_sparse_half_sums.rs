//! Sparse products by warpgroups with an accumulator of halves.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[M, K / 2] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: f16[N, K] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[M, K / 16] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: f16[M, N] list(5, -6, 7)
//@ arg out: f16[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K / 2, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 1,
         instances((M, N, K, W) = [(64, 8, 32, 4), (64, 32, 128, 4), (128, 64, 64, 8)], PLACE = [0, 1]))]
pub fn wgmma_sparse_half_sums<const M: i32, const N: i32, const K: i32, const W: i32, const PLACE: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    m: Tensor<u16, 2>,
    c: Tensor<f16, 2>,
    out: TensorMut<f16, 2>,
) {
    let (sa, sb) = (shared::<f16>([M, K / 2]), shared::<f16>([N, K]));
    let a = a.tile([0, 0], [M, K / 2]).load();
    sa.store(a);
    sb.store(b.tile([0, 0], [N, K]).load());
    let (m, c) = (m.tile([0, 0], [M, K / 16]).load(), c.tile([0, 0], [M, N]).load());
    fence_async();
    sync();
    let acc = if PLACE == 0 { wgmma::mma_sparse(sa, m, sb.t(), c) } else { wgmma::mma_sparse(a, m, sb.t(), c) };
    out.tile([0, 0], [M, N]).store(wgmma::wait(0, acc));
}
