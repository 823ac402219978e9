//! Parts of tiles of shared memory as operands: rows and columns of both, one of which begins where only the kernel knows; rows that are contiguous
//! along `n`; columns of a transpose; a tile of a ring; and words read as bf16.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f16[256, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 128] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg e: f16[128, 64] list(2, 0, -1, 1, 3)
//@ arg x: u32[128, 64] list(0x40003f80, 0x3f80bf80, 0x00004040, 0xbf004000, 0x3f803f80)
//@ arg half: i32 scalar 1
//@ arg c: f32[128, 32] poison
//@ arg d: f32[128, 32] poison
//@ arg f: f32[128, 128] poison
//@ expect c: sum(k, 0, 64, a(128 + i, 64 + k) * b(32 + j, 64 + k))
//@ expect d: sum(k, 0, 64, a(i, k) * e(64 + k, 32 + j)) + sum(k, 0, 32, a(128 + i, 32 + k) * b(j, 96 + k))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_of_parts_of_shared(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    e: Tensor<f16, 2>,
    x: Tensor<u32, 2>,
    half: i32,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
    f: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f16>([256, 128]), shared::<f16>([2, 64, 128]));
    let (along, words) = (shared::<f16>([128, 64]), shared::<u32>([128, 64]));
    let (acc, more) = (tmem::<f32>([128, 32]), tmem::<f32>([128, 32]));
    let square = tmem::<f32>([128, 128]);
    let done = barrier(1);
    left.store(a.tile([0, 0], [256, 128]).load());
    right[1].store(b.tile([0, 0], [64, 128]).load());
    along.store(e.tile([0, 0], [128, 64]).load());
    words.store(x.tile([0, 0], [128, 64]).load());
    let lower = left.tile([128 * half, 64 * half], [128, 64]);
    tcgen05::mma(lower, right[half].t().tile([64, 32], [64, 32]), acc).accumulate(false);
    tcgen05::mma(left.tile([0, 0], [128, 64]), along.tile([64, 32 * half], [64, 32]), more)
        .accumulate(false);
    tcgen05::mma(left.tile([128, 32], [128, 32]), right[1].tile([0, 96], [32, 32]).t(), more);
    let halves = words.view::<bf16>();
    tcgen05::mma(halves, halves.t(), square).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 32]).store(acc.load());
    d.tile([0, 0], [128, 32]).store(more.load());
    f.tile([0, 0], [128, 128]).store(square.load());
}
