//! Two tiles of sums: one is stored while the next product adds to the other. Waits for the iteration before stand on a condition, and the commit comes late.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[4 * 128, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg n: i32 scalar 4
//@ arg c: f32[4 * 128, 64] poison
//@ expect c: sum(n, 0, 64, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn sums_in_turn(a: Tensor<f16, 2>, b: Tensor<f16, 2>, n: i32, c: TensorMut<f32, 2>) {
    let left = shared::<f16>([2, 128, 64]);
    let right = shared::<f16>([64, 64]);
    let accs = tmem::<f32>([2, 128, 64]);
    let done = barriers(2, 1);
    right.store(b.tile([0, 0], [64, 64]).load());
    for step in 0..n {
        let cur = step & 1;
        left[cur].store(a.tile([128 * step, 0], [128, 64]).load());
        if step > 0 {
            done[1 - cur].wait((step - 1) / 2 % 2);
        }
        tcgen05::mma(left[cur], right, accs[cur]).accumulate(false);
        if step > 0 {
            c.tile([128 * (step - 1), 0], [128, 64]).store(accs[1 - cur].load());
        }
        tcgen05::commit(done[cur]);
    }
    if n > 0 {
        done[(n - 1) & 1].wait((n - 1) / 2 % 2);
        c.tile([128 * (n - 1), 0], [128, 64]).store(accs[(n - 1) & 1].load());
    }
}
