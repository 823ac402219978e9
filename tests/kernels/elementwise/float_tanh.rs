//! The hyperbolic tangent.
//@ run: eval, emulate, gpu
// tanh.approx.f32 is good to 2^-11 relative (PTX ISA, "tanh"). The half types add one rounding.
//@ compare: rtol=5e-4 ulp=1
//@ arg a: T[500] uniform(-3, 3)
//@ arg out: T[500] poison
//@ expect out: tanh(a(i))
//@ case: usual
//@ case: wide
//@ arg a: T[500] uniform(-50, 50)
//@ case: infinite
//@ arg a: T[3] list(inf, -inf, nan)
//@ arg out: T[3] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_tanh<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 1>) {
    out.tile([0], [512]).store(a.tile([0], [512]).load().tanh());
}
