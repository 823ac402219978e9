//! The reciprocal root of doubles.
//@ run: eval, emulate, gpu
// rsqrt.approx.f64 alone is good to 2^-20 or so; what is asked for here is a double's precision, a few roundings of 2^-53.
//@ compare: rtol=1e-15
//@ arg a: f64[500] uniform(0.01, 6)
//@ arg out: f64[500] poison
//@ expect out: 1.0 / sqrt(a(i))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn float64_rsqrt(a: Tensor<f64, 1>, out: TensorMut<f64, 1>) {
    out.tile([0], [512]).store(a.tile([0], [512]).load().rsqrt());
}
