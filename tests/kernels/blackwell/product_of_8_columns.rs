//! Products of 64 rows by 8 columns, the narrowest, below and beside one another, with either index of B contiguous.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[32, 32] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg bytes: i8[64, 64] list(5, -3, 0, 7, 1, -9, 2)
//@ arg others: i8[16, 64] list(1, -2, 0, 4, 3)
//@ arg c: f32[128, 32] poison
//@ arg turned: f32[128, 32] poison
//@ arg halves: f16[64, 32] poison
//@ arg whole: i32[64, 16] poison
//@ expect c: sum(k, 0, 32, a(i, k) * b(k, j))
//@ expect turned: sum(k, 0, 32, a(i, k) * b(j, k))
//@ expect halves: sum(k, 0, 32, a(i, k) * b(k, j))
//@ expect whole: sum(k, 0, 64, bytes(i, k) * others(j, k))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_of_8_columns(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    bytes: Tensor<i8, 2>,
    others: Tensor<i8, 2>,
    c: TensorMut<f32, 2>,
    turned: TensorMut<f32, 2>,
    halves: TensorMut<f16, 2>,
    whole: TensorMut<i32, 2>,
) {
    let (left, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 32]));
    let half = shared::<f16>([64, 32]);
    let (small, other) = (shared::<i8>([64, 64]), shared::<i8>([16, 64]));
    let sums = tmem::<f32>([128, 32]).with_layout(tmem_block([64, 8], 1));
    let of_turned = tmem::<f32>([128, 32]).with_layout(tmem_block([64, 8], 1));
    let of_halves = tmem::<f16>([64, 32]).with_layout(tmem_block([64, 8], 2));
    let of_bytes = tmem::<i32>([64, 16]).with_layout(tmem_block([64, 8], 1));
    let done = barrier(1);
    left.store(a.tile([0, 0], [128, 32]).load());
    half.store(a.tile([0, 0], [64, 32]).load());
    right.store(b.tile([0, 0], [32, 32]).load());
    small.store(bytes.tile([0, 0], [64, 64]).load());
    other.store(others.tile([0, 0], [16, 64]).load());
    tcgen05::mma(left, right, sums).accumulate(false);
    tcgen05::mma(left, right.t(), of_turned).accumulate(false);
    tcgen05::mma(half, right, of_halves).accumulate(false);
    tcgen05::mma(small, other.t(), of_bytes).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 32]).store(sums.load());
    turned.tile([0, 0], [128, 32]).store(of_turned.load());
    halves.tile([0, 0], [64, 32]).store(of_halves.load());
    whole.tile([0, 0], [64, 16]).store(of_bytes.load());
}
