//! One row for each warp, in the first of its 32 rows of tensor memory, copied and stored, of 8, 16 and 32 bits; a part of one; and what
//! a load hands to the other lanes.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: u8[4, 64] iota(0, 1)
//@ arg b: u32[4, 16] iota(7, 1)
//@ arg c: f16[4, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg d: f32[4, 32] iota(3, 1)
//@ arg e: u8[4, 64] poison
//@ arg f: u32[4, 16] poison
//@ arg g: f16[4, 32] poison
//@ arg h: f32[4, 32] poison
//@ arg sums: f32[4] poison
//@ arg all: f32[128, 32] poison
//@ expect e: a(i, j)
//@ expect f: b(i, j) + 1
//@ expect g: c(i, j)
//@ expect h: d(i, (j + 16) % 32)
//@ expect sums: sum(k, 0, 32, d(i, k))
//@ expect all: d(i / 32, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 8, grid = 1)]
pub fn copy_of_a_row_to_each_warp(
    a: Tensor<u8, 2>,
    b: Tensor<u32, 2>,
    c: Tensor<f16, 2>,
    d: Tensor<f32, 2>,
    e: TensorMut<u8, 2>,
    f: TensorMut<u32, 2>,
    g: TensorMut<f16, 2>,
    h: TensorMut<f32, 2>,
    sums: TensorMut<f32, 1>,
    all: TensorMut<f32, 2>,
) {
    let bytes = shared::<u8>([4, 64]);
    let words = shared::<u32>([4, 16]);
    let halves = shared::<f16>([4, 32]);
    let floats = shared::<f32>([4, 32]);
    let of_bytes = tmem::<u8>([4, 64]).with_layout(layout!(S[(4, 64) : (32 @ TLane, 1 @ TCol)]));
    let of_words = tmem::<u32>([4, 16]).with_layout(layout!(S[(4, 16) : (32 @ TLane, 1 @ TCol)]));
    let of_halves = tmem::<f16>([4, 32]).with_layout(layout!(S[(4, 32) : (32 @ TLane, 1 @ TCol)]));
    let of_floats = tmem::<f32>([4, 32]).with_layout(layout!(S[(4, 32) : (32 @ TLane, 1 @ TCol)]));
    let copies = tmem::<f32>([4, 32])
        .with_layout(layout!(S[(4, 32) : (32 @ TLane, 1 @ TCol)] + R[32 : 1 @ TLane]));
    let done = barrier(1);
    bytes.store(a.tile([0, 0], [4, 64]).load());
    words.store(b.tile([0, 0], [4, 16]).load());
    halves.store(c.tile([0, 0], [4, 32]).load());
    floats.store(d.tile([0, 0], [4, 32]).load());
    copy_async(bytes, of_bytes);
    tcgen05::copy(words, of_words);
    tcgen05::copy(halves, of_halves);
    tcgen05::copy(floats, of_floats);
    tcgen05::commit(done);
    done.wait(0);
    of_words.store(of_words.load() + 1);
    e.tile([0, 0], [4, 64]).store(of_bytes.load());
    f.tile([0, 0], [4, 16]).store(of_words.load());
    g.tile([0, 0], [4, 32]).store(of_halves.load());
    h.tile([0, 0], [4, 16]).store(of_floats.tile([0, 16], [4, 16]).load());
    h.tile([0, 16], [4, 16]).store(of_floats.tile([0, 0], [4, 16]).load());
    sums.tile([0], [4]).store(of_floats.load().sum(1));
    copies.store(of_floats.load());
    all.tile([0, 0], [128, 32]).store(copies.view::<f32>([128, 32]).load());
}
