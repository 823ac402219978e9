//! Sparse products of FP8 in tensor memory, both formats with each other; what is kept in shared or in tensor memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: A[128, K / 2] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: B[N, K] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[128, K / 16] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: S[128, N] list(5, -6, 7)
//@ arg out: S[128, N] poison
//@ expect out: c(i, j) + sum(k, 0, K / 2, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1,
         instances((A, B, S) = [(e4m3, e4m3, f32), (e4m3, e5m2, f32), (e5m2, e4m3, f16), (e5m2, e5m2, f16)],
                   (N, K) = [(16, 64), (64, 128)], PLACE = [0, 1]))]
pub fn sparse_float8<A: Scalar, B: Scalar, S: Number, const N: i32, const K: i32, const PLACE: i32>(
    a: Tensor<A, 2>,
    b: Tensor<B, 2>,
    m: Tensor<u16, 2>,
    c: Tensor<S, 2>,
    out: TensorMut<S, 2>,
) {
    let (sa, sb) = (shared::<A>([128, K / 2]), shared::<B>([N, K]));
    let (metadata, acc) = (tmem::<u16>([128, K / 16]), tmem::<S>([128, N]));
    let done = barrier(1);
    let a = a.tile([0, 0], [128, K / 2]).load();
    sb.store(b.tile([0, 0], [N, K]).load());
    metadata.store(m.tile([0, 0], [128, K / 16]).load());
    acc.store(c.tile([0, 0], [128, N]).load());
    if PLACE == 0 {
        sa.store(a);
        tcgen05::mma_sparse(sa, metadata, sb.t(), acc);
    } else {
        let left = tmem::<A>([128, K / 2]);
        left.store(a);
        tcgen05::mma_sparse(left, metadata, sb.t(), acc);
    }
    tcgen05::commit(done);
    done.wait(0);
    out.tile([0, 0], [128, N]).store(acc.load());
}
