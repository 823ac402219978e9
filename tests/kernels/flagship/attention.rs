//! Flash attention of one head, with a causal mask.
//@ run: eval, emulate, gpu
// Probabilities are rounded to f16 before the second product: 2^-11 of each of up to 48 terms below 1, in the mean of values
// below 1, plus the rounding of the result.
//@ compare: atol=1.5e-3
//@ case: whole
//@ arg q: f16[32, 32] uniform(-1, 1)
//@ arg k: f16[32, 32] uniform(-1, 1)
//@ arg v: f16[32, 32] uniform(-1, 1)
//@ arg out: f16[32, 32] poison
//@ case: ragged
//@ arg q: f16[45, 32] uniform(-1, 1)
//@ arg k: f16[45, 32] uniform(-1, 1)
//@ arg v: f16[45, 32] uniform(-1, 1)
//@ arg out: f16[45, 32] poison
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = cdiv(q.dim(0), M), instances((M, N, W) = [(32, 16, 2), (16, 32, 1)], D = [32]))]
pub fn attention<const M: i32, const N: i32, const W: i32, const D: i32>(
    q: Tensor<f16, 2>,
    k: Tensor<f16, 2>,
    v: Tensor<f16, 2>,
    out: TensorMut<f16, 2>,
) {
    let m = block_id(0) * M;
    let q = q.tile([m, 0], [M, D]).load();
    let mut acc = zeros::<f32>([M, D]);
    let mut top = full([M], -1e30);
    let mut total = zeros::<f32>([M]);
    let rows = m + arange(0, M);
    for n in range(0, minimum_of(m + M, k.dim(0)), N) {
        let keys = k.tile([n, 0], [N, D]).load();
        let scores = dot(q, keys.t(), zeros::<f32>([M, N])) * 0.25;
        let columns = n + arange(0, N);
        let keep = columns.expand(0).le(rows.expand(1));
        let scores = select(keep, scores, -1e30);
        let new = maximum(top, scores.max(1));
        let p = (scores - new.expand(1)).exp_approx();
        let shrink = (top - new).exp_approx();
        total = total * shrink + p.sum(1);
        acc = dot(p.cast::<f16>(), v.tile([n, 0], [N, D]).load(), acc * shrink.expand(1));
        top = new;
    }
    out.tile([m, 0], [M, D]).store((acc / total.expand(1)).cast::<f16>());

    fn minimum_of(a: i32, b: i32) -> i32 {
        if a < b { a } else { b }
    }
}
