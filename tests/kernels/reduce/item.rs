//! A reduction to one value as a scalar: in a condition, as the end of a loop, as a coordinate, added up.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64] uniform(-100, 100)
//@ arg out: i32[6] poison
//@ expect out: if i == 0 { if sum(a, 0, 64, x(a)) > 0 { 1 } else { -1 } } else { if i == 1 { most(a, 0, 64, x(a)) } else { if i == 2 { 3 * sum(a, 0, 64, x(a)) } else { if i == 3 { 3 } else { if i == 4 { 2 * x(0) } else { if most(a, 0, 64, x(a)) > 0 { 1 } else { 0 } } } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn item<const W: i32>(x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    let v = x.tile([0], [64]).load();
    let mut sign = -1;
    if v.sum(0).item() > 0 {
        sign = 1;
    }
    out.tile([0], [1]).store(full([1], sign));
    let most: i32 = v.max(0).item();
    out.tile([v.sum(0).item() * 0 + 1], [1]).store(full([1], most));
    let mut total = 0;
    for _ in 0..minimum(v.max(0), 0).item() + 3 {
        total += v.sum(0).item();
    }
    out.tile([2], [1]).store(full([1], total));
    // Rows, then columns: a tile of rank 2 to one element.
    let ones = full([4, 16], 1);
    out.tile([3], [1]).store(full([1], ones.sum(1).reduce(0, |a, b| a.max(b)).item() - 13));
    // Of a tile with an extent of 1.
    let first = x.tile([0], [1]).load().item();
    out.tile([4], [1]).store(full([1], first + first));
    // Methods of tiles work on the tile of rank 0.
    let positive = v.max(0).gt(0);
    out.tile([5], [1]).store(positive.map(|p| if p { 1 } else { 0 }).expand(0));
}
