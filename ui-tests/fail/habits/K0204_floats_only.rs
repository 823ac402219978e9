use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<i32, 1>, y: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([0], [64]).load();
    let w = y.tile([0], [64]).load();
    let a = v.is_nan();
    let b = v.recip();
    let c = w.powi(n);
    let d = w.powi(1 << 20);
    let e = w.powi(2.0);
    let f = w.gt(0.0).is_finite();
    let g = w.clamp(0.0);
    let h = 2.recip();
    let i = full([64], 3).is_finite();
    out.tile([0], [64]).store(w.isnan());
}

fn main() {}
