//! Every order and both scopes of every operation, on windows that end outside of their tensors.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg add: T[3, 20] iota(5, 1)
//@ arg sums: T[3, 20] iota(7, 3)
//@ arg most: T[3, 20] iota(-30, 2)
//@ arg swap: T[3, 20] iota(2, 1)
//@ arg seen: T[4, 32] poison
//@ arg now: T[4, 32] poison
//@ expect sums: add(i, j) + sums(i, j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [i32, f32, i64, f64], W = [1, 8]))]
pub fn ordered_scopes<T: Number, const W: i32>(
    add: Tensor<T, 2>,
    sums: TensorMut<T, 2>,
    most: TensorMut<T, 2>,
    swap: TensorMut<T, 2>,
    seen: TensorMut<T, 2>,
    now: TensorMut<T, 2>,
) {
    let value = add.tile([0, 0], [4, 32]).load();
    sums.tile([0, 0], [4, 32]).release().atomic_add(value);
    let old = most.tile([0, 0], [4, 32]).system_scope().acq_rel().atomic_max(value);
    let one = swap.tile([0, 0], [4, 32]).acquire().atomic_exchange(old);
    let other = swap.tile([0, 0], [4, 32]).evict_last().system_scope().atomic_compare_exchange(old, value);
    seen.tile([0, 0], [4, 32]).store(old + one + other);
    let relaxed = sums.tile([0, 0], [4, 32]).atomic_load();
    let acquired = most.tile([0, 0], [4, 32]).system_scope().acquire().atomic_load();
    now.tile([0, 0], [4, 32]).atomic_store(relaxed + acquired);
    let last = now.tile([0, 0], [4, 32]);
    last.system_scope().release().atomic_store(last.atomic_load() + swap.tile([0, 0], [4, 32]).evict_first().atomic_load());
}
