//! Atomic operations of windows with a priority in the cache: alone and of neighbours, with old values and without, in place and in a loop.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64, 24] list(1, -2, 3, 0, 2, -1, 4)
//@ arg sums: T[24] fill(1)
//@ arg highest: T[24] fill(-1)
//@ arg old: T[24] poison
//@ arg words: i32[24] fill(5)
//@ expect sums: 1 + sum(k, 0, 64, x(k, i))
//@ expect highest: 4
//@ expect old: -1
//@ expect words: 7
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 4, instances(T = [f16, bf16, f32, f64]))]
pub fn evict_atomics<T: Float>(
    x: Tensor<T, 2>,
    sums: TensorMut<T, 1>,
    highest: TensorMut<T, 1>,
    old: TensorMut<T, 1>,
    words: TensorMut<i32, 1>,
) {
    let rows = x.tile([block_id(0) * 16, 0], [16, 32]).load();
    sums.tile([0], [32]).evict_first().atomic_add(rows.sum(0));
    if block_id(0) == 0 {
        let all = x.tile([0, 0], [64, 32]).evict_last().load();
        old.tile([0], [32]).store(highest.tile([0], [32]).evict_last().atomic_max(all.max(0)));
        let six = words.tile([0], [32]).evict_first().atomic_exchange(full([32], 6)) + 1;
        words.tile([0], [32]).evict_last().atomic_max(six + 1);
        words.tile([0], [32]).evict_last().atomic_compare_exchange(six + 1, full([32], 0));
        words.tile([0], [32]).evict_last().atomic_add(full([32], 7));
    }
}
