//! Sparse products of pairs of blocks: each block has the kept half of its rows with its metadata, stored or copied by the block of even
//! rank, and half of the columns of the right operand.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: T[CLUSTER * 128, 2 * K / 2] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: T[N, 2 * K] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg m: u16[CLUSTER * 128, 2 * K / 16] list(0x8dce, 0x8888, 0xe4ee, 0xe9e8, 0xecc4, 0xd44e, 0xcec8, 0x4c9e, 0x8d9e, 0x499e, 0xe9ed, 0x9984, 0x494e, 0x8de8, 0xd99c, 0x489e, 0xe8cd, 0x8c98, 0xc8de, 0x8d9d, 0xe48d, 0xe998, 0xc8ed, 0x4c98, 0x999c, 0xcde8, 0x4989, 0x9ec4, 0x44cc, 0xce94, 0xdcdc, 0x8ccd, 0x9999, 0x4e98, 0x94ed, 0xee4d, 0xcecc)
//@ arg c: A[CLUSTER * 128, N] poison
//@ expect c: sum(k, 0, K, a(i, k) * b(j, k / 2 * 4 + (m(i, k / 8) >> (k / 2 % 4 * 4 + k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = CLUSTER, grid = CLUSTER,
         instances((T, A) = [(f16, f32), (u8, i32)], (CLUSTER, N, K) = [(4, 32, 128), (2, 64, 64)], COPIED = [0, 1]))]
pub fn sparse_pair<T: Number, A: Number, const CLUSTER: i32, const N: i32, const K: i32, const COPIED: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    m: Tensor<u16, 2>,
    c: TensorMut<A, 2>,
) {
    let rank = cluster::rank();
    let (rows, first) = (rank * 128, rank & !1);
    let (left, right) = (shared::<T>([128, K / 2]), shared::<T>([N / 2, K]));
    let described = shared::<u16>([128, K / 16]);
    let metadata = tmem::<u16>([128, K / 16]);
    let acc = tmem::<A>([128, N]);
    let done = barrier(1);
    for step in 0..2 {
        left.store(a.tile([rows, K / 2 * step], [128, K / 2]).load());
        right.store(b.tile([rank % 2 * (N / 2), K * step], [N / 2, K]).load());
        let here = m.tile([rows, K / 16 * step], [128, K / 16]).load();
        if COPIED == 0 || K == 64 {
            metadata.store(here);
        } else {
            described.store(here);
        }
        // What both blocks have written is there for the tensor cores of both.
        cluster::sync();
        if COPIED == 1 && K > 64 {
            tcgen05::copy(described, metadata);
        }
        tcgen05::mma_sparse_pair(left, metadata, right.t(), acc).accumulate(step > 0);
        tcgen05::commit(done).multicast(0b11 << first);
        done.wait(step % 2);
    }
    c.tile([rows, 0], [128, N]).store(acc.load());
}
