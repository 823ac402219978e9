//! Windows that are brought into the cache, of every rank, whole, ragged, outside and transposed: nothing changes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[60, 56] bits
//@ arg y: T[60, 56] poison
//@ arg few: i32[3] list(4, 5, 6)
//@ arg deep: f32[2, 3, 4, 2, 40] bits
//@ expect y: x(i, j)
//@ expect few: i + 5
//@ expect deep: deep(i, j, k, l, m)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a, sm_100a], warps = 4, grid = 1, instances(T = [u8, f16, f32, f64]))]
pub fn prefetch<T: Number>(x: Tensor<T, 2>, y: TensorMut<T, 2>, few: TensorMut<i32, 1>, deep: TensorMut<f32, 5>) {
    x.tile([0, 0], [64, 64]).prefetch();
    x.tile([-8, 40], [16, 128]).evict_last().prefetch();
    x.tile([1000, 3], [1, 1]).prefetch();
    y.tile([0, 0], [64, 64]).prefetch();
    few.tile([0], [4]).prefetch();
    deep.tile([0, 0, 0, 0, 0], [2, 4, 4, 2, 64]).evict_last().prefetch();
    for i in 0..4 {
        x.slice((i * 16..60, 3..x.dim(1))).tile([0, 0], [16, 64]).prefetch();
    }
    y.tile([0, 0], [64, 64]).store(x.tile([0, 0], [64, 64]).load());
    let window = few.tile([0], [4]);
    window.store(window.load() + 1);
}
