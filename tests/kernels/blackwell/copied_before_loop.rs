//! Sums that a copy brings in front of a loop whose first iteration commits to a barrier, and waits for it: the copy is done by then too.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 64] list(1, -2, 3, 0, 2, -1, 4)
//@ arg b: f16[64, 32] list(2, 1, 0, -1, 3)
//@ arg c: f32[128, 32] iota(-100, 3)
//@ arg d: f32[128, 32] poison
//@ expect d: c(i, j) + sum(k, 0, 64, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn copied_before_loop(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: Tensor<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 32]));
    let staged = shared::<f32>([128, 32]);
    let acc = tmem::<f32>([128, 32]);
    let done = barrier(1);
    staged.store(c.tile([0, 0], [128, 32]).load());
    tcgen05::copy(staged, acc);
    for step in 0..2 {
        left.store(a.tile([0, 32 * step], [128, 32]).load());
        right.store(b.tile([32 * step, 0], [32, 32]).load());
        sync();
        tcgen05::mma(left, right, acc);
        tcgen05::commit(done);
        done.wait(step);
    }
    d.tile([0, 0], [128, 32]).store(acc.load());
}
