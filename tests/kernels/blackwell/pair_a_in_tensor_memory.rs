//! A product of a pair of blocks with A in tensor memory: each block stores its rows there.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: bf16[256, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: bf16[32, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[256, 64] poison
//@ expect c: 2 * sum(n, 0, 32, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2, grid = 2)]
pub fn pair_a_in_tensor_memory(
    a: Tensor<bf16, 2>,
    b: Tensor<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let (left, right) = (tmem::<bf16>([128, 32]), shared::<bf16>([32, 32]));
    let acc = tmem::<f32>([128, 64]);
    let done = barrier(1);
    left.store(a.tile([128 * rank, 0], [128, 32]).load());
    right.store(b.tile([0, 32 * rank], [32, 32]).load());
    cluster::sync();
    tcgen05::mma_pair(left, right, acc).accumulate(false);
    tcgen05::mma_pair(left, right, acc);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
    c.tile([128 * rank, 0], [128, 64]).store(acc.load());
}
