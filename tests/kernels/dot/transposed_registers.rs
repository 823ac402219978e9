//! A and B transposed in registers, and a product of a product.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[32, 16] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: f16[32, 16] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg out: f32[32, 32] poison
//@ arg chained: f32[32, 16] poison
//@ expect out: sum(n, 0, 16, a(i, n) * b(j, n))
//@ expect chained: sum(m, 0, 32, sum(n, 0, 16, a(i, n) * b(m, n)) * a(m, j))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 2, 4]))]
pub fn transposed_registers<const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    out: TensorMut<f32, 2>,
    chained: TensorMut<f32, 2>,
) {
    let a = a.tile([0, 0], [32, 16]).load();
    let b = b.tile([0, 0], [32, 16]).load();
    let p = dot(a, b.t(), zeros::<f32>([32, 32]));
    out.tile([0, 0], [32, 32]).store(p);
    let q = dot(p.cast::<f16>(), a, zeros::<f32>([32, 16]));
    chained.tile([0, 0], [32, 16]).store(q);
}
