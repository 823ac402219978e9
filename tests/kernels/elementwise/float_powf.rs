//! Powers of floats, to tiles and to numbers.
//@ run: eval, emulate, gpu
// At most 2 ulp of `f32`, as the documentation says. The half types add one rounding.
//@ compare: ulp=2
//@ arg a: T[20, 24] uniform(0.01, 9)
//@ arg b: T[20, 24] uniform(-4, 4)
//@ arg c: f32 scalar 2.5
//@ arg out: T[20, 24] poison
//@ arg scaled: T[20, 24] poison
//@ expect out: powf(a(i, j), b(i, j))
//@ expect scaled: powf(a(i, j), 2.5)
//@ case: usual
//@ case: bases near one
//@ arg a: T[20, 24] uniform(0.9, 1.1)
//@ arg b: T[20, 24] uniform(-100, 100)
//@ case: one
//@ arg a: T[1, 1] uniform(0.01, 9)
//@ arg b: T[1, 1] uniform(-4, 4)
//@ arg out: T[1, 1] poison
//@ arg scaled: T[1, 1] poison
//@ case: edges
//@ arg a: T[1, 12] list(0, -0.0, inf, -inf, nan, 1, -1, -2, -8, 2, 0.5, -0.5)
//@ arg b: T[1, 12] list(-1, -3, -1, 3, 0, nan, inf, 3, 0.5, inf, inf, -inf)
//@ arg out: T[1, 12] poison
//@ arg scaled: T[1, 12] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_powf<T: Float>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: f32,
    out: TensorMut<T, 2>,
    scaled: TensorMut<T, 2>,
) {
    let x = a.tile([0, 0], [32, 32]).load();
    out.tile([0, 0], [32, 32]).store(x.powf(b.tile([0, 0], [32, 32]).load()));
    scaled.tile([0, 0], [32, 32]).store(x.powf(T::of(c)));
}
