//! Sparse products of `f32` in tensor memory: one of each two elements is kept. Metadata is stored, or copied from shared memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f32[M, K / 2] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 5, -4)
//@ arg b: f32[N, K] list(-1, 2, 0, 3, 1, -2, 5, -3, 4, -4, 6, -5, -6)
//@ arg m: u16[M, K / 8] list(0xeeee, 0xe4ee, 0x4ee4, 0x4444, 0x444e, 0x4444, 0x44e4, 0x44ee, 0xe444, 0xeeee, 0xe4ee, 0x4444, 0xeee4, 0x4444, 0xee4e, 0xe444, 0x4eee, 0x4444, 0xe444, 0xe4ee, 0xee4e, 0xe44e, 0x4e4e)
//@ arg out: f32[M, N] poison
//@ expect out: sum(k, 0, K / 2, a(i, k) * b(j, k * 2 + (m(i, k / 4) >> (k % 4 * 4) & 15) / 14))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = W, grid = 1, instances((M, N, K, W) = [(128, 16, 32, 4), (128, 32, 64, 8), (256, 64, 64, 4)], PLACE = [0, 1]))]
pub fn sparse_tf32<const M: i32, const N: i32, const K: i32, const W: i32, const PLACE: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    m: Tensor<u16, 2>,
    out: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f32>([M, K / 2]), shared::<f32>([N, K]));
    let (metadata, acc) = (tmem::<u16>([M, K / 8]), tmem::<f32>([M, N]));
    let done = barrier(1);
    sa.store(a.tile([0, 0], [M, K / 2]).load());
    sb.store(b.tile([0, 0], [N, K]).load());
    if PLACE == 0 || K == 32 || M == 256 {
        metadata.store(m.tile([0, 0], [M, K / 8]).load());
    } else {
        let sm = shared::<u16>([M, K / 8]);
        sm.store(m.tile([0, 0], [M, K / 8]).load());
        tcgen05::copy(sm, metadata);
    }
    tcgen05::mma_sparse(sa, metadata, sb.t(), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    out.tile([0, 0], [M, N]).store(acc.load());
}
