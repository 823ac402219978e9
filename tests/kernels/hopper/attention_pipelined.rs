//! Flash attention: keys and values come by tensor map in a pipelined loop, warpgroups multiply them where they lie, and weights
//! from registers.
//@ run: eval, emulate, gpu
// Weights are rounded before the second product: 2^-9 of each of up to 72 terms below 1 for bf16, in the mean of values below 1,
// plus the rounding of the result.
//@ compare: atol=1e-2
//@ arg q: T[2, 72, 64] uniform(-1, 1)
//@ arg k: T[2, 72, 64] uniform(-1, 1)
//@ arg v: T[2, 72, 64] uniform(-1, 1)
//@ arg scale: f32 scalar 0.18
//@ arg out: T[2, 72, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = [cdiv(q.dim(1), BM), q.dim(0)],
         instances((T, BM, CAUSAL) = [(f16, 64, true), (bf16, 128, false)], BN = [32], D = [64]))]
pub fn attention_pipelined<T: Float, const BM: i32, const CAUSAL: bool, const BN: i32, const D: i32>(
    #[block(1, BM, D)] q: TensorMap<T, 3>,
    #[block(1, BN, D)] k: TensorMap<T, 3>,
    #[block(1, BN, D)] v: TensorMap<T, 3>,
    scale: f32,
    out: TensorMut<T, 3>,
) {
    let (start, head) = (block_id(0) * BM, block_id(1));
    let qs = shared::<T>([BM, D]);
    let ready = barrier(1);
    ready.expect(q.block_bytes());
    tma::load(q, [head, start, 0], ready, qs);
    ready.wait(0);

    let mut top = full::<f32>([BM], f32::MIN);
    let mut total = zeros::<f32>([BM]);
    let mut acc = zeros::<f32>([BM, D]);
    let end = if CAUSAL { (start + BM).min(k.dim(1)) } else { k.dim(1) };
    let (ks, vs) = (shared::<T>([BN, D]), shared::<T>([BN, D]));
    for at in pipeline(range(0, end, BN), 2) {
        copy_async(k.at([head, at, 0]), ks);
        copy_async(v.at([head, at, 0]), vs);
        let mut s = dot(qs, ks.t(), zeros::<f32>([BM, BN])) * scale;
        let cols = at + arange(0, BN).expand(0);
        if CAUSAL {
            let rows = start + arange(0, BM).expand(1);
            s = select(cols.le(rows), s, f32::MIN);
        }
        s = select(cols.lt(k.dim(1)), s, f32::MIN);

        let new_top = maximum(top, s.max(1));
        let shrink = (top - new_top).exp2_approx();
        let p = (s - new_top.expand(1)).exp2_approx();
        total = total * shrink + p.sum(1);
        acc = dot(p.cast::<T>(), vs, acc * shrink.expand(1));
        top = new_top;
    }
    let result = (acc / total.expand(1)).cast::<T>();
    out.tile([head, start, 0], [1, BM, D]).store(result.reshape([1, BM, D]));
}
