//! Logarithms and the reciprocal root of positive numbers.
//@ run: eval, emulate, gpu
// Logarithms are within 2 ulp of `f32`, as the documentation says, and rsqrt.approx is within 2.2 (PTX ISA, the instruction's own
// table). The half types add one rounding.
//@ compare: ulp=3
//@ arg a: T[500] uniform(0.01, 30)
//@ arg out: T[5, 500] poison
//@ expect out: if i == 0 { ln(a(j)) } else { if i == 1 { log2(a(j)) } else { if i == 2 { log10(a(j)) } else { if i == 3 { ln_1p(a(j)) } else { 1.0 / sqrt(a(j)) } } } }
//@ case: usual
//@ case: near one
//@ arg a: T[500] uniform(0.99, 1.01)
//@ case: large
//@ arg a: T[500] uniform(1, 65000)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_logarithms<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 512]).store(x.expand(0));
    }
    let a = a.tile([0], [512]).load();
    put(out, 0, a.ln());
    put(out, 1, a.log2());
    put(out, 2, a.log10());
    put(out, 3, a.ln_1p());
    put(out, 4, a.rsqrt());
}
