//! Sums of floats in shared memory, of numbers that any order adds exactly: by one tile of indices and by two, which several threads hold,
//! and each of which gets the old value.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[512] list(1, 2, -1, 3, 0, -2)
//@ arg sums: T[8] poison
//@ arg square: T[4, 8] poison
//@ arg old: T[8] poison
//@ expect sums: if i < 7 { 1 + sum(k, 0, 512, if k % 7 == i { x(k) } else { 0 }) } else { 1 }
//@ expect square: if i == 3 { if j < 4 { x(j) + 5 } else { 5 } } else { 0 }
//@ expect old: if i < 4 { x(i) } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [f16, f32, f64], W = [1, 4]))]
pub fn sums_by_index<T: Float, const W: i32>(
    x: Tensor<T, 1>,
    sums: TensorMut<T, 1>,
    square: TensorMut<T, 2>,
    old: TensorMut<T, 1>,
) {
    let (bins, rows) = (shared::<T>([8]), shared::<T>([4, 8]));
    bins.store(full([8], 1.0.cast::<T>()));
    rows.store(zeros([4, 8]));
    sync();
    bins.atomic_add(arange(0, 512) % 7, x.tile([0], [512]).load());
    let four = x.tile([0], [4]).load();
    rows.atomic_add([full([4], 3), arange(0, 4)], four);
    // All of these are outside.
    rows.atomic_add([full([4], 4), arange(0, 4)], four);
    rows.atomic_add([full([4], 0), arange(8, 12)], four);
    sync();
    let before = rows.atomic_add([full([8], 3), arange(0, 8)], full([8], 5.0.cast::<T>()));
    old.tile([0], [8]).store(before);
    sync();
    sums.tile([0], [8]).store(bins.load());
    square.tile([0, 0], [4, 8]).store(rows.load());
}
