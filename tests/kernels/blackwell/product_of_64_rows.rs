//! Sums in blocks of 64 rows: of 128 rows, and of twice the columns of a block, the second of which takes the rows that the first one
//! leaves; and in `f16`. If A is in tensor memory, its second 64 rows lie where those of the sums do.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[32, 128] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[128, 128] poison
//@ arg d: f32[64, 128] poison
//@ arg e: f16[64, 128] poison
//@ arg f: f32[128, 128] poison
//@ expect c: sum(n, 0, 32, a(i, n) * b(n, j))
//@ expect d: sum(n, 0, 32, a(i, n) * b(n, j))
//@ expect e: sum(n, 0, 32, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_of_64_rows(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
    e: TensorMut<f16, 2>,
    f: TensorMut<f32, 2>,
) {
    let (left, upper) = (shared::<f16>([128, 32]), shared::<f16>([64, 32]));
    let right = shared::<f16>([32, 128]);
    let tall = tmem::<f32>([128, 128]).with_layout(tmem_block([64, 64], 1));
    let wide = tmem::<f32>([64, 128]).with_layout(tmem_block([64, 32], 1));
    let halves = tmem::<f16>([64, 128]).with_layout(tmem_block([64, 64], 2));
    let held = tmem::<f16>([128, 32]).with_layout(tmem_block([64, 16], 1));
    let sums = tmem::<f32>([128, 128]).with_layout(tmem_block([64, 64], 1));
    let done = barrier(1);
    left.store(a.tile([0, 0], [128, 32]).load());
    upper.store(a.tile([0, 0], [64, 32]).load());
    right.store(b.tile([0, 0], [32, 128]).load());
    held.store(a.tile([0, 0], [128, 32]).load());
    tcgen05::mma(left, right, tall).accumulate(false);
    tcgen05::mma(upper, right, wide).accumulate(false);
    tcgen05::mma(upper, right, halves).accumulate(false);
    tcgen05::mma(held, right, sums).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 128]).store(tall.load());
    d.tile([0, 0], [64, 128]).store(wide.load());
    e.tile([0, 0], [64, 128]).store(halves.load());
    f.tile([0, 0], [128, 128]).store(sums.load());
}
