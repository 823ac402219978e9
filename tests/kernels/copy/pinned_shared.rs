//! Copies into pinned shared memory whose layout exchanges neighbours: fewer bytes at a time, each where it belongs.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[64, 4] bits
//@ arg swizzle: f32[64, 4] poison
//@ arg exchange: f32[64, 4] poison
//@ expect swizzle: x(i, j)
//@ expect exchange: x(i, j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn pinned_shared<const W: i32>(
    x: Tensor<f32, 2>,
    swizzle: TensorMut<f32, 2>,
    exchange: TensorMut<f32, 2>,
) {
    let a = shared::<f32>([64, 4]).with_layout(swizzled(1, 32, 2, [1, 0]));
    let b = shared::<f32>([64, 4]).with_layout(shared_linear(
        [[0, 2], [0, 1], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]],
        [64, 4],
    ));
    copy_async(x.tile([0, 0], [64, 4]), a);
    copy_async(x.tile([0, 0], [64, 4]), b);
    copy_async_wait_all();
    sync();
    swizzle.tile([0, 0], [64, 4]).store(a.load());
    exchange.tile([0, 0], [64, 4]).store(b.load());
}
