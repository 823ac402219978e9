//! Softmax of rows of any width: a running maximum, the sum rescaled when it grows.
//@ run: eval, emulate, gpu
//@ no-spill
// As for rows that fit a tile, with one more product for each piece of a row.
//@ compare: rtol=4e-6
//@ case: several pieces
//@ arg x: f32[3, 1000] uniform(-8, 8)
//@ arg out: f32[3, 1000] poison
//@ case: one piece
//@ arg x: f32[2, 100] uniform(-8, 8)
//@ arg out: f32[2, 100] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(N = [256]))]
pub fn softmax_wide<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let mut top = full::<f32>([1, 1], f32::MIN);
    let mut total = zeros::<f32>([1, 1]);
    for at in range(0, x.dim(1), N) {
        let inside = (at + arange(0, N)).expand(0).lt(x.dim(1));
        let v = select(inside, x.tile([row, at], [1, N]).load(), f32::NEG_INFINITY);
        let new = maximum(top, v.max(1).expand(1));
        total = total * (top - new).exp() + (v - new).exp().sum(1).expand(1);
        top = new;
    }
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load();
        out.tile([row, at], [1, N]).store((v - top).exp() / total);
    }
}
