//! The hyperbolic tangent.
//@ run: eval, emulate, gpu
// At most 2 ulp of `f32`, as the documentation says. The half types add one rounding.
//@ compare: ulp=2
//@ arg a: T[500] uniform(-3, 3)
//@ arg out: T[500] poison
//@ expect out: tanh(a(i))
//@ case: usual
//@ case: wide
//@ arg a: T[500] uniform(-50, 50)
//@ case: near zero
//@ arg a: T[500] uniform(-0.01, 0.01)
//@ case: edges
//@ arg a: T[5] list(inf, -inf, nan, 0, -0.0)
//@ arg out: T[5] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_tanh<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 1>) {
    out.tile([0], [512]).store(a.tile([0], [512]).load().tanh());
}
