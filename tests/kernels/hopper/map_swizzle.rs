//! The swizzle that a map declares is that of the tiles, and so is none; what is read into the cache beside a row does not matter.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[24, 136] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: f16[24, 136] poison
//@ arg c: f16[24, 136] poison
//@ expect b: a(i, j)
//@ expect c: a(i, j)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = [3, 3])]
pub fn map_swizzle(
    #[block(8, 64, swizzle = 64, l2_promotion = 0)] a: TensorMap<f16, 2>,
    #[block(8, 64, swizzle = 0, fill = zero)] b: TensorMapMut<f16, 2>,
    #[block(8, 64, swizzle = 64, l2_promotion = 128)] c: TensorMapMut<f16, 2>,
) {
    let at = [block_id(0) * 8, block_id(1) * 64];
    let (staged, plain) = (shared::<f16>([8, 64]), shared::<f16>([8, 64]));
    let bar = barrier(1);
    tma::prefetch(a, at).evict_first();
    bar.expect(a.block_bytes());
    tma::load(a, at, bar, staged);
    bar.wait(0);
    tma::store(c, at, staged);
    plain.store(staged.load());
    fence_async();
    tma::store(b, at, plain);
    tma::store_wait(0);
}
