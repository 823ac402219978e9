//! Copies between shapes of other ranks: axes of extent 1 are dropped and added, and neighbouring axes merged and taken apart.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[3, 60, 32] list(1, 2, 3, 4, 5, 6, 7)
//@ arg heads: T[2, 4, 15, 32] list(3, 1, 4, 1, 5, 9, 2, 6)
//@ arg deep: T[2, 2, 4, 8, 20] list(2, 7, 1, 8)
//@ arg flat: T[2000] list(1, 3, 5, 7, 9)
//@ arg one: T[3, 60, 32] poison
//@ arg merged: T[64, 32] poison
//@ arg deepest: T[64, 32] poison
//@ arg rows: T[64, 32] poison
//@ arg line: T[2048] poison
//@ arg turned: T[32, 64] poison
//@ arg sums: T[64, 32] poison
//@ expect one: x(i, j, k)
//@ expect merged: if i - i / 16 * 16 < 15 { heads(1, i / 16, i - i / 16 * 16, j) } else { 0 }
//@ expect deepest: if j < 20 { deep(i / 32, i / 16 - i / 32 * 2, i / 8 - i / 16 * 2 + 2, i - i / 8 * 8, j) } else { 0 }
//@ expect rows: if i * 32 + j < 2000 { flat(i * 32 + j) } else { 0 }
//@ expect line: if i < 1920 { x(2, i / 32, i - i / 32 * 32) } else { 0 }
//@ expect turned: if j < 60 { x(1, j, i) } else { 0 }
//@ expect sums: if i < 60 { x(0, i, j) + x(1, i, j) + x(2, i, j) } else { 0 }
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [u8, f16, f32, i64]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn ranks<T: Number>(
    x: Tensor<T, 3>,
    heads: Tensor<T, 4>,
    deep: Tensor<T, 5>,
    flat: Tensor<T, 1>,
    one: TensorMut<T, 3>,
    merged: TensorMut<T, 2>,
    deepest: TensorMut<T, 2>,
    rows: TensorMut<T, 2>,
    line: TensorMut<T, 1>,
    turned: TensorMut<T, 2>,
    sums: TensorMut<T, 2>,
) {
    let (held, second) = (shared::<T>([64, 32]), shared::<T>([64, 32]));
    let (third, fourth) = (shared::<T>([64, 32]), shared::<T>([2048]));
    let ring = shared::<T>([64, 32]);
    copy_async(heads.tile([1, 0, 0, 0], [1, 4, 16, 32]), held);
    copy_async(deep.tile([0, 0, 2, 0, 0], [2, 2, 2, 8, 32]), second);
    copy_async(flat.tile([0], [2048]), third);
    copy_async(x.tile([2, 0, 0], [1, 64, 32]), fourth);
    copy_async_wait_all();
    sync();
    merged.tile([0, 0], [64, 32]).store(held.load());
    deepest.tile([0, 0], [64, 32]).store(second.load());
    rows.tile([0, 0], [64, 32]).store(third.load());
    line.tile([0], [2048]).store(fourth.load());
    sync();
    copy_async(x.tile([1, 0, 0], [1, 64, 32]), second);
    copy_async_wait_all();
    sync();
    turned.tile([0, 0], [32, 64]).store(second.t().load());
    for b in range(0, 3, 1) {
        sync();
        copy_async(x.tile([b, 0, 0], [1, 64, 32]), held);
        copy_async_wait_all();
        sync();
        one.tile([b, 0, 0], [1, 64, 32]).store(held.load().expand(0));
    }
    let mut sum = zeros([64, 32]);
    for b in pipeline(range(0, 3, 1), 2) {
        copy_async(x.tile([b, 0, 0], [1, 64, 32]), ring);
        sum = sum + ring.load();
    }
    sums.tile([0, 0], [64, 32]).store(sum);
}
