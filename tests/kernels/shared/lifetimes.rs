//! More shared memory than a block has, of which no part is in use at the same time as all others: allocations share bytes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[128, 128] bits
//@ arg out: f32[128, 128] poison
//@ expect out: x(i, j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = 1)]
pub fn lifetimes(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let first = shared::<f32>([128, 128]);
    let second = shared::<f32>([128, 128]);
    let third = shared::<f32>([128, 128]);
    copy_async(x.tile([0, 0], [128, 128]), first);
    copy_async_wait_all();
    sync();
    let turned = first.t().load();
    second.store(turned);
    sync();
    let straight = second.t().load();
    sync();
    third.store(straight);
    sync();
    out.tile([0, 0], [128, 128]).store(third.t().load().t());
}
