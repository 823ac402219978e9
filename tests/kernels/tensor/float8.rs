//! FP8 numbers are moved as they are: by tiles, through shared memory, by asynchronous copies, transposed, chosen, joined;
//! also where nothing converts them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[32, 64] uniform(-20, 20)
//@ arg y: T[64, 32] uniform(-0.1, 0.1)
//@ arg mask: bool[32, 64] list(true, false, false, true, true)
//@ arg one: T scalar 1.75
//@ arg moved: T[32, 64] poison
//@ arg turned: T[64, 32] poison
//@ arg chosen: T[32, 64] poison
//@ arg joined: T[32, 64, 2] poison
//@ arg copied: T[64, 32] poison
//@ arg constant: T[32, 64] poison
//@ case: numbers
//@ expect moved: x(i, j)
//@ expect turned: x(j, i)
//@ expect chosen: if mask(i, j) { x(i, j) } else { y(j, i) }
//@ expect joined: if k == 0 { x(i, j) } else { one }
//@ expect copied: y(i, j)
//@ expect constant: if mask(i, j) { 2.5 } else { 0 }
//@ case: every code
//@ arg x: T[32, 64] bits
//@ arg y: T[64, 32] bits
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [e4m3, e5m2]))]
pub fn float8<T: Cast>(
    x: Tensor<T, 2>,
    y: Tensor<T, 2>,
    mask: Tensor<bool, 2>,
    one: T,
    moved: TensorMut<T, 2>,
    turned: TensorMut<T, 2>,
    chosen: TensorMut<T, 2>,
    joined: TensorMut<T, 3>,
    copied: TensorMut<T, 2>,
    constant: TensorMut<T, 2>,
) {
    let (held, ring) = (shared::<T>([32, 64]), shared::<T>([64, 32]));
    copy_async(y.tile([0, 0], [64, 32]), ring);
    copy_async_commit();
    let tile = x.tile([0, 0], [32, 64]).load();
    let mask = mask.tile([0, 0], [32, 64]).load();
    held.store(tile);
    sync();
    moved.tile([0, 0], [32, 64]).store(held.load());
    turned.tile([0, 0], [64, 32]).store(tile.t());
    copy_async_wait(0);
    sync();
    let other = ring.load();
    copied.tile([0, 0], [64, 32]).store(other.to_layout(blocked([8, 1], [8, 4], [1, 4], [0, 1])));
    chosen.tile([0, 0], [32, 64]).store(select(mask, tile, other.t()));
    joined.tile([0, 0, 0], [32, 64, 2]).store(join(tile, full([32, 64], one)));
    constant.tile([0, 0], [32, 64]).store(select(mask, full([32, 64], T::from_f32(2.5)), zeros::<T>([32, 64])));
}
