//! Partitions sort by themselves: each meets its own warps only.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[256] uniform(-1, 1)
//@ arg y: i32[256] uniform(-9, 9)
//@ arg sorted: f32[256] poison
//@ arg order: i32[256] poison
//@ arg counts: i32[16] poison
//@ expect counts: sum(n, 0, 256, if y(n) == i { 1 } else { 0 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn parts(
    x: Tensor<f32, 1>,
    y: Tensor<i32, 1>,
    sorted: TensorMut<f32, 1>,
    order: TensorMut<i32, 1>,
    counts: TensorMut<i32, 1>,
) {
    warp_specialize(
        || {
            sorted.tile([0], [256]).store(x.tile([0], [256]).load().sort(0));
        },
        [partition(2).run(|| {
            let y = y.tile([0], [256]).load();
            order.tile([0], [256]).store(y.argsort(0));
            counts.tile([0], [16]).store(y.histogram(16));
        })],
    );
}
