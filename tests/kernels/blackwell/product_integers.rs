//! Products of bytes, signed and not, and of tf32: A from shared memory and, of bytes, from tensor memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: i8[128, 64] list(1, -2, 3, 0, 127, -1, 4, -128, 1)
//@ arg b: u8[32, 64] list(255, 2, 0, 3, 1, 200, 1)
//@ arg x: f32[64, 16] list(1, -2, 3, 0, 2, -1, 4)
//@ arg y: f32[8, 16] list(-1, 2, 0, 3, 1)
//@ arg c: i32[128, 32] poison
//@ arg d: i32[128, 32] poison
//@ arg z: f32[64, 8] poison
//@ expect c: sum(k, 0, 64, a(i, k) * b(j, k))
//@ expect d: 2 * sum(k, 0, 64, a(i, k) * b(j, k))
//@ expect z: sum(k, 0, 16, x(i, k) * y(j, k))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_integers(
    a: Tensor<i8, 2>,
    b: Tensor<u8, 2>,
    x: Tensor<f32, 2>,
    y: Tensor<f32, 2>,
    c: TensorMut<i32, 2>,
    d: TensorMut<i32, 2>,
    z: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<i8>([128, 64]), shared::<u8>([32, 64]));
    let (tall, wide) = (shared::<f32>([64, 16]), shared::<f32>([8, 16]));
    let held = tmem::<i8>([128, 64]);
    let sums = tmem::<i32>([2, 128, 32]);
    let acc = tmem::<f32>([64, 8]);
    let done = barrier(1);
    left.store(a.tile([0, 0], [128, 64]).load());
    right.store(b.tile([0, 0], [32, 64]).load());
    tall.store(x.tile([0, 0], [64, 16]).load());
    wide.store(y.tile([0, 0], [8, 16]).load());
    held.store(a.tile([0, 0], [128, 64]).load());
    tcgen05::mma(left, right.t(), sums[0]).accumulate(false);
    tcgen05::mma(held, right.t(), sums[1]).accumulate(false);
    tcgen05::mma(held, right.t(), sums[1]);
    tcgen05::mma(tall, wide.t(), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 32]).store(sums[0].load());
    d.tile([0, 0], [128, 32]).store(sums[1].load());
    z.tile([0, 0], [64, 8]).store(acc.load());
}
