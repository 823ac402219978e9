//! What else takes views: copies in groups, products by warps and by warpgroups of what is loaded, indices, atomics, and bulk copies of parts that are
//! contiguous.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[32, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 32] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg n: i32 scalar 1
//@ arg product: f32[32, 32] poison
//@ arg parts: f32[16, 16] poison
//@ arg named: f16[64] poison
//@ arg counts: i32[16] poison
//@ expect product: sum(k, 0, 64, a(i, k) * b(k, j))
//@ expect parts: sum(k, 0, 32, a(16 + i, 32 + k) * b(32 + k, 16 + j))
//@ expect named: a(16 + i / 4, 32 + 5 * (i % 4))
//@ expect counts: if i < 8 { 0 } else { 4 }
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(W = [1, 4]))]
pub fn view_copies<const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    n: i32,
    product: TensorMut<f32, 2>,
    parts: TensorMut<f32, 2>,
    named: TensorMut<f16, 1>,
    counts: TensorMut<i32, 1>,
) {
    // One pool for both operands and the counts.
    let pool = shared::<f16>([8192]);
    let sa = pool.tile([0], [2048]).reshape([32, 64]);
    let sb = pool.tile([2048], [2048]).reshape([64, 32]);
    let bins = pool.tile([n * 4096], [32]).view::<i32>();
    for i in 0..2 {
        copy_async(a.tile([i * 16, 0], [16, 64]), sa.tile([i * 16, 0], [16, 64]));
    }
    copy_async(b.tile([0, 0], [64, 32]), sb);
    copy_async_wait_all();
    bins.store(zeros([16]));
    sync();
    bins.atomic_add(8 + (arange(0, 32) & 7), full([32], 1));
    product.tile([0, 0], [32, 32]).store(dot(sa, sb, zeros::<f32>([32, 32])));
    let (left, right) = (sa.tile([16, n * 32], [16, 32]), sb.tile([n * 32, 16], [32, 16]));
    parts.tile([0, 0], [16, 16]).store(dot(left, right, zeros::<f32>([16, 16])));
    let at = arange(0, 64);
    named.tile([0], [64]).store(left.gather([at / 4, (at & 3) * 5]));
    sync();
    counts.tile([0], [16]).store(bins.load());
}
