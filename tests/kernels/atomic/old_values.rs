//! The old value, where each address is touched once.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg p: ptr T[256] iota(0, 3)
//@ arg at: i32[256] shuffled
//@ arg added: T[256] poison
//@ arg swapped: T[256] poison
//@ arg compared: T[256] poison
//@ expect added: at(i) * 3
//@ expect swapped: at(i) * 3 + 10
//@ expect compared: i
//@ expect p: if i < 128 { 99 } else { p(i) * 0 - 1 }
//@ case: one
//@ expect p: 77
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [i32, u32, i64, u64, f32, f64]))]
pub fn old_values<T: Number>(
    p: Ptr<T>,
    at: Tensor<i32, 1>,
    added: TensorMut<T, 1>,
    swapped: TensorMut<T, 1>,
    compared: TensorMut<T, 1>,
) {
    let at = at.tile([0], [256]).load();
    let numbers = arange(0, 256).cast::<T>();
    added.tile([0], [256]).store(atomic::add(p + at, full([256], 10.cast::<T>())));
    swapped.tile([0], [256]).store(atomic::exchange(p + at, numbers));
    compared.tile([0], [256]).store(atomic::compare_exchange(p + at, numbers, full([256], 77.cast::<T>())));
}
