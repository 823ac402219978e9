//! Elements of 8 bits through tensor memory: four to a word, of 128 and 64 rows, by four and by eight warps, and one to a word.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: u8[128, 32] iota(0, 3)
//@ arg b: i8[64, 32] iota(-100, 7)
//@ arg c: e4m3[128, 16] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg d: u8[128, 32] poison
//@ arg e: i8[64, 32] poison
//@ arg f: e4m3[128, 16] poison
//@ expect d: a(i, j)
//@ expect e: b(i, j)
//@ expect f: c(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = WARPS, grid = 1, instances(WARPS = [4, 8]))]
pub fn tensor_memory_bytes<const WARPS: i32>(
    a: Tensor<u8, 2>,
    b: Tensor<i8, 2>,
    c: Tensor<e4m3, 2>,
    d: TensorMut<u8, 2>,
    e: TensorMut<i8, 2>,
    f: TensorMut<e4m3, 2>,
) {
    let wide = tmem::<u8>([128, 32]);
    let narrow = tmem::<i8>([64, 32]);
    let alone = tmem::<e4m3>([128, 16]).with_layout(tmem_block([128, 16], 4));
    wide.store(a.tile([0, 0], [128, 32]).load());
    narrow.store(b.tile([0, 0], [64, 32]).load());
    alone.store(c.tile([0, 0], [128, 16]).load());
    d.tile([0, 0], [128, 32]).store(wide.load());
    e.tile([0, 0], [64, 32]).store(narrow.load());
    f.tile([0, 0], [128, 16]).store(alone.load());
}
