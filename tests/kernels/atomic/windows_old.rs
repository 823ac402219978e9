//! The old values of windows: zero outside of the tensor, the same in all threads that hold an element; and later reads of the block see the new ones.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[3, 20] iota(7, 3)
//@ arg tickets: T[3, 20] iota(100, 1)
//@ arg slots: T[3, 20] iota(-5, 1)
//@ arg old: T[4, 32] poison
//@ arg taken: T[4, 32] poison
//@ arg now: T[4, 32] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [i32, f32, i64, f64], W = [1, 4]))]
pub fn windows_old<T: Number, const W: i32>(
    x: Tensor<T, 2>,
    tickets: TensorMut<T, 2>,
    slots: TensorMut<T, 2>,
    old: TensorMut<T, 2>,
    taken: TensorMut<T, 2>,
    now: TensorMut<T, 2>,
) {
    let add = x.tile([0, 0], [4, 32]).load();
    let window = tickets.tile([0, 0], [4, 32]);
    let before = window.atomic_add(add);
    old.tile([0, 0], [4, 32]).store(before);
    let place = slots.tile([0, 0], [4, 32]);
    place.atomic_exchange(place.load() + 1.cast::<T>());
    let seen = place.atomic_compare_exchange(full([4, 32], 5.cast::<T>()), add);
    taken.tile([0, 0], [4, 32]).store(seen);
    now.tile([0, 0], [4, 32]).store(window.load() + place.load());
}
