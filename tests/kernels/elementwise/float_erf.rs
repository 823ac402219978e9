//! The error function.
//@ run: eval, emulate, gpu
// Two polynomials and ex2.approx, at most 2 ulp together. The half types add one rounding.
//@ compare: ulp=2
//@ arg a: T[500] uniform(-3, 3)
//@ arg out: T[500] poison
//@ expect out: erf(a(i))
//@ case: usual
//@ case: near zero
//@ arg a: T[500] uniform(-0.01, 0.01)
//@ case: far
//@ arg a: T[500] uniform(-50, 50)
//@ case: edges
//@ arg a: T[7] list(inf, -inf, nan, 1, -1, 0, -0.0)
//@ arg out: T[7] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_erf<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 1>) {
    out.tile([0], [512]).store(a.tile([0], [512]).load().erf());
}
