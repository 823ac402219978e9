//! Tiles of 32 and 64 rows copied for several warps, elements of 8, 16 and 32 bits, whose layouts are spelled out.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: u8[32, 16] iota(0, 1)
//@ arg b: u32[32, 16] iota(7, 1)
//@ arg c: f16[64, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg d: u8[32, 16] poison
//@ arg e: u32[32, 16] poison
//@ arg f: f16[64, 32] poison
//@ arg g: f16[64, 32] poison
//@ expect d: a(i, j)
//@ expect e: b(i, j)
//@ expect f: c(i, j)
//@ expect g: c(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn copy_for_all_warps(
    a: Tensor<u8, 2>,
    b: Tensor<u32, 2>,
    c: Tensor<f16, 2>,
    d: TensorMut<u8, 2>,
    e: TensorMut<u32, 2>,
    f: TensorMut<f16, 2>,
    g: TensorMut<f16, 2>,
) {
    let bytes = shared::<u8>([32, 16]).with_layout(layout!(S[(32, 16) : (16, 1)]));
    let words = shared::<u32>([32, 16]);
    let halves = shared::<f16>([64, 32]);
    let bytes_held = tmem::<u8>([32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let words_held = tmem::<u32>([32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let apart = tmem::<f16>([64, 32])
        .with_layout(layout!(S[(64, 32) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]));
    let beside = tmem::<f16>([64, 32]).with_layout(
        layout!(S[(2, 32, 32) : (64 @ TLane, 1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]),
    );
    let done = barrier(1);
    bytes.store(a.tile([0, 0], [32, 16]).load());
    words.store(b.tile([0, 0], [32, 16]).load());
    halves.store(c.tile([0, 0], [64, 32]).load());
    copy_async(bytes, bytes_held);
    copy_async(words, words_held);
    tcgen05::copy(halves, apart);
    tcgen05::copy(halves, beside);
    tcgen05::commit(done);
    done.wait(0);
    d.tile([0, 0], [32, 16]).store(bytes_held.load());
    e.tile([0, 0], [32, 16]).store(words_held.load());
    f.tile([0, 0], [64, 32]).store(apart.load());
    g.tile([0, 0], [64, 32]).store(beside.load());
}
