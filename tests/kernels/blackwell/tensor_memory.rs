//! Tiles through tensor memory, of 32 and 16 bits, of 128, 64 and 256 rows, and one of several.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f32[128, 64] iota(-100, 3)
//@ arg b: f32[64, 32] iota(7, 1)
//@ arg c: f16[128, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg d: f32[256, 16] iota(0, 2)
//@ arg e: f32[128, 64] poison
//@ arg f: f32[64, 32] poison
//@ arg g: f16[128, 32] poison
//@ arg h: f32[256, 16] poison
//@ expect e: a(i, j) + a(i, j)
//@ expect f: b(i, j)
//@ expect g: c(i, j)
//@ expect h: d(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn tensor_memory(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f16, 2>,
    d: Tensor<f32, 2>,
    e: TensorMut<f32, 2>,
    f: TensorMut<f32, 2>,
    g: TensorMut<f16, 2>,
    h: TensorMut<f32, 2>,
) {
    let held = tmem::<f32>([2, 128, 64]);
    let narrow = tmem::<f32>([64, 32]);
    let halves = tmem::<f16>([128, 32]);
    let tall = tmem::<f32>([256, 16]).with_layout(tmem_block([128, 8], 1));
    let x = a.tile([0, 0], [128, 64]).load();
    held[1].store(x);
    held[0].store(x + x);
    narrow.store(b.tile([0, 0], [64, 32]).load());
    halves.store(c.tile([0, 0], [128, 32]).load());
    tall.store(d.tile([0, 0], [256, 16]).load());
    for i in 0..2 {
        let y = held[i].load();
        e.tile([0, 0], [128, 64]).store(select(y.eq(x), x + x, y));
    }
    f.tile([0, 0], [64, 32]).store(narrow.load());
    g.tile([0, 0], [128, 32]).store(halves.load());
    h.tile([0, 0], [256, 16]).store(tall.load());
}
