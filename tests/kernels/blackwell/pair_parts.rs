//! Products of a pair whose sums are halves of one tile: of 128 columns beside one another, and of 256 rows, which lie beside one another too.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[256, 32] list(1, -2, 3, 0, 2, -1, 1)
//@ arg b: f16[32, 64] list(2, 1, 0, -1, 3)
//@ arg d: f32[256, 128] poison
//@ arg e: f32[512, 64] poison
//@ expect d: sum(k, 0, 32, a(i, k) * b(k, j % 64))
//@ expect e: sum(k, 0, 32, a(i % 128 + i / 256 * 128, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2, grid = 2)]
pub fn pair_parts(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    d: TensorMut<f32, 2>,
    e: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let (left, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 32]));
    let wide = tmem::<f32>([128, 128]);
    let tall = tmem::<f32>([256, 64]);
    let done = barrier(1);
    left.store(a.tile([128 * rank, 0], [128, 32]).load());
    right.store(b.tile([0, 32 * rank], [32, 32]).load());
    cluster::sync();
    for half in unroll(0..2) {
        tcgen05::mma_pair(left, right, wide.tile([0, 64 * half], [128, 64])).accumulate(false);
        tcgen05::mma_pair(left, right, tall.tile([128 * half, 0], [128, 64])).accumulate(false);
    }
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
    d.tile([128 * rank, 0], [128, 128]).store(wide.load());
    e.tile([256 * rank, 0], [256, 64]).store(tall.load());
}
