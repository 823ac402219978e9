//! Products and commits under conditions of the block: of four steps those are started whose bit is set, and the barrier is told by the
//! commit of the last one or by another one of two.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[128, 64] poison
//@ case: all
//@ arg steps: i32 scalar 15
//@ expect c: sum(n, 0, 64, a(i, n) * b(n, j))
//@ case: the odd ones
//@ arg steps: i32 scalar 10
//@ expect c: sum(n, 16, 32, a(i, n) * b(n, j)) + sum(n, 48, 64, a(i, n) * b(n, j))
//@ case: two of the first three
//@ arg steps: i32 scalar 5
//@ expect c: sum(n, 0, 16, a(i, n) * b(n, j)) + sum(n, 32, 48, a(i, n) * b(n, j))
//@ case: none
//@ arg steps: i32 scalar 0
//@ expect c: 0
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_where(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    steps: i32,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f16>([4, 128, 16]), shared::<f16>([4, 16, 64]));
    let acc = tmem::<f32>([128, 64]);
    let done = barriers(2, 1);
    acc.store(zeros([128, 64]));
    for step in 0..4 {
        left[step].store(a.tile([0, 16 * step], [128, 16]).load());
        right[step].store(b.tile([16 * step, 0], [16, 64]).load());
    }
    for step in 0..4 {
        tcgen05::mma(left[step], right[step], acc).when(steps >> step & 1 != 0);
    }
    let few = steps < 8;
    tcgen05::commit(done[0]).when(few);
    tcgen05::commit(done[1]).when(!few);
    if few {
        done[0].wait(0);
    } else {
        done[1].wait(0);
    }
    c.tile([0, 0], [128, 64]).store(acc.load());
}
