use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn scaled(a: Tensor<f32, 1>, scale: f64, out: TensorMut<f32, 1>) {
    let p = a.tile([0], [64]).load();
    out.tile([0], [64]).store(p * scale);
}

#[kernel(target = sm_80, warps = 4)]
pub fn literal(a: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let p = a.tile([0], [64]).load();
    out.tile([0], [64]).store(2.0f64 * p);
}

#[kernel(target = sm_80, warps = 4)]
pub fn scaled_by_float(a: Tensor<i32, 1>, scale: f32, out: TensorMut<f32, 1>) {
    let p = a.tile([0], [64]).load();
    out.tile([0], [64]).store(p * scale);
}

#[kernel(target = sm_80, warps = 4)]
pub fn scaled_half(a: Tensor<bf16, 1>, scale: f32, out: TensorMut<bf16, 1>) {
    let p = a.tile([0], [64]).load();
    out.tile([0], [64]).store(p * scale);
}

fn main() {}
