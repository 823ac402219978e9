//! Tiles, and parts of tiles, that are narrower than most instructions, written from registers in which no instruction has them.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[128, 2] iota(-100, 1)
//@ arg b: f32[64, 2] iota(-100, 1)
//@ arg c: f16[128, 2] poison
//@ arg d: f32[64, 4] poison
//@ expect c: a((128 * j + i) / 2, (128 * j + i) % 2)
//@ expect d: if j < 2 { 7 } else { b((64 * (j - 2) + i) / 2, i % 2) }
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn tensor_memory_narrow(
    a: Tensor<f16, 2>,
    b: Tensor<f32, 2>,
    c: TensorMut<f16, 2>,
    d: TensorMut<f32, 2>,
) {
    let (word, words) = (tmem::<f16>([128, 2]), tmem::<f32>([64, 4]));
    word.store(a.tile([0, 0], [128, 2]).load().reshape([2, 128]).t());
    c.tile([0, 0], [128, 2]).store(word.load());
    words.store(full([64, 4], 7.0));
    let turned = b.tile([0, 0], [64, 2]).load().reshape([2, 64]).t();
    words.tile([0, 2], [64, 2]).store(turned);
    d.tile([0, 0], [64, 4]).store(words.load());
}
