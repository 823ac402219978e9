//! Logarithms and the reciprocal root of positive numbers.
//@ run: eval, emulate, gpu
// lg2.approx is good to 2^-22 absolute near 1 and relative elsewhere, rsqrt.approx to 2^-22.9 relative (PTX ISA, the
// instructions' own tables); the natural logarithm multiplies by ln 2. The half types add one rounding.
//@ compare: rtol=1e-6 atol=1e-6 ulp=1
//@ arg a: T[500] uniform(0.01, 30)
//@ arg out: T[3, 500] poison
//@ expect out: if i == 0 { log(a(j)) } else { if i == 1 { log2(a(j)) } else { 1.0 / sqrt(a(j)) } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_logarithms<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 512]).store(x.expand(0));
    }
    let a = a.tile([0], [512]).load();
    put(out, 0, a.log());
    put(out, 1, a.log2());
    put(out, 2, a.rsqrt());
}
