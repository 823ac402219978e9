//! Atomics with the scope of the system: on one address and on tiles, with old values and without, at neighbouring addresses, and in loops where
//! no instruction does it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[512] list(1, -2, 3, 0, 2, -1, 4)
//@ arg counter: i32[1] fill(0)
//@ arg sums: T[512] fill(1)
//@ arg extremes: T[2] fill(1)
//@ arg old: T[512] poison
//@ arg swapped: T[512] fill(5)
//@ arg bits: i32[3] list(12, 12, 12)
//@ expect counter: 4
//@ expect sums: 1 + 4 * x(i)
//@ expect extremes: if i == 0 { 4 } else { -2 }
//@ expect old: 5
//@ expect swapped: if i < 64 { 9 } else { x(i) }
//@ expect bits: if i == 0 { 8 } else if i == 1 { 14 } else { 12 }
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 4, instances(T = [i32, i64, f32, f64]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn system<T: Number>(
    x: Tensor<T, 1>,
    counter: TensorMut<i32, 1>,
    sums: TensorMut<T, 1>,
    extremes: TensorMut<T, 1>,
    old: TensorMut<T, 1>,
    swapped: TensorMut<T, 1>,
    bits: TensorMut<i32, 1>,
) {
    let v = x.tile([0], [512]).load();
    let at = arange(0, 512);
    atomic::add_system(sums.ptr() + at, v);
    atomic::max_system(extremes.ptr() + (at & 0), v);
    atomic::min_system(extremes.ptr() + 1 + (at & 0), v);
    atomic::and_system(bits.ptr(), 10);
    atomic::or_system(bits.ptr() + 1, 10);
    // An even number of blocks.
    atomic::xor_system(bits.ptr() + 2, 10);
    let ticket = atomic::add_system(counter.ptr(), 1);
    if ticket == 3 {
        let five = full([512], 5.cast::<T>());
        let before = atomic::exchange_system(swapped.ptr() + at, v);
        old.tile([0], [512]).store(before);
        let nine = select(at.lt(64), full([512], 9.cast::<T>()), v);
        atomic::compare_exchange_system(swapped.ptr() + at, v, nine);
        atomic::compare_exchange_system(swapped.ptr() + at, five, v);
    }
}
