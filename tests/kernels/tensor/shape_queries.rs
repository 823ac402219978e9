//! `dim`, `dims` and `stride` of a tensor.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[3, 5, 7] uniform(0, 1) strides(100, 20, 2)
//@ arg out: i64[9] poison
//@ expect out: if i < 6 { if i % 3 == 0 { 3 } else { if i % 3 == 1 { 5 } else { 7 } } } else { if i == 6 { 100 } else { if i == 7 { 20 } else { 2 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn shape_queries(x: Tensor<f32, 3>, out: TensorMut<i64, 1>) {
    fn put(out: TensorMut<i64, 1>, at: i32, value: i64) {
        out.tile([at], [1]).store(full([1], value));
    }
    let [a, b, c] = x.dims();
    put(out, 0, x.dim(0) as i64);
    put(out, 1, x.dim(1) as i64);
    put(out, 2, x.dim(2) as i64);
    put(out, 3, a as i64);
    put(out, 4, b as i64);
    put(out, 5, c as i64);
    put(out, 6, x.stride(0));
    put(out, 7, x.stride(1));
    put(out, 8, x.stride(2));
}
