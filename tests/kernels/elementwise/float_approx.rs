//! The forms of functions that the hardware has.
//@ run: eval, emulate, gpu
// ex2.approx, lg2.approx, sin.approx and cos.approx are good to about 2^-22 relative, sin and cos to 2^-20.5 absolute (PTX ISA, the
// instructions' own tables); arguments of exp are rounded before ex2, |x| < 3: 3 * log2(e) * 2^-24 * ln 2 < 2^-22. tanh.approx.f32
// is good to 2^-11 relative. The half types add one rounding.
//@ compare: rtol=2e-6 atol=2e-6 ulp=1
//@ compare hyperbolic: rtol=5e-4 ulp=1
//@ arg a: T[500] uniform(0.01, 3)
//@ arg out: T[6, 500] poison
//@ arg hyperbolic: T[500] poison
//@ expect out: if i == 0 { exp(a(j)) } else { if i == 1 { exp2(a(j)) } else { if i == 2 { ln(a(j)) } else { if i == 3 { log2(a(j)) } else { if i == 4 { sin(a(j)) } else { cos(a(j)) } } } } }
//@ expect hyperbolic: tanh(a(i))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_approx<T: Float>(
    a: Tensor<T, 1>,
    out: TensorMut<T, 2>,
    hyperbolic: TensorMut<T, 1>,
) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 512]).store(x.expand(0));
    }
    let a = a.tile([0], [512]).load();
    put(out, 0, a.exp_approx());
    put(out, 1, a.exp2_approx());
    put(out, 2, a.ln_approx());
    put(out, 3, a.log2_approx());
    put(out, 4, a.sin_approx());
    put(out, 5, a.cos_approx());
    hyperbolic.tile([0], [512]).store(a.tanh_approx());
}
