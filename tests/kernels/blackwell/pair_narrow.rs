//! FP8 by FP4, FP4 by FP4 and FP6 by FP8, by pairs of blocks of 64 and 128 rows each: each block has its rows of the left and its half of the columns
//! of the right operand, padded. FP6 comes through TMA and completes on a barrier of the first block.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e4m3[2 * ROWS, 128] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg b: e2m1x2[N, 64] list(18, 5, 193, 112, 255, 64, 46)
//@ arg u: e2m1x2[2 * ROWS, 64] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg s: e2m3x16[2 * ROWS, 8] list(0x820a6e4ab43302c360a88bc0, 0xb8ca4946caf240fc9127300f, 0xbf12e9b88c8cc2dc282d344b)
//@ arg v: e5m2[N, 128] list(2, 1, 0, -1, 3)
//@ arg c: f32[2 * ROWS, N] poison
//@ arg d: f16[2 * ROWS, N] poison
//@ arg w: f32[2 * ROWS, N] poison
//@ expect c: 2 * sum(k, 0, 128, a(i, k) * e2m1(b(j, k / 2), k % 2))
//@ expect d: sum(k, 0, 128, e2m1(u(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2))
//@ expect w: sum(k, 0, 128, e2m3(s(i, k / 16), k % 16) * v(j, k))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2, grid = 2,
         instances((ROWS, N) = [(128, 32), (64, 64)]))]
pub fn pair_narrow<const ROWS: i32, const N: i32>(
    a: Tensor<e4m3, 2>,
    b: Tensor<e2m1x2, 2>,
    u: Tensor<e2m1x2, 2>,
    #[block(ROWS, 8)] s: TensorMap<e2m3x16, 2>,
    v: Tensor<e5m2, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f16, 2>,
    w: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let (row, column) = (rank * ROWS, rank * (N / 2));
    let (left, right) = (shared::<e4m3>([ROWS, 128]), shared::<e2m1x2>([N / 2, 64]));
    let (fours, wide) = (shared::<e2m1x2>([ROWS, 64]), shared::<e5m2>([N / 2, 128]));
    let sixes = shared::<e2m3x16>([ROWS, 8]);
    let (acc, halves, last) = (tmem::<f32>([ROWS, N]), tmem::<f16>([ROWS, N]), tmem::<f32>([ROWS, N]));
    let (full, done) = (barrier(1), barrier(1));
    if rank == 0 {
        full.expect(2 * s.block_bytes());
    }
    cluster::sync();
    tma::load(s, [row, 0], full.of_block(0), sixes);
    left.store(a.tile([row, 0], [ROWS, 128]).load());
    right.store(b.tile([column, 0], [N / 2, 64]).load());
    fours.store(u.tile([row, 0], [ROWS, 64]).load());
    wide.store(v.tile([column, 0], [N / 2, 128]).load());
    cluster::sync();
    if rank == 0 {
        full.wait(0);
    }
    for i in 0..2 {
        tcgen05::mma_pair(left, right.t(), acc).accumulate(i > 0);
    }
    tcgen05::mma_pair(fours, right.t(), halves).accumulate(false);
    tcgen05::mma_pair(sixes, wide.t(), last).accumulate(false);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
    c.tile([row, 0], [ROWS, N]).store(acc.load());
    d.tile([row, 0], [ROWS, N]).store(halves.load());
    w.tile([row, 0], [ROWS, N]).store(last.load());
}
