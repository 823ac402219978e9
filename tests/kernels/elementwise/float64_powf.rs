//! Powers of doubles, to tiles and to numbers.
//@ run: eval, emulate, gpu
// At most 2 ulp, as the documentation says, and what is compared with is itself off by up to 1.
//@ compare: ulp=3
//@ arg a: f64[20, 24] uniform(0.01, 9)
//@ arg b: f64[20, 24] uniform(-4, 4)
//@ arg c: f64 scalar 2.5
//@ arg out: f64[20, 24] poison
//@ arg scaled: f64[20, 24] poison
//@ expect out: powf(a(i, j), b(i, j))
//@ expect scaled: powf(a(i, j), 2.5)
//@ case: usual
//@ case: bases near one
//@ arg a: f64[20, 24] uniform(0.9, 1.1)
//@ arg b: f64[20, 24] uniform(-100, 100)
//@ case: one
//@ arg a: f64[1, 1] uniform(0.01, 9)
//@ arg b: f64[1, 1] uniform(-4, 4)
//@ arg out: f64[1, 1] poison
//@ arg scaled: f64[1, 1] poison
//@ case: edges
//@ arg a: f64[1, 12] list(0, -0.0, inf, -inf, nan, 1, -1, -2, -8, 2, 0.5, -0.5)
//@ arg b: f64[1, 12] list(-1, -3, -1, 3, 0, nan, inf, 3, 0.5, inf, inf, -inf)
//@ arg out: f64[1, 12] poison
//@ arg scaled: f64[1, 12] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn float64_powf(
    a: Tensor<f64, 2>,
    b: Tensor<f64, 2>,
    c: f64,
    out: TensorMut<f64, 2>,
    scaled: TensorMut<f64, 2>,
) {
    let x = a.tile([0, 0], [32, 32]).load();
    out.tile([0, 0], [32, 32]).store(x.powf(b.tile([0, 0], [32, 32]).load()));
    scaled.tile([0, 0], [32, 32]).store(x.powf(c));
}
