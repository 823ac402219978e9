//! Tiles of 32 bits copied from shared to tensor memory in each swizzle, of one and of two blocks of rows, and to one of several.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f32[128, 64] iota(-100, 3)
//@ arg b: f32[256, 64] iota(7, 1)
//@ arg c: i32[128, 32] iota(-5, 7)
//@ arg d: f32[128, 64] poison
//@ arg e: f32[256, 64] poison
//@ arg f: i32[128, 32] poison
//@ expect d: a(i, j)
//@ expect e: b(i, j)
//@ expect f: c(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn copy_to_tensor_memory(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<i32, 2>,
    d: TensorMut<f32, 2>,
    e: TensorMut<f32, 2>,
    f: TensorMut<i32, 2>,
) {
    let wide = shared::<f32>([128, 64]);
    let tall = shared::<f32>([256, 64]).with_layout(swizzle(64));
    let many = shared::<i32>([2, 128, 32]).with_layout(swizzle(32));
    let wide_held = tmem::<f32>([128, 64]).with_layout(tmem_block([128, 4], 1));
    let tall_held = tmem::<f32>([256, 64]).with_layout(tmem_block([128, 16], 1));
    let many_held = tmem::<i32>([2, 128, 32]);
    let done = barrier(1);
    wide.store(a.tile([0, 0], [128, 64]).load());
    tall.store(b.tile([0, 0], [256, 64]).load());
    many[1].store(c.tile([0, 0], [128, 32]).load());
    tcgen05::copy(wide, wide_held);
    copy_async(tall, tall_held);
    tcgen05::copy(many[1], many_held[1]);
    tcgen05::commit(done);
    done.wait(0);
    d.tile([0, 0], [128, 64]).store(wide_held.load());
    e.tile([0, 0], [256, 64]).store(tall_held.load());
    f.tile([0, 0], [128, 32]).store(many_held[1].load());
}
