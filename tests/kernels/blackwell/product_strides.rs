//! Accumulators and a left operand whose layouts are spelled as extents and strides: they are the blocks of products.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[256, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[32, 128] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[256, 64] poison
//@ arg d: f32[64, 128] poison
//@ arg e: f32[128, 64] poison
//@ expect c: sum(n, 0, 32, a(i, n) * b(n, j)) + 3
//@ expect d: sum(n, 0, 32, a(i, n) * b(n, j)) - 2
//@ expect e: sum(n, 0, 32, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_strides(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
    e: TensorMut<f32, 2>,
) {
    let (some, many) = (shared::<f16>([64, 32]), shared::<f16>([256, 32]));
    let (right, wide) = (shared::<f16>([32, 64]), shared::<f16>([32, 128]));
    let tall = tmem::<f32>([256, 64])
        .with_layout(layout!(S[(2, 128, 2, 32) : (32 @ TCol, 1 @ TLane, 64 @ TCol, 1 @ TCol)]));
    let few = tmem::<f32>([64, 128])
        .with_layout(layout!(S[(4, 16, 2, 64) : (32 @ TLane, 1 @ TLane, 16 @ TLane, 1 @ TCol)]));
    let left = tmem::<f16>([128, 32]).with_layout(layout!(S[(128, 32) : (1 @ TLane, 1 @ TCol)]));
    let sums = tmem::<f32>([128, 64]).with_layout(layout!(S[(128, 64) : (1 @ TLane, 1 @ TCol)]));
    let done = barrier(1);
    some.store(a.tile([0, 0], [64, 32]).load());
    many.store(a.tile([0, 0], [256, 32]).load());
    right.store(b.tile([0, 0], [32, 64]).load());
    wide.store(b.tile([0, 0], [32, 128]).load());
    left.store(a.tile([0, 0], [128, 32]).load());
    tall.store(full([256, 64], 3.0));
    few.store(full([64, 128], -2.0));
    tcgen05::mma(many, right, tall);
    tcgen05::mma(some, wide, few);
    tcgen05::mma(left, right, sums).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [256, 64]).store(tall.load());
    d.tile([0, 0], [64, 128]).store(few.load());
    e.tile([0, 0], [128, 64]).store(sums.load());
}
