//! Sums of 64 rows, of 256 rows, of more columns than one instruction has, in `f16`, on top of what is there; and A from
//! tensor memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[256, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[32, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, 64] poison
//@ arg d: f32[256, 64] poison
//@ arg e: f16[128, 64] poison
//@ arg f: f32[128, 64] poison
//@ expect c: sum(n, 0, 32, a(i, n) * b(n, j))
//@ expect d: sum(n, 0, 32, a(i, n) * b(n, j)) + 3
//@ expect e: sum(n, 0, 32, a(i, n) * b(n, j)) + 2
//@ expect f: sum(n, 0, 32, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_extents(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
    e: TensorMut<f16, 2>,
    f: TensorMut<f32, 2>,
) {
    let (few, many) = (shared::<f16>([64, 32]), shared::<f16>([256, 32]));
    let (some, right) = (shared::<f16>([128, 32]), shared::<f16>([32, 64]));
    let narrow = tmem::<f32>([64, 64]);
    let tall = tmem::<f32>([256, 64]).with_layout(tmem_block([128, 32], 1));
    let halves = tmem::<f16>([128, 64]);
    let left = tmem::<f16>([128, 32]);
    let sums = tmem::<f32>([128, 64]);
    let done = barrier(1);
    few.store(a.tile([0, 0], [64, 32]).load());
    some.store(a.tile([0, 0], [128, 32]).load());
    many.store(a.tile([0, 0], [256, 32]).load());
    right.store(b.tile([0, 0], [32, 64]).load());
    left.store(a.tile([0, 0], [128, 32]).load());
    tall.store(full([256, 64], 3.0));
    halves.store(full([128, 64], f16::of(2.0)));
    tcgen05::mma(few, right, narrow).accumulate(false);
    tcgen05::mma(many, right, tall);
    tcgen05::mma(some, right, halves);
    tcgen05::mma(left, right, sums).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [64, 64]).store(narrow.load());
    d.tile([0, 0], [256, 64]).store(tall.load());
    e.tile([0, 0], [128, 64]).store(halves.load());
    f.tile([0, 0], [128, 64]).store(sums.load());
}
