//! Shared memory of four and five axes: rings of tiles of rank 3, indexed axis by axis, copied to, transposed and read by index.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[3, 4, 8, 16] bits
//@ arg n: i32 scalar 2
//@ arg whole: T[4, 8, 16] poison
//@ arg matrix: T[8, 16] poison
//@ arg row: T[16] poison
//@ arg merged: T[32, 16] poison
//@ arg named: T[64] poison
//@ arg deep: T[2, 4, 8, 16] poison
//@ expect whole: x(2, i, j, k)
//@ expect matrix: x(1, 3, i, j)
//@ expect row: x(0, 2, 5, i)
//@ expect merged: x(2, i / 8, i % 8, j)
//@ expect named: x(1, i % 4, i / 8, i % 16)
//@ expect deep: x(1 - i, j, k, l)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(T = [u8, f16, i32], W = [1, 4]))]
pub fn rank<T: Scalar, const W: i32>(
    x: Tensor<T, 4>,
    n: i32,
    whole: TensorMut<T, 3>,
    matrix: TensorMut<T, 2>,
    row: TensorMut<T, 1>,
    merged: TensorMut<T, 2>,
    named: TensorMut<T, 1>,
    deep: TensorMut<T, 4>,
) {
    let s = shared::<T>([3, 4, 8, 16]);
    copy_async(x.tile([0, 0, 0, 0], [1, 4, 8, 16]), s[0]);
    copy_async_wait_all();
    s[n - 1].store(x.tile([1, 0, 0, 0], [1, 4, 8, 16]).load().reshape([4, 8, 16]));
    for i in 0..4 {
        s[n][i].store(x.tile([2, i, 0, 0], [1, 1, 8, 16]).load().reshape([8, 16]));
    }
    sync();
    whole.tile([0, 0, 0], [4, 8, 16]).store(s[n].load());
    matrix.tile([0, 0], [8, 16]).store(s[1][n + 1].load());
    row.tile([0], [16]).store(s[0][n][5].load());
    merged.tile([0, 0], [32, 16]).store(s[n].reshape([32, 16]).load());
    let at = arange(0, 64);
    named.tile([0], [64]).store(s[1].gather([at & 3, at / 8, at & 15]));
    let five = shared::<T>([2, 1, 4, 8, 16]);
    for i in 0..2 {
        five[i][0].store(s[1 - i].load());
    }
    sync();
    for i in 0..2 {
        deep.tile([i, 0, 0, 0], [1, 4, 8, 16]).store(five[i].load());
    }
}
