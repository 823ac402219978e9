//! Parts of shared memory that begin at constants and at numbers that are known when the kernel runs; parts of parts, of views and of
//! rings.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64, 64] bits
//@ arg n: i32 scalar 3
//@ arg corner: T[16, 32] poison
//@ arg chosen: T[16, 16] poison
//@ arg within: T[8, 4] poison
//@ arg column: T[64, 1] poison
//@ arg one: T[1, 1] poison
//@ arg turned: T[16, 8] poison
//@ arg patched: T[64, 64] poison
//@ arg buffer: T[16, 16] poison
//@ expect corner: x(16 + i, 32 + j)
//@ expect chosen: x(48 + i, 16 + j)
//@ expect within: x(48 + 8 + i, 16 + 12 + j)
//@ expect column: x(i, 3)
//@ expect one: x(63, 63)
//@ expect turned: x(8 + j, 48 + i)
//@ expect patched: if i >= 32 && i < 48 && j >= 48 { x(i - 32, j - 48) } else { x(i, j) }
//@ expect buffer: x(48 + i, 48 + j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances(T = [u8, bf16, i32, f64], W = [1, 4], PINNED = [0, 1, 2]))]
pub fn tile<T: Scalar, const W: i32, const PINNED: i32>(
    x: Tensor<T, 2>,
    n: i32,
    corner: TensorMut<T, 2>,
    chosen: TensorMut<T, 2>,
    within: TensorMut<T, 2>,
    column: TensorMut<T, 2>,
    one: TensorMut<T, 2>,
    turned: TensorMut<T, 2>,
    patched: TensorMut<T, 2>,
    buffer: TensorMut<T, 2>,
) {
    let tile = shared::<T>([64, 64]);
    let s = if PINNED == 1 {
        tile.with_layout(swizzled(2, 1, 16, [1, 0]))
    } else if PINNED == 2 {
        tile.with_layout(swizzled(4, 1, 8, [0, 1]))
    } else {
        tile
    };
    s.store(x.tile([0, 0], [64, 64]).load());
    sync();
    corner.tile([0, 0], [16, 32]).store(s.tile([16, 32], [16, 32]).load());
    let part = s.tile([n * 16, (n - 2) * 16], [16, 16]);
    chosen.tile([0, 0], [16, 16]).store(part.load());
    within.tile([0, 0], [8, 4]).store(part.tile([(n - 2) * 8, n * 4], [8, 4]).load());
    column.tile([0, 0], [64, 1]).store(s.tile([0, n], [64, 1]).load());
    one.tile([0, 0], [1, 1]).store(s.tile([63, 63], [1, 1]).load());
    turned.tile([0, 0], [16, 8]).store(s.tile([8, n * 16], [8, 16]).t().load());
    sync();
    s.tile([32, n * 16], [16, 16]).store(s.tile([0, 0], [16, 16]).load());
    sync();
    patched.tile([0, 0], [64, 64]).store(s.load());
    let ring = shared::<T>([3, 16, 64]);
    for i in 0..3 {
        ring[i].store(x.tile([16 + i * 16, 0], [16, 64]).load());
    }
    sync();
    buffer.tile([0, 0], [16, 16]).store(ring.tile([0, 0, n * 16], [3, 16, 16])[n - 1].load());
}
