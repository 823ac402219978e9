use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<i32, 1>, z: Tensor<f64, 1>) {
    let v = x.tile([0], [64]).load();
    let w = z.tile([0], [64]).load();
    let a = v.powf(2);
    let b = v.ln();
    let c = n.exp_approx();
    let d = w.ln_approx();
    let e = v.gt(0).erfc();
    let f = v.cast::<f32>().powf(v);
}

fn main() {}
