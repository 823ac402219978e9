//! A product added to sums that a copy has brought, after which a copy overwrites the sums of the next one: all in the order in
//! which one thread starts them.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 32] list(1, -2, 3, 0, 2, -1, 4)
//@ arg b: f16[32, 64] list(2, 1, 0, -1, 3)
//@ arg c: f32[128, 64] iota(-100, 3)
//@ arg d: f32[128, 64] poison
//@ expect d: c(i, j) + sum(k, 0, 32, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn copied_sums(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: Tensor<f32, 2>, d: TensorMut<f32, 2>) {
    let (left, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 64]));
    let staged = shared::<f32>([128, 64]);
    let acc = tmem::<f32>([128, 64]);
    let done = barrier(1);
    left.store(a.tile([0, 0], [128, 32]).load());
    right.store(b.tile([0, 0], [32, 64]).load());
    staged.store(c.tile([0, 0], [128, 64]).load());
    for _ in 0..2 {
        tcgen05::copy(staged, acc);
        tcgen05::mma(left, right, acc);
    }
    tcgen05::commit(done);
    done.wait(0);
    d.tile([0, 0], [128, 64]).store(acc.load());
}
