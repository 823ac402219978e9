//! Sparse products of bytes in tensor memory, signed and unsigned with each other; sums wrap. Metadata is stored, or copied from shared memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: A[M, K / 2] list(-128, 127, 3, 0, 101, -1, 4, -3, 1, 90, -4)
//@ arg b: B[N, K] list(127, -128, 0, 3, -77, -2, 1, 55, 9, -31, 100, 18, -19)
//@ arg m: u16[M, K / 16] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: i32[M, N] list(5, -6, 2147483647)
//@ arg out: i32[M, N] poison
//@ expect out: c(i, j) + sum(k, 0, K / 2, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1,
         instances((A, B) = [(i8, i8), (i8, u8), (u8, i8), (u8, u8)], (M, N, K) = [(128, 32, 64), (256, 16, 128), (128, 64, 256)], PLACE = [0, 1]))]
pub fn sparse_bytes<A: Integer, B: Integer, const M: i32, const N: i32, const K: i32, const PLACE: i32>(
    a: Tensor<A, 2>,
    b: Tensor<B, 2>,
    m: Tensor<u16, 2>,
    c: Tensor<i32, 2>,
    out: TensorMut<i32, 2>,
) {
    let (sa, sb) = (shared::<A>([M, K / 2]), shared::<B>([N, K]));
    let (metadata, acc) = (tmem::<u16>([M, K / 16]), tmem::<i32>([M, N]));
    let done = barrier(1);
    sa.store(a.tile([0, 0], [M, K / 2]).load());
    sb.store(b.tile([0, 0], [N, K]).load());
    acc.store(c.tile([0, 0], [M, N]).load());
    if PLACE == 0 || K == 64 || M == 256 {
        metadata.store(m.tile([0, 0], [M, K / 16]).load());
    } else {
        let sm = shared::<u16>([M, K / 16]);
        sm.store(m.tile([0, 0], [M, K / 16]).load());
        tcgen05::copy(sm, metadata);
    }
    tcgen05::mma_sparse(sa, metadata, sb.t(), acc);
    tcgen05::commit(done);
    done.wait(0);
    out.tile([0, 0], [M, N]).store(acc.load());
}
