//! Functions that are exact or correctly rounded: sign, absolute value, floor, ceil, square root.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: T[512] edges(0)
//@ arg out: T[5, 512] poison
//@ case: edges
//@ case: random bits
//@ arg a: T[512] bits
//@ case: small
//@ arg a: T[512] uniform(-4, 4)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64]))]
pub fn float_exact<T: Float>(a: Tensor<T, 1>, out: TensorMut<T, 2>) {
    fn put<T: Float>(out: TensorMut<T, 2>, row: i32, x: Tile<T>) {
        out.tile([row, 0], [1, 512]).store(x.expand(0));
    }
    let a = a.tile([0], [512]).load();
    put(out, 0, -a);
    put(out, 1, a.abs());
    put(out, 2, a.floor());
    put(out, 3, a.ceil());
    put(out, 4, a.sqrt());
}
