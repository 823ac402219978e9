//! Products of a pair added to sums that the threads of both blocks have stored, after which they read them and store others; the rows of A
//! are adjacent. Sums of either type, of 64 and of 128 rows in each block.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[32, 4 * ROWS] list(1, -2, 3, 0, 2, -1, 1)
//@ arg b: f16[32, 32] list(2, 1, 0, -1, 3)
//@ arg d: S[4 * ROWS, 32] poison
//@ expect d: i / ROWS % 2 + 2 + 2 * sum(k, 0, 32, a(k, i) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 8, cluster = 4, grid = 4, instances((ROWS, S) = [(128, f32), (64, f16)]))]
pub fn pair_stored_sums<const ROWS: i32, S: Float>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    d: TensorMut<S, 2>,
) {
    let rank = cluster::rank();
    let (left, right) = (shared::<f16>([32, ROWS]), shared::<f16>([32, 16]));
    let acc = tmem::<S>([ROWS, 32]);
    let done = barrier(1);
    left.store(a.tile([0, ROWS * rank], [32, ROWS]).load());
    right.store(b.tile([0, 16 * (rank % 2)], [32, 16]).load());
    acc.store(full([ROWS, 32], (rank % 2) as S));
    for step in 0..2 {
        cluster::sync();
        tcgen05::mma_pair(left.t(), right, acc);
        tcgen05::commit(done).multicast(0b11 << (rank & 2));
        done.wait(step);
        acc.store(acc.load() + full([ROWS, 32], S::of(1.0)));
    }
    d.tile([ROWS * rank, 0], [ROWS, 32]).store(acc.load());
}
