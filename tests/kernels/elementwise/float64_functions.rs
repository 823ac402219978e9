//! Transcendental functions of doubles.
//@ run: eval, emulate, gpu
// Each is a series in f64 with a handful of roundings: 16 ulp bounds them.
//@ compare: rtol=4e-15 atol=1e-15
//@ arg a: f64[500] uniform(0.01, 6)
//@ arg out: f64[8, 500] poison
//@ expect out: if i == 0 { exp(a(j)) } else { if i == 1 { exp2(a(j)) } else { if i == 2 { sin(a(j)) } else { if i == 3 { cos(a(j)) } else { if i == 4 { tanh(a(j)) } else { if i == 5 { log(a(j)) } else { if i == 6 { log2(a(j)) } else { 1.0 / sqrt(a(j)) } } } } } } }
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
    put(out, 4, a.tanh());
    put(out, 5, a.log());
    put(out, 6, a.log2());
    put(out, 7, a.rsqrt());
}
