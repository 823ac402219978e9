//! One tile by way of shared memory, in and out by tensor map.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[8, 256] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[8, 256] poison
//@ arg c: f16[8, 256] poison
//@ expect b: a(i, j)
//@ expect c: a(i, j)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 1, grid = 1)]
pub fn tma_copy(
    #[block(8, 256)] a: TensorMap<f16, 2>,
    b: TensorMut<f16, 2>,
    #[block(8, 256)] c: TensorMapMut<f16, 2>,
) {
    let staged = shared::<f16>([8, 256]).with_layout(swizzle(128));
    let bar = barrier(1);
    bar.expect(staged.bytes());
    tma::load(a, [0, 0], bar, staged);
    bar.wait(0);
    let tile = staged.load();
    b.tile([0, 0], [8, 256]).store(tile);
    let out = shared::<f16>([8, 256]);
    out.store(tile);
    fence_async();
    tma::store(c, [0, 0], out);
    tma::store_wait(0);
}
