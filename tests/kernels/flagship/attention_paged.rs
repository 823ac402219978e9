//! Attention of the newest queries of several sequences, sixteen heads each, to keys and values in the pages of a table; a window of the newest
//! pages is seen, and the first page. The pages come while the ones before are multiplied.
//@ run: eval, emulate, gpu
// Weights are rounded to f16 before the second product: 2^-11 of each of up to 96 terms below 1, in the mean of values below 1, plus the
// rounding of the result.
//@ compare: atol=1.5e-3
//@ arg q: f16[4, 16, 32] uniform(-1, 1)
//@ arg keys: f16[8, 16, 32] uniform(-1, 1)
//@ arg values: f16[8, 16, 32] uniform(-1, 1)
//@ arg table: i32[4, 6] list(3, 7, 0, 2, 6, 1, 5, 5, 4)
//@ arg lengths: i32[4] list(1, 96, 16, 50)
//@ arg scale: f32 scalar 0.25
//@ arg out: f16[4, 16, 32] poison
//@ case: all pages
//@ arg seen: i32 scalar 6
//@ case: the newest two
//@ arg seen: i32 scalar 2
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = q.dim(0), instances(STAGES = [2, 4]))]
#[expect(clippy::too_many_arguments, reason = "attention has as many")]
pub fn attention_paged<const STAGES: i32>(
    q: Tensor<f16, 3>,
    keys: Tensor<f16, 3>,
    values: Tensor<f16, 3>,
    table: Tensor<i32, 2>,
    lengths: Tensor<i32, 1>,
    seen: i32,
    scale: f32,
    out: TensorMut<f16, 3>,
) {
    let sequence = block_id(0);
    let length = load(lengths.ptr() + sequence);
    let pages = table.ptr() + sequence * table.dim(1);
    let count = cdiv(length, 16);
    let queries = q.tile([sequence, 0, 0], [1, 16, 32]).load().reshape([16, 32]);
    let (ks, vs) = (shared::<f16>([16, 32]), shared::<f16>([16, 32]));
    let mut top = full::<f32>([16], f32::MIN);
    let mut total = zeros::<f32>([16]);
    let mut acc = zeros::<f32>([16, 32]);
    for k in pipeline(0..count, STAGES) {
        if k == 0 || k >= count - seen {
            let page = load(pages + k);
            copy_async(keys.tile([page, 0, 0], [1, 16, 32]), ks);
            copy_async(values.tile([page, 0, 0], [1, 16, 32]), vs);
            let s = dot(queries, ks.t(), zeros::<f32>([16, 16])) * scale;
            let token = k * 16 + arange(0, 16).expand(0);
            let s = select(token.lt(length), s, f32::MIN);
            let new_top = maximum(top, s.max(1));
            let shrink = (top - new_top).exp2_approx();
            let p = (s - new_top.expand(1)).exp2_approx();
            total = total * shrink + p.sum(1);
            acc = dot(p.cast::<f16>(), vs, acc * shrink.expand(1));
            top = new_top;
        }
    }
    let result = (acc / total.expand(1)).cast::<f16>();
    out.tile([sequence, 0, 0], [1, 16, 32]).store(result.reshape([1, 16, 32]));
}
