//! Atomics on shared memory at tiles of indices: the old values, and what is left; indices outside change nothing and have the old value zero.
//! Tiles of the fewest elements are held by several threads, each of which gets the old value.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] bits
//@ arg y: T[128] bits
//@ arg z: T[64] bits
//@ arg old: T[8, 128] poison
//@ arg now: T[8, 64] poison
//@ arg few: T[4] poison
//@ expect old: if j < 32 || j >= 96 { 0 } else { x(j - 32) }
//@ expect few: if i == 0 { 0 } else { x(i - 1) }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [i32, u32, i64, u64], W = [1, 4]))]
pub fn atomic_by_index<T: Int, const W: i32>(
    x: Tensor<T, 1>,
    y: Tensor<T, 1>,
    z: Tensor<T, 1>,
    old: TensorMut<T, 2>,
    now: TensorMut<T, 2>,
    few: TensorMut<T, 1>,
) {
    let start = x.tile([0], [64]).load();
    let value = y.tile([0], [128]).load();
    let at = arange(-32, 96);
    let words = array(9, |_| shared::<T>([64]));
    for n in unroll(0..9) {
        words[n].store(start);
    }
    sync();
    old.tile([0, 0], [1, 128]).store(words[0].atomic_add(at, value).expand(0));
    old.tile([1, 0], [1, 128]).store(words[1].atomic_max(at, value).expand(0));
    old.tile([2, 0], [1, 128]).store(words[2].atomic_min(at, value).expand(0));
    old.tile([3, 0], [1, 128]).store(words[3].atomic_and(at, value).expand(0));
    old.tile([4, 0], [1, 128]).store(words[4].atomic_or(at, value).expand(0));
    old.tile([5, 0], [1, 128]).store(words[5].atomic_xor(at, value).expand(0));
    old.tile([6, 0], [1, 128]).store(words[6].atomic_exchange(at, value).expand(0));
    // Every other one of `z` is what is there.
    let asked = shared::<T>([64]);
    asked.store(select((arange(0, 64) & 1).eq(0), start, z.tile([0], [64]).load()));
    sync();
    let seen = words[7].atomic_compare_exchange(at, asked.gather(at), value);
    old.tile([7, 0], [1, 128]).store(seen.expand(0));
    few.tile([0], [4]).store(words[8].atomic_add(arange(-1, 3), full([4], 1.cast::<T>())));
    sync();
    for n in unroll(0..8) {
        now.tile([n, 0], [1, 64]).store(words[n].load().expand(0));
    }
}
