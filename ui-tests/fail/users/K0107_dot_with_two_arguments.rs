// Triton: An attention step: the weights of 64 queries for 64 keys. `tl.dot(q, k)` without an accumulator: here `dot` takes it as its third argument.
// RIGHT: let s = dot(qs, ks.t(), zeros::<f32>([64, 64])) * scale;
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(q.dim(0), 64), cdiv(k.dim(0), 64)])]
pub fn attention_weights(q: Tensor<f16, 2>, k: Tensor<f16, 2>, top: Tensor<f32, 1>, scale: f32, p: TensorMut<f16, 2>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let qs = q.tile([row, 0], [64, 64]).load();
    let ks = k.tile([column, 0], [64, 64]).load();
    let s = dot(qs, ks.t()) * scale;
    let cols = column + arange(0, 64).expand(0);
    let s = select(cols.lt(k.dim(0)), s, f32::NEG_INFINITY);
    let e = (s - top.tile([row], [64]).load().expand(1)).exp();
    p.tile([row, column], [64, 64]).store(e.cast::<f16>());
}

fn main() {}
