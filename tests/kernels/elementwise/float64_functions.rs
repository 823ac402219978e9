//! Functions of doubles in their usual range.
//@ run: eval, emulate, gpu
// At most 2 ulp, as the documentation says, and what is compared with is itself off by up to 2.
//@ compare: ulp=4
//@ arg a: f64[500] uniform(-3, 3)
//@ arg out: f64[9, 500] poison
//@ expect out: if i == 0 { exp(a(j)) } else { if i == 1 { exp2(a(j)) } else { if i == 2 { sin(a(j)) } else { if i == 3 { cos(a(j)) } else { if i == 4 { exp_m1(a(j)) } else { if i == 5 { cbrt(a(j)) } else { if i == 6 { erfc(a(j)) } else { if i == 7 { erf(a(j)) } else { tanh(a(j)) } } } } } } } }
//@ case: near zero
//@ arg a: f64[500] uniform(-0.001, 0.001)
//@ case: usual
//@ case: wider
//@ arg a: f64[500] uniform(-90, 90)
//@ case: few
//@ arg a: f64[1] uniform(-3, 3)
//@ arg out: f64[9, 1] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn float64_functions(a: Tensor<f64, 1>, out: TensorMut<f64, 2>) {
    fn put(out: TensorMut<f64, 2>, row: i32, x: Tile<f64>) {
        out.tile([row, 0], [1, 512]).store(x.expand(0));
    }
    let a = a.tile([0], [512]).load();
    put(out, 0, a.exp());
    put(out, 1, a.exp2());
    put(out, 2, a.sin());
    put(out, 3, a.cos());
    put(out, 4, a.exp_m1());
    put(out, 5, a.cbrt());
    put(out, 6, a.erfc());
    put(out, 7, a.erf());
    put(out, 8, a.tanh());
}
