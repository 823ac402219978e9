//! The memory of a tile with other extents: read and written through views of it, in layouts that are chosen and pinned.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64, 64] bits
//@ arg n: i32 scalar 2
//@ arg wide: T[32, 128] poison
//@ arg flat: T[4096] poison
//@ arg group: T[16, 64] poison
//@ arg turned: T[128, 32] poison
//@ arg back: T[64, 64] poison
//@ arg thin: T[1, 4096] poison
//@ expect wide: x((i * 128 + j) / 64, (i * 128 + j) % 64)
//@ expect flat: x(i / 64, i % 64)
//@ expect group: x(32 + i, j)
//@ expect turned: x((j * 128 + i) / 64, (j * 128 + i) % 64)
//@ expect back: x((j * 64 + i) / 64, (j * 64 + i) % 64)
//@ expect thin: x(j % 64, j / 64)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances(T = [i8, f16, f32, f64], W = [1, 4], PINNED = [0, 1, 2]))]
pub fn reshape<T: Scalar, const W: i32, const PINNED: i32>(
    x: Tensor<T, 2>,
    n: i32,
    wide: TensorMut<T, 2>,
    flat: TensorMut<T, 1>,
    group: TensorMut<T, 2>,
    turned: TensorMut<T, 2>,
    back: TensorMut<T, 2>,
    thin: TensorMut<T, 2>,
) {
    fn allocate<T: Scalar, const PINNED: i32>() -> Shared<T> {
        let tile = shared::<T>([64, 64]);
        if PINNED == 1 {
            tile.with_layout(swizzled(4, 2, 8, [1, 0]))
        } else if PINNED == 2 {
            tile.with_layout(swizzled(1, 1, 16, [0, 1]))
        } else {
            tile
        }
    }
    let s = allocate::<T, PINNED>();
    s.store(x.tile([0, 0], [64, 64]).load());
    sync();
    wide.tile([0, 0], [32, 128]).store(s.reshape([32, 128]).load());
    flat.tile([0], [4096]).store(s.reshape([4096]).load());
    group.tile([0, 0], [16, 64]).store(s.reshape([4, 16, 64])[n].load());
    turned.tile([0, 0], [128, 32]).store(s.reshape([32, 128]).t().load());
    let other = allocate::<T, PINNED>();
    other.reshape([4096]).store(x.tile([0, 0], [64, 64]).load().reshape([4096]));
    sync();
    back.tile([0, 0], [64, 64]).store(other.t().load());
    thin.tile([0, 0], [1, 4096]).store(other.t().reshape([1, 4096]).load());
}
