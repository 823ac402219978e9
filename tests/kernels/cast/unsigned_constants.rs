//! Constants of unsigned types with the highest bit set are large numbers, not negative ones.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[32] bits
//@ arg out: f32[32] poison
//@ arg short: bf16[32] poison
//@ arg large: bool[32] poison
//@ expect large: true
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1, instances(T = [u32, u64]))]
pub fn unsigned_constants<T: Int>(
    x: Tensor<T, 1>,
    out: TensorMut<f32, 1>,
    short: TensorMut<bf16, 1>,
    large: TensorMut<bool, 1>,
) {
    let x = x.tile([0], [32]).load();
    let ones = !(x ^ x);
    out.tile([0], [32]).store(ones.cast::<f32>());
    short.tile([0], [32]).store(ones.cast::<bf16>());
    large.tile([0], [32]).store(ones.cast::<f32>().ge(2.0));
}
