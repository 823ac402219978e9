//! Slices pinned on vectors, brought back to rank 2, and reductions in pinned layouts.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg rows: i32[32] uniform(-100, 100)
//@ arg cols: i32[64] uniform(-100, 100)
//@ arg out: i32[32, 64] poison
//@ arg sums: i32[32] poison
//@ expect out: rows(i) * cols(j)
//@ expect sums: sum(c, 0, 64, rows(i) * cols(c))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn slices(rows: Tensor<i32, 1>, cols: Tensor<i32, 1>, out: TensorMut<i32, 2>, sums: TensorMut<i32, 1>) {
    const PARENT: Layout = blocked([1, 4], [8, 4], [2, 2], [1, 0]);
    const OTHER: Layout = blocked([4, 2], [4, 8], [4, 1], [0, 1]);
    let r = rows.tile([0], [32]).load().to_layout(slice(1, PARENT));
    let c = cols.tile([0], [64]).load().to_layout(slice(0, PARENT));
    let product = r.expand(1) * c.expand(0);
    out.tile([0, 0], [32, 64]).store(product);
    let summed = product.to_layout(OTHER).sum(1).to_layout(slice(1, PARENT));
    sums.tile([0], [32]).store(summed.to_layout(blocked([1], [32], [4], [0])));
}
