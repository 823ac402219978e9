//! A tile carried by a loop meets products, reductions and stores, which want it in different layouts.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[16, 16] list(1, 0, -1, 2)
//@ arg n: i32 scalar 3
//@ arg out: f32[16, 16] poison
//@ arg sums: f32[16] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn carried_layouts(a: Tensor<f16, 2>, n: i32, out: TensorMut<f32, 2>, sums: TensorMut<f32, 1>) {
    let a = a.tile([0, 0], [16, 16]).load();
    let mut acc = zeros::<f32>([16, 16]);
    let mut total = zeros::<f32>([16]);
    for _ in 0..n {
        acc = dot(a, acc.cast::<f16>(), a.cast::<f32>());
        total += acc.max(0);
        acc = select(acc.gt(40.0), acc - 40.0, acc);
        acc = select(acc.lt(-40.0), acc.t(), acc);
    }
    out.tile([0, 0], [16, 16]).store(acc);
    sums.tile([0], [16]).store(total);
}
