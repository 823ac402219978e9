use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let v = x.tile([0], [64]).load();
    let a = v.log();
    let b = v.pow(3);
    let c = v.pow(v);
    let d = log(v);
    let e = pow(v, 2.5);
    let f = __expf(v);
    let g = expm1(v);
    let h = v.log1p();
    y.tile([0], [64]).store(tl::math::exp(v));
}

fn main() {}
