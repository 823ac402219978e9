//! Reductions over all lanes of a warp: of integers of every width, of masks, and of what several lanes hold.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[1024] bits
//@ arg few: T[8] bits
//@ arg out: T[6] poison
//@ arg masks: bool[6] poison
//@ arg repeated: T[4] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [i8, i16, i32, i64, u8, u16, u32, u64], W = [1, 4]))]
pub fn whole_warp<T: Int, const W: i32>(
    x: Tensor<T, 1>,
    few: Tensor<T, 1>,
    out: TensorMut<T, 1>,
    masks: TensorMut<bool, 1>,
    repeated: TensorMut<T, 1>,
) {
    let v = x.tile([0], [1024]).load();
    out.tile([0], [1]).store(v.sum(0).expand(0));
    out.tile([1], [1]).store(v.min(0).expand(0));
    out.tile([2], [1]).store(v.max(0).expand(0));
    out.tile([3], [1]).store(v.reduce(0, |a, b| a & b).expand(0));
    out.tile([4], [1]).store(v.reduce(0, |a, b| a | b).expand(0));
    out.tile([5], [1]).store(v.reduce(0, |a, b| a ^ b).expand(0));
    let small = v.lt(100.cast::<T>());
    masks.tile([0], [1]).store(small.reduce(0, |a, b| a & b).expand(0));
    masks.tile([1], [1]).store(small.reduce(0, |a, b| a | b).expand(0));
    masks.tile([2], [1]).store(small.reduce(0, |a, b| a ^ b).expand(0));
    masks.tile([3], [1]).store((small | !small).reduce(0, |a, b| a & b).expand(0));
    masks.tile([4], [1]).store((small & !small).reduce(0, |a, b| a | b).expand(0));
    masks.tile([5], [1]).store((!small).reduce(0, |a, b| a | b).expand(0));
    // Of eight elements every lane holds one, and four lanes hold the same.
    let held = linear([], [[1], [2], [4], [0], [0]], [], [8]);
    let w = few.tile([0], [8]).load();
    let w = if W == 1 { w.to_layout(held) } else { w };
    repeated.tile([0], [1]).store(w.sum(0).expand(0));
    repeated.tile([1], [1]).store(w.min(0).expand(0));
    repeated.tile([2], [1]).store(w.max(0).expand(0));
    repeated.tile([3], [1]).store(w.reduce(0, |a, b| a ^ b).expand(0));
}
