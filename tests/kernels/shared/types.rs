//! Store and load, straight and transposed, of every element type.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[32, 64] bits
//@ arg out: T[32, 64] poison
//@ arg turned: T[64, 32] poison
//@ expect out: x(i, j)
//@ expect turned: x(j, i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances(T = [bool, i8, i16, i32, i64, f16, bf16, f32, f64], W = [1, 4]))]
pub fn types<T: Scalar, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>, turned: TensorMut<T, 2>) {
    let s = shared::<T>([32, 64]);
    s.store(x.tile([0, 0], [32, 64]).load());
    sync();
    out.tile([0, 0], [32, 64]).store(s.load());
    turned.tile([0, 0], [64, 32]).store(s.t().load());
}
