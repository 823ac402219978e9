//! Tiles of 64 rows read and written by the shape of instruction that moves their columns in two halves, as its name asks for it, by four and
//! by eight warps.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f32[64, 16] iota(-100, 1)
//@ arg b: f16[64, 16] iota(7, 1)
//@ arg c: f32[64, 16] poison
//@ arg d: f16[64, 16] poison
//@ expect c: a(i, j) + 2 * a(i, j)
//@ expect d: b(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = WARPS, grid = 1, instances(WARPS = [4, 8]))]
pub fn tensor_memory_halves<const WARPS: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f16, 2>,
) {
    let words = tmem::<f32>([64, 16]);
    let pairs = tmem::<f16>([64, 16]);
    let of_words = tmem_load("16x32bx2", tmem_block([64, 16], 1), WARPS);
    let read = a.tile([0, 0], [64, 16]).load().to_layout(of_words);
    words.store(read);
    pairs.store(b.tile([0, 0], [64, 16]).load().to_layout(of_words));
    c.tile([0, 0], [64, 16]).store((words.load().to_layout(of_words) + read * 2.0).to_layout(of_words));
    d.tile([0, 0], [64, 16]).store(pairs.load().to_layout(of_words));
}
