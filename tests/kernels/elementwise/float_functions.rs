//! Functions of floats in their usual range.
//@ run: eval, emulate, gpu
// At most 2 ulp of `f32`, as the documentation says. The half types add one rounding.
//@ compare: ulp=2
//@ arg a: T[500] uniform(-3, 3)
//@ arg out: T[7, 500] poison
//@ expect out: if i == 0 { exp(a(j)) } else { if i == 1 { exp2(a(j)) } else { if i == 2 { sin(a(j)) } else { if i == 3 { cos(a(j)) } else { if i == 4 { exp_m1(a(j)) } else { if i == 5 { cbrt(a(j)) } else { erfc(a(j)) } } } } } }
//@ case: near zero
//@ arg a: T[500] uniform(-0.001, 0.001)
//@ case: usual
//@ case: wider
//@ arg a: T[500] uniform(-90, 90)
//@ case: few
//@ arg a: T[1] uniform(-3, 3)
//@ arg out: T[7, 1] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_functions<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
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
}
