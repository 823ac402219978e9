//! Copies into shared memory whose layout serves reads across the copy's rows, in the plain order and turned: what
//! `cp.async` moves at once stays side by side.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[128, 32] bits
//@ arg turned: f16[32, 128] poison
//@ arg again: f16[64, 64] poison
//@ expect turned: x(j, i)
//@ expect again: x(64 * (i % 2) + j, i / 2)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 2, 4, 8]))]
pub fn read_three_ways<const W: i32>(
    x: Tensor<f16, 2>,
    turned: TensorMut<f16, 2>,
    again: TensorMut<f16, 2>,
) {
    let s = shared::<f16>([128, 32]);
    copy_async(x.tile([0, 0], [128, 32]), s);
    copy_async_wait_all();
    sync();
    turned.tile([0, 0], [32, 128]).store(s.t().load());
    again.tile([0, 0], [64, 64]).store(s.t().load().reshape([64, 64]));
}
