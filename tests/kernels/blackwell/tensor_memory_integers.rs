//! Integers of 16 bits in tensor memory, two to a column and one each, of which negative ones stay negative.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: i16[128, 8] bits
//@ arg b: u16[128, 8] bits
//@ arg c: i16[128, 8] poison
//@ arg d: u16[128, 8] poison
//@ arg e: i32[128, 8] poison
//@ arg f: u32[128, 8] poison
//@ expect c: a(i, j)
//@ expect d: b(i, j)
//@ expect e: a(i, j)
//@ expect f: b(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1, instances(STRIDE = [1, 2]))]
pub fn tensor_memory_integers<const STRIDE: i32>(
    a: Tensor<i16, 2>,
    b: Tensor<u16, 2>,
    c: TensorMut<i16, 2>,
    d: TensorMut<u16, 2>,
    e: TensorMut<i32, 2>,
    f: TensorMut<u32, 2>,
) {
    let signed = tmem::<i16>([128, 8]).with_layout(tmem_block([128, 8], STRIDE));
    let unsigned = tmem::<u16>([128, 8]).with_layout(tmem_block([128, 8], STRIDE));
    signed.store(a.tile([0, 0], [128, 8]).load());
    unsigned.store(b.tile([0, 0], [128, 8]).load());
    c.tile([0, 0], [128, 8]).store(signed.load());
    d.tile([0, 0], [128, 8]).store(unsigned.load());
    e.tile([0, 0], [128, 8]).store(signed.load().cast::<i32>());
    f.tile([0, 0], [128, 8]).store(unsigned.load().cast::<u32>());
}
