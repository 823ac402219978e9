//! Transcendental functions in their usual range.
//@ run: eval, emulate, gpu
// ex2.approx, lg2.approx, rsqrt.approx, sin.approx and cos.approx are good to about 2^-22 relative, sin and cos
// to 2^-20.5 absolute (PTX ISA, the instructions' own tables); arguments of exp are rounded before
// ex2, |x| < 8: 8 * log2(e) * 2^-24 * ln 2 < 2^-20. The half types add one rounding.
//@ compare: rtol=2e-6 atol=2e-6 ulp=1
//@ arg a: T[500] uniform(-3, 3)
//@ arg out: T[4, 500] poison
//@ expect out: if i == 0 { exp(a(j)) } else { if i == 1 { exp2(a(j)) } else { if i == 2 { sin(a(j)) } else { cos(a(j)) } } }
//@ case: near zero
//@ case: wider
//@ arg a: T[500] uniform(-8, 8)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_functions<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 512]).store(x.expand(0));
    }
    let a = a.tile([0], [512]).load();
    put(out, 0, a.exp());
    put(out, 1, a.exp2());
    put(out, 2, a.sin());
    put(out, 3, a.cos());
}
