//! To rustc, a literal is wrong beside a `T`, whatever the instances are.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, instances(T = [f32]))]
pub fn scale<T: Float>(x: Tensor<T, 1>, y: TensorMut<T, 1>, by: T) {
    let v = x.tile([0], [64]).load() * by;
    y.tile([0], [64]).store(select(v.gt(0.5), 2.0 * v, v.map(|e| e - 1.0)));
}

#[kernel(target = sm_80, warps = 4, instances(T = [f16, f32]))]
pub fn halves<T: Float>(x: Tensor<T, 1>, y: TensorMut<T, 1>) {
    y.tile([0], [64]).store(x.tile([0], [64]).load() + 1.0);
}

#[kernel(target = sm_80, warps = 4, instances(T = [i32]))]
pub fn next<T: Int>(x: Tensor<T, 1>, y: TensorMut<T, 1>) {
    y.tile([0], [64]).store(x.tile([0], [64]).load() + 1);
}

fn main() {}
