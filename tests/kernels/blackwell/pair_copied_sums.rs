//! Products of a pair added to sums that copies have brought: the first block starts the copies of both as well, each from its own shared
//! memory. Products and copies under conditions of the cluster, of which the first block's count.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[256, 32] list(1, -2, 3, 0, 2, -1, 4)
//@ arg b: f16[32, 64] list(2, 1, 0, -1, 3)
//@ arg c: f32[256, 64] iota(-100, 3)
//@ arg d: f32[256, 64] poison
//@ arg twice: i32 scalar 2
//@ expect d: c(i, j) + 2 * sum(k, 0, 32, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = [2, 1], grid = 2)]
pub fn pair_copied_sums(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: Tensor<f32, 2>,
    d: TensorMut<f32, 2>,
    twice: i32,
) {
    let rank = cluster::rank();
    let (left, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 32]));
    let staged = shared::<f32>([128, 64]);
    let acc = tmem::<f32>([128, 64]);
    let done = barrier(1);
    left.store(a.tile([128 * rank, 0], [128, 32]).load());
    right.store(b.tile([0, 32 * rank], [32, 32]).load());
    staged.store(c.tile([128 * rank, 0], [128, 64]).load());
    cluster::sync();
    tcgen05::copy(staged, acc).when(twice > 0);
    tcgen05::mma_pair(left, right, acc);
    tcgen05::mma_pair(left, right, acc).when(twice > 1);
    tcgen05::mma_pair(left, right, acc).when(twice > 2);
    tcgen05::commit(done).multicast(0b11).when(rank == 0);
    done.wait(0);
    d.tile([128 * rank, 0], [128, 64]).store(acc.load());
}
