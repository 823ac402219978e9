//! Values of a type parameter, with constants in the words that messages give.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, instances(T = [f16, f32]))]
pub fn scale<T: Float>(x: Tensor<T, 1>, y: TensorMut<T, 1>, by: T) {
    let v = x.tile([0], [64]).load() * by;
    let wide = v.cast::<f32>() * 2.0;
    y.tile([0], [64]).store(select(v.gt(T::of(0.5)), wide.cast::<T>(), v.map(|e| e - T::of(1.0))));
}

#[kernel(target = sm_80, warps = 4, instances(T = [i32, u8]))]
pub fn next<T: Int>(x: Tensor<T, 1>, y: TensorMut<T, 1>) {
    y.tile([0], [64]).store(x.tile([0], [64]).load() + 1.cast::<T>());
}

fn main() {}
