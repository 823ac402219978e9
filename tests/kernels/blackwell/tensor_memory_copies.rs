//! A tile of 32 rows of which each of the four warps has a copy, in the notation of extents and strides: bytes and words of 32 bits,
//! several tiles, and rows that are copied twice.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: u8[64, 16] iota(0, 1)
//@ arg b: i32[32, 4] iota(-50, 3)
//@ arg c: f16[64, 8] iota(-9, 0.5)
//@ arg d: u8[64, 16] poison
//@ arg e: i32[32, 4] poison
//@ arg f: f16[64, 8] poison
//@ expect d: a(i, j)
//@ expect e: b(i, j)
//@ expect f: c(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn tensor_memory_copies(
    a: Tensor<u8, 2>,
    b: Tensor<i32, 2>,
    c: Tensor<f16, 2>,
    d: TensorMut<u8, 2>,
    e: TensorMut<i32, 2>,
    f: TensorMut<f16, 2>,
) {
    let bytes = tmem::<u8>([2, 32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let words = tmem::<i32>([32, 4])
        .with_layout(layout!(S[(32, 4) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let twice = tmem::<f16>([64, 8])
        .with_layout(layout!(S[(64, 8) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]));
    for i in 0..2 {
        bytes[i].store(a.tile([32 * i, 0], [32, 16]).load());
    }
    words.store(b.tile([0, 0], [32, 4]).load());
    twice.store(c.tile([0, 0], [64, 8]).load());
    for i in 0..2 {
        d.tile([32 * i, 0], [32, 16]).store(bytes[i].load());
    }
    e.tile([0, 0], [32, 4]).store(words.load());
    f.tile([0, 0], [64, 8]).store(twice.load());
}
