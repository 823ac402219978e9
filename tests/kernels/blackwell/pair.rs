//! Products of pairs of blocks, of 128 and 256 rows: each block writes its rows of A and its half of the columns of B, and
//! reads its rows of the sums. Both blocks reach every statement; the one of even rank starts the products and commits.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[CLUSTER * ROWS, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[32, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[CLUSTER * ROWS, N] poison
//@ expect c: sum(n, 0, 32, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = CLUSTER, grid = CLUSTER,
         instances((CLUSTER, ROWS, N) = [(4, 128, 32), (2, 64, 64)]))]
pub fn pair<const CLUSTER: i32, const ROWS: i32, const N: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let (rows, first) = (rank * ROWS, rank & !1);
    let (left, right) = (shared::<f16>([ROWS, 16]), shared::<f16>([16, N / 2]));
    let acc = tmem::<f32>([ROWS, N]);
    let done = barrier(1);
    for step in 0..2 {
        left.store(a.tile([rows, 16 * step], [ROWS, 16]).load());
        right.store(b.tile([16 * step, rank % 2 * (N / 2)], [16, N / 2]).load());
        // What both blocks have written is there for the tensor cores of both.
        cluster::sync();
        tcgen05::mma_pair(left, right, acc).accumulate(step > 0);
        tcgen05::commit(done).multicast(0b11 << first);
        done.wait(step % 2);
    }
    c.tile([rows, 0], [ROWS, N]).store(acc.load());
}
