//! Filters along one axis and along three, one tap and several, elements of four bytes and of one; wide tiles, narrow swizzles and none, and a
//! prefetch that changes nothing.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[2, 37, 128] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: u8[2, 4, 4, 5, 32] list(1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
//@ arg c: f16[1, 1, 4, 16] list(1, -2, 3, 5, 2, -1, 4)
//@ arg along: f32[32, 128] poison
//@ arg volume: u8[64, 32] poison
//@ arg small: f16[4, 16] poison
//@ expect along: if (i + 5) / 8 < 2 { a((i + 5) / 8, (i + 5) % 8 * 5, j) } else { 0 }
//@ expect volume: if i < 48 && i % 3 < 2 { b(i / 24, i / 12 % 2 * 2 + 1, i / 3 % 4, i % 3 * 2 + 1, j) } else { 0 }
//@ expect small: c(0, 0, i, j)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1)]
pub fn filter_ranks(
    #[block(32, 1, 128, filter = [3], stride = [5], padding = [2], dilation = [2])] a: TensorMap<f32, 3>,
    #[block(64, 1, 1, 1, 32, filter = [2, 1, 3], stride = [2, 1, 2], padding = [0, 0, 1])] b: TensorMap<u8, 5>,
    #[block(4, 1, 1, 16, filter = [1, 1])] c: TensorMap<f16, 4>,
    along: TensorMut<f32, 2>,
    volume: TensorMut<u8, 2>,
    small: TensorMut<f16, 2>,
) {
    let (x, y, z) = (shared::<f32>([32, 128]), shared::<u8>([64, 32]), shared::<f16>([4, 16]));
    let full = barrier(1);
    full.expect(a.block_bytes() + b.block_bytes() + c.block_bytes());
    tma::prefetch(a, [5, 1, 0]);
    tma::load(a, [5, 1, 0], full, x);
    copy_async(b.at([0, 1, 0, 2, 0]), y).on(full);
    tma::load(c, [0, 0, 0, 0], full, z);
    full.wait(0);
    along.tile([0, 0], [32, 128]).store(x.load());
    volume.tile([0, 0], [64, 32]).store(y.load());
    small.tile([0, 0], [4, 16]).store(z.load());
}
