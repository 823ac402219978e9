//! Softmax of rows that fit a tile.
//@ run: eval, emulate, gpu
//@ no-spill
// The argument of exp2 is rounded: up to 16 * log2(e) = 23, so 23 * 2^-24 * ln 2 = 1e-6 relative. The sum of up to 256 terms in
// another order adds 8 roundings, exp2 and the quotient some more: 16 * 2^-24 = 1e-6. The half type adds one rounding of its own.
//@ compare f32: rtol=3e-6
//@ compare bf16: ulp=1 rtol=3e-6
//@ case: whole rows
//@ arg x: T[5, 256] uniform(-8, 8)
//@ arg out: T[5, 256] poison
//@ case: narrow
//@ arg x: T[3, 77] uniform(-8, 8)
//@ arg out: T[3, 77] poison
//@ case: one column
//@ arg x: T[2, 1] uniform(-8, 8)
//@ arg out: T[2, 1] poison
//@ expect out: 1
//@ case: strided
//@ arg x: T[3, 100] uniform(-8, 8) strides(128, 1) offset(1)
//@ arg out: T[3, 100] poison strides(1, 3)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = x.dim(0), instances(T = [bf16, f32], (N, W) = [(256, 1), (1024, 4)]))]
pub fn softmax<T: Float, const N: i32, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = block_id(0);
    let inside = arange(0, N).expand(0).lt(x.dim(1));
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>();
    let v = select(inside, v, f32::NEG_INFINITY);
    let p = (v - v.max(1).expand(1)).exp();
    let p = p / p.sum(1).expand(1);
    out.tile([row, 0], [1, N]).store(p.cast::<T>());
}
