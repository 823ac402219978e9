//! Functions of single numbers: those that Rust's floats have, and those of the trait.
//@ run: eval, emulate, gpu
// At most 2 ulp. The approximations of 1.5 and 0.75 are within rtol.
//@ compare: ulp=2
//@ compare approx: rtol=5e-4
//@ arg x: f32 scalar 1.5
//@ arg y: f32 scalar 0.75
//@ arg out: f32[14] poison
//@ arg approx: f32[7] poison
//@ case: usual
//@ case: others
//@ arg x: f32 scalar 17.25
//@ arg y: f32 scalar 0.001
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn float_functions_of_numbers(x: f32, y: f32, out: TensorMut<f32, 1>, approx: TensorMut<f32, 1>) {
    let put = |at: i32, value: f32| out.tile([at], [1]).store(full([1], value));
    put(0, x.exp());
    put(1, y.exp_m1());
    put(2, x.exp2());
    put(3, x.ln());
    put(4, y.ln_1p());
    put(5, x.log2());
    put(6, x.log10());
    put(7, x.cbrt());
    put(8, x.sin());
    put(9, y.cos());
    put(10, y.tanh());
    put(11, Float::erf(y));
    put(12, y.erfc());
    put(13, x.powf(y));
    let put = |at: i32, value: f32| approx.tile([at], [1]).store(full([1], value));
    put(0, x.exp_approx());
    put(1, x.exp2_approx());
    put(2, x.ln_approx());
    put(3, x.log2_approx());
    put(4, y.sin_approx());
    put(5, y.cos_approx());
    put(6, y.tanh_approx());
}
