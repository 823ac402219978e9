//! Pinned layouts around a product, a transpose and a store of half types.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[32, 32] list(1, 0, -1, 2, 3)
//@ arg out: f16[32, 32] poison
//@ arg product: f32[32, 32] poison
//@ expect out: a(j, i)
//@ expect product: sum(k, 0, 32, a(i, k) * a(j, k))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn pinned_operands(a: Tensor<f16, 2>, out: TensorMut<f16, 2>, product: TensorMut<f32, 2>) {
    const ROWS: Layout = blocked([1, 8], [8, 4], [4, 1], [1, 0]);
    const COLUMNS: Layout = blocked([8, 1], [4, 8], [1, 4], [0, 1]);
    let a = a.tile([0, 0], [32, 32]).load().to_layout(ROWS);
    let turned = a.t().to_layout(ROWS);
    let p = dot(a + zeros::<f16>([32, 32]), turned + zeros::<f16>([32, 32]), zeros::<f32>([32, 32]));
    product.tile([0, 0], [32, 32]).store(p.to_layout(COLUMNS));
    out.tile([0, 0], [32, 32]).store(turned.to_layout(COLUMNS));
}
