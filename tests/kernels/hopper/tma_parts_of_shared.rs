//! Parts of tiles of shared memory that TMA copies fill and read: 128 bytes of columns of a swizzled tile, in two loads, one of which goes to a place
//! that only the kernel knows; the same of words that are written as f16; rows of such columns; and rows of a tile of a ring.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[128, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 128] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg upper: i32 scalar 1
//@ arg c: f32[128, 64] poison
//@ arg d: f32[64, 64] poison
//@ arg e: f16[64, 64] poison
//@ expect c: sum(k, 0, 128, a(i, k) * b(j, k))
//@ expect d: sum(k, 0, 128, a(64 + i, k) * b(j, k))
//@ expect e: a(i, 64 + j)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn tma_parts_of_shared(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(64, 64)] b: TensorMap<f16, 2>,
    upper: i32,
    c: TensorMut<f32, 2>,
    #[block(64, 32)] d: TensorMapMut<f32, 2>,
    #[block(32, 64)] e: TensorMapMut<f16, 2>,
) {
    let (left, right) = (shared::<f16>([128, 128]), shared::<f16>([2, 64, 64]));
    let words = shared::<u32>([64, 64]);
    let sums = shared::<f32>([128, 64]);
    let full = barrier(1);
    full.expect(2 * a.block_bytes() + 2 * b.block_bytes());
    tma::load(a, [0, 0], full, left.tile([0, 0], [128, 64]));
    tma::load(a, [0, 64], full, left.tile([0, 64 * upper], [128, 64]));
    tma::load(b, [0, 0], full, words.view::<f16>().tile([0, 0], [64, 64]));
    tma::load(b, [0, 64], full, words.view::<f16>().tile([0, 64 * upper], [64, 64]));
    full.wait(0);
    let whole = words.view::<f16>();
    let acc = wgmma::wait(0, wgmma::mma(left, whole.t(), zeros::<f32>([128, 64])));
    c.tile([0, 0], [128, 64]).store(acc);
    sums.store(acc);
    right[1].store(left.tile([0, 64], [64, 64]).load());
    fence_async();
    for half in 0..2 {
        tma::store(d, [0, 32 * half], sums.tile([64, 32 * half], [64, 32]));
    }
    tma::store(e, [0, 0], right[upper].tile([0, 0], [32, 64]));
    tma::store(e, [32, 0], right[1].tile([32, 0], [32, 64]));
    tma::store_wait(0);
}
