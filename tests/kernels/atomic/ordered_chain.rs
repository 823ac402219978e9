//! Each block waits until the one before it has published its part, and goes on from there: stores that release, loads that acquire.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[6, 200] iota(1, 1)
//@ arg sums: f32[6, 200] poison
//@ arg ready: R[6] fill(0)
//@ expect ready: 1
//@ expect sums: sum(n, 0, i + 1, x(n, j))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = x.dim(0), instances(R = [i32, f32, u64, f64], W = [1, 4]))]
pub fn ordered_chain<R: Number, const W: i32>(
    x: Tensor<f32, 2>,
    sums: TensorMut<f32, 2>,
    ready: TensorMut<R, 1>,
) {
    let me = block_id(0);
    let mut sum = x.tile([me, 0], [1, 256]).load();
    if me > 0 {
        while ready.tile([me - 1], [1]).acquire().atomic_load().item() == 0.cast::<R>() {}
        sum += sums.tile([me - 1, 0], [1, 256]).load();
    }
    sums.tile([me, 0], [1, 256]).store(sum);
    ready.tile([me], [1]).release().atomic_store(full([1], 1.cast::<R>()));
}
