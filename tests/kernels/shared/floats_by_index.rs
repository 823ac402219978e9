//! Exchanges of floats in shared memory: those that compare do so by value, so that -0 equals 0 and NaN equals nothing.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] edges(0)
//@ arg y: T[64] edges(1)
//@ arg old: T[2, 64] poison
//@ arg now: T[2, 64] poison
//@ expect old: x(63 - j)
//@ expect now: if i == 0 { y(63 - j) } else if x(j) == y(63 - j) { 7 } else { x(j) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [f32, f64], W = [1, 4]))]
pub fn floats_by_index<T: Float, const W: i32>(
    x: Tensor<T, 1>,
    y: Tensor<T, 1>,
    old: TensorMut<T, 2>,
    now: TensorMut<T, 2>,
) {
    let (swapped, asked) = (shared::<T>([64]), shared::<T>([64]));
    swapped.store(x.tile([0], [64]).load());
    asked.store(x.tile([0], [64]).load());
    sync();
    let at = 63 - arange(0, 64);
    let value = y.tile([0], [64]).load();
    old.tile([0, 0], [1, 64]).store(swapped.atomic_exchange(at, value).expand(0));
    let seen = asked.atomic_compare_exchange(at, value, full([64], 7.0.cast::<T>()));
    old.tile([1, 0], [1, 64]).store(seen.expand(0));
    sync();
    now.tile([0, 0], [1, 64]).store(swapped.load().expand(0));
    now.tile([1, 0], [1, 64]).store(asked.load().expand(0));
}
