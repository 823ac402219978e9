//! Sparse products of halves in tensor memory: one instruction and several along each side, added to what is there; what is kept in shared
//! or in tensor memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: T[M, K / 2] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: T[N, K] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[M, K / 16] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: S[M, N] list(5, -6, 7)
//@ arg out: S[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K / 2, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = W, grid = 1,
         instances((T, S) = [(f16, f32), (f16, f16), (bf16, f32)], (M, N, K, W) = [(128, 16, 64, 4), (128, 64, 256, 4), (256, 32, 128, 8), (128, 256, 64, 8)],
                   PLACE = [0, 1]))]
pub fn sparse<T: Float, S: Number, const M: i32, const N: i32, const K: i32, const W: i32, const PLACE: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    m: Tensor<u16, 2>,
    c: Tensor<S, 2>,
    out: TensorMut<S, 2>,
) {
    let (sa, sb) = (shared::<T>([M, K / 2]), shared::<T>([N, K]));
    let (metadata, acc) = (tmem::<u16>([M, K / 16]), tmem::<S>([M, N]));
    let done = barrier(1);
    let a = a.tile([0, 0], [M, K / 2]).load();
    sb.store(b.tile([0, 0], [N, K]).load());
    metadata.store(m.tile([0, 0], [M, K / 16]).load());
    acc.store(c.tile([0, 0], [M, N]).load());
    if PLACE == 0 {
        sa.store(a);
        tcgen05::mma_sparse(sa, metadata, sb.t(), acc);
    } else {
        let left = tmem::<T>([M, K / 2]);
        left.store(a);
        tcgen05::mma_sparse(left, metadata, sb.t(), acc);
    }
    tcgen05::commit(done);
    done.wait(0);
    out.tile([0, 0], [M, N]).store(acc.load());
}
