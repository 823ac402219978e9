//! An accumulator pinned to a blocked layout that is the tensor cores' own by another name, and one that is not.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[16, 16] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[16, 8] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg out: f32[2, 16, 8] poison
//@ expect out: sum(n, 0, 16, a(j, n) * b(n, k))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn pinned_accumulator(a: Tensor<f16, 2>, b: Tensor<f16, 2>, out: TensorMut<f32, 3>) {
    const OWN: Layout = blocked([1, 2], [8, 4], [1, 1], [1, 0]);
    const ROWS: Layout = blocked([1, 4], [16, 2], [1, 1], [1, 0]);
    let a = a.tile([0, 0], [16, 16]).load();
    let b = b.tile([0, 0], [16, 8]).load();
    let zero = zeros::<f32>([16, 8]);
    out.tile([0, 0, 0], [1, 16, 8]).store(dot(a, b, zero.to_layout(OWN)).expand(0));
    out.tile([1, 0, 0], [1, 16, 8]).store(dot(a, b, zero.to_layout(ROWS)).expand(0));
}
