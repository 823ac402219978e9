//! What a copy for all four warps leaves in the rows of each of them: 128 rows of tensor memory hold 32 rows four times, of bytes and of words.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: u8[32, 16] iota(0, 1)
//@ arg b: u32[32, 32] iota(7, 1)
//@ arg c: u8[128, 16] poison
//@ arg d: u32[128, 32] poison
//@ expect c: a(i % 32, j)
//@ expect d: b(i % 32, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn copies_of_each_warp(
    a: Tensor<u8, 2>,
    b: Tensor<u32, 2>,
    c: TensorMut<u8, 2>,
    d: TensorMut<u32, 2>,
) {
    let (bytes, words) = (shared::<u8>([32, 16]), shared::<u32>([32, 32]));
    let of_bytes = tmem::<u8>([32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let of_words = tmem::<u32>([32, 32])
        .with_layout(layout!(S[(32, 32) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let done = barrier(1);
    bytes.store(a.tile([0, 0], [32, 16]).load());
    words.store(b.tile([0, 0], [32, 32]).load());
    tcgen05::copy(bytes, of_bytes);
    tcgen05::copy(words, of_words);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 16]).store(of_bytes.view::<u8>([128, 16]).load());
    d.tile([0, 0], [128, 32]).store(of_words.view::<u32>([128, 32]).load());
}
