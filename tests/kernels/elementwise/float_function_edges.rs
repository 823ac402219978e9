//! What the functions give of zeros, infinities, NaN, and beyond their range.
//@ run: eval, emulate, gpu
// `rsqrt` is an instruction that is good to 2.2 ulp (PTX ISA, "rsqrt"), the others are within 2.
//@ compare: ulp=3
//@ arg a: T[10] list(0, -0.0, inf, -inf, nan, -1000, 1000, -1, 1, 300)
//@ arg out: T[14, 10] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_function_edges<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 16]).store(x.expand(0));
    }
    let a = a.tile([0], [16]).load();
    put(out, 0, a.exp());
    put(out, 1, a.exp2());
    put(out, 2, a.ln());
    put(out, 3, a.log2());
    put(out, 4, a.rsqrt());
    put(out, 5, a.exp_m1());
    put(out, 6, a.ln_1p());
    put(out, 7, a.log10());
    put(out, 8, a.sin());
    put(out, 9, a.cos());
    put(out, 10, a.tanh());
    put(out, 11, a.erf());
    put(out, 12, a.erfc());
    put(out, 13, a.cbrt());
}
