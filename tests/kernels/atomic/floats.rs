//! Sums of small whole numbers: exact in every order.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[512] list(1, 2, -1, 3, 0, -2)
//@ arg sums: ptr T[5] fill(1)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 2, instances(T = [f16, bf16, f32, f64]))]
pub fn floats<T: Float>(x: Tensor<T, 1>, sums: Ptr<T>) {
    let start = block_id(0) * 256;
    atomic::add(sums + (arange(0, 256) % 5), x.tile([start], [256]).load());
}
