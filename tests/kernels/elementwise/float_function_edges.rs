//! What the functions give of zeros, infinities, NaN, and beyond their range.
//@ run: eval, emulate, gpu
//@ compare: rtol=2e-6 ulp=1
//@ arg a: T[8] list(0, inf, -inf, nan, -1000, 1000, -1, 1)
//@ arg out: T[5, 8] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1, instances(T = [f16, bf16, f32]))]
pub fn float_function_edges<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 8]).store(x.expand(0));
    }
    let a = a.tile([0], [8]).load();
    put(out, 0, a.exp());
    put(out, 1, a.exp2());
    put(out, 2, a.log());
    put(out, 3, a.log2());
    put(out, 4, a.rsqrt());
}
