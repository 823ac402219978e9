//! Attention, out = softmax(q · kᵀ · scale) · v, as an op of candle's with a gradient. The weights are never in memory, neither
//! forward nor backward.

use candle_core::Tensor;
use half::bf16;
use kernels::{attention, attention_dkv, attention_dq};
use kiln_candle::{Arg, Backward, Call, Error, Forward, Op, Result, match_dtype, run};

mod kernels {
    use kiln::prelude::*;

    /// One block computes `BM` rows of one head, `BN` keys at a time. `lse` is log2 of the sum that the weights are divided by, with
    /// the maximum that is taken off their exponents; it is what the backward kernels make the weights of anew.
    ///
    /// Tensors are batch × heads × sequence × `D`, with any strides; `D` is padded where the tensors have fewer columns.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(q.dim(2), BM), q.dim(1), q.dim(0)],
             instances(T = [f32, bf16], (BM, BN, D) = [(32, 32, 32), (32, 32, 64)]))]
    pub(super) fn attention<T: Float, const BM: i32, const BN: i32, const D: i32>(
        q: Tensor<T, 4>,
        k: Tensor<T, 4>,
        v: Tensor<T, 4>,
        scale: f32,
        causal: bool,
        out: TensorMut<T, 4>,
        lse: TensorMut<f32, 3>,
    ) {
        let (start, head, batch) = (block_id(0) * BM, block_id(1), block_id(2));
        let qs = q.tile([batch, head, start, 0], [1, 1, BM, D]).load().reshape([BM, D]);
        let rows = (start + arange(0, BM)).expand(1);
        let mut top = full::<f32>([BM], f32::MIN);
        let mut total = zeros::<f32>([BM]);
        let mut acc = zeros::<f32>([BM, D]);
        let end = if causal { (start + BM).min(k.dim(2)) } else { k.dim(2) };
        for at in range(0, end, BN) {
            let ks = k.tile([batch, head, at, 0], [1, 1, BN, D]).load().reshape([BN, D]);
            let vs = v.tile([batch, head, at, 0], [1, 1, BN, D]).load().reshape([BN, D]);
            // In powers of two: log2(e) goes with the scale.
            let s = dot(qs, ks.t(), zeros::<f32>([BM, BN])) * (scale * 1.442_695);
            let columns = (at + arange(0, BN)).expand(0);
            let s = select(columns.lt(k.dim(2)), s, f32::MIN);
            let s = if causal { select(columns.le(rows), s, f32::MIN) } else { s };
            let new_top = maximum(top, s.max(1));
            let shrink = (top - new_top).exp2_approx();
            let p = (s - new_top.expand(1)).exp2_approx();
            total = total * shrink + p.sum(1);
            acc = dot(p.cast::<T>(), vs, acc * shrink.expand(1));
            top = new_top;
        }
        let result = (acc / total.expand(1)).cast::<T>();
        out.tile([batch, head, start, 0], [1, 1, BM, D]).store(result.reshape([1, 1, BM, D]));
        lse.tile([batch, head, start], [1, 1, BM]).store((top + total.log2()).reshape([1, 1, BM]));
    }

    /// dq = ds · k · scale, where ds = p · (g · vᵀ - Σ g · out): one block has `BM` queries of one head.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(q.dim(2), BM), q.dim(1), q.dim(0)],
             instances(T = [f32, bf16], (BM, BN, D) = [(32, 32, 32), (32, 32, 64)]))]
    pub(super) fn attention_dq<T: Float, const BM: i32, const BN: i32, const D: i32>(
        q: Tensor<T, 4>,
        k: Tensor<T, 4>,
        v: Tensor<T, 4>,
        out: Tensor<T, 4>,
        lse: Tensor<f32, 3>,
        g: Tensor<T, 4>,
        scale: f32,
        causal: bool,
        dq: TensorMut<T, 4>,
    ) {
        let (start, head, batch) = (block_id(0) * BM, block_id(1), block_id(2));
        let at_rows = [batch, head, start, 0];
        let qs = q.tile(at_rows, [1, 1, BM, D]).load().reshape([BM, D]);
        let gs = g.tile(at_rows, [1, 1, BM, D]).load().reshape([BM, D]);
        let outs = out.tile(at_rows, [1, 1, BM, D]).load().reshape([BM, D]);
        let delta = (gs.cast::<f32>() * outs.cast::<f32>()).sum(1).expand(1);
        let sums = lse.tile([batch, head, start], [1, 1, BM]).load().reshape([BM, 1]);
        let rows = (start + arange(0, BM)).expand(1);
        let mut acc = zeros::<f32>([BM, D]);
        let end = if causal { (start + BM).min(k.dim(2)) } else { k.dim(2) };
        for at in range(0, end, BN) {
            let ks = k.tile([batch, head, at, 0], [1, 1, BN, D]).load().reshape([BN, D]);
            let vs = v.tile([batch, head, at, 0], [1, 1, BN, D]).load().reshape([BN, D]);
            let s = dot(qs, ks.t(), zeros::<f32>([BM, BN])) * (scale * 1.442_695);
            let columns = (at + arange(0, BN)).expand(0);
            let p = (s - sums).exp2_approx();
            let p = if causal { select(columns.le(rows), p, 0.0) } else { p };
            // Keys past the end are zeros, and add nothing whatever their weights are.
            let ds = p * (dot(gs, vs.t(), zeros::<f32>([BM, BN])) - delta);
            acc = dot(ds.cast::<T>(), ks, acc);
        }
        dq.tile(at_rows, [1, 1, BM, D]).store((acc * scale).cast::<T>().reshape([1, 1, BM, D]));
    }

    /// dv = pᵀ · g and dk = dsᵀ · q · scale: one block has `BN` keys of one head.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(k.dim(2), BN), k.dim(1), k.dim(0)],
             instances(T = [f32, bf16], (BM, BN, D) = [(32, 32, 32), (32, 32, 64)]))]
    pub(super) fn attention_dkv<T: Float, const BM: i32, const BN: i32, const D: i32>(
        q: Tensor<T, 4>,
        k: Tensor<T, 4>,
        v: Tensor<T, 4>,
        out: Tensor<T, 4>,
        lse: Tensor<f32, 3>,
        g: Tensor<T, 4>,
        scale: f32,
        causal: bool,
        dk: TensorMut<T, 4>,
        dv: TensorMut<T, 4>,
    ) {
        let (start, head, batch) = (block_id(0) * BN, block_id(1), block_id(2));
        let at_keys = [batch, head, start, 0];
        let ks = k.tile(at_keys, [1, 1, BN, D]).load().reshape([BN, D]);
        let vs = v.tile(at_keys, [1, 1, BN, D]).load().reshape([BN, D]);
        let columns = (start + arange(0, BN)).expand(0);
        let mut dk_acc = zeros::<f32>([BN, D]);
        let mut dv_acc = zeros::<f32>([BN, D]);
        // The first queries that see one of these keys.
        let first = if causal { start / BM * BM } else { 0 };
        for at in range(first, q.dim(2), BM) {
            let at_rows = [batch, head, at, 0];
            let qs = q.tile(at_rows, [1, 1, BM, D]).load().reshape([BM, D]);
            let gs = g.tile(at_rows, [1, 1, BM, D]).load().reshape([BM, D]);
            let outs = out.tile(at_rows, [1, 1, BM, D]).load().reshape([BM, D]);
            let delta = (gs.cast::<f32>() * outs.cast::<f32>()).sum(1).expand(1);
            let sums = lse.tile([batch, head, at], [1, 1, BM]).load().reshape([BM, 1]);
            let s = dot(qs, ks.t(), zeros::<f32>([BM, BN])) * (scale * 1.442_695);
            let rows = (at + arange(0, BM)).expand(1);
            // Queries past the end have gradients of zero, so that it does not matter what their weights are.
            let p = (s - sums).exp2_approx();
            let p = if causal { select(columns.le(rows), p, 0.0) } else { p };
            let ds = p * (dot(gs, vs.t(), zeros::<f32>([BM, BN])) - delta);
            dv_acc = dot(p.cast::<T>().t(), gs, dv_acc);
            dk_acc = dot(ds.cast::<T>().t(), qs, dk_acc);
        }
        let dk_out = (dk_acc * scale).cast::<T>();
        dk.tile(at_keys, [1, 1, BN, D]).store(dk_out.reshape([1, 1, BN, D]));
        dv.tile(at_keys, [1, 1, BN, D]).store(dv_acc.cast::<T>().reshape([1, 1, BN, D]));
    }
}

/// Attention of q, k and v, each batch × heads × sequence × head; a head has up to 64 elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub(crate) scale: f32,
    /// Whether a query sees the keys up to its own place alone.
    pub(crate) causal: bool,
}

impl Op<3> for Attention {
    const NAME: &'static str = "attention";
    const TARGETS: &'static [kiln::Target] = attention::TARGETS;

    fn forward(&self, call: &Call, [q, k, v]: [Arg<'_>; 3]) -> Result<Forward> {
        require_shapes(q.dims(), k.dims(), v.dims())?;
        let Self { scale, causal } = *self;
        match_dtype!(q, T in [f32, bf16] => {
            let (queries, k, v) = (q.view::<T, 4>()?, k.view::<T, 4>()?, v.view::<T, 4>()?);
            let [batch, heads, sequence, width] = queries.shape();
            let mut out = call.empty(queries.shape())?;
            let mut lse = call.empty([batch, heads, sequence])?;
            let args = attention::Args {
                q: &queries, k: &k, v: &v, scale, causal, out: &mut out, lse: &mut lse,
            };
            let launch = match width {
                0..=32 => attention::<T, 32, 32, 32>(args),
                _ => attention::<T, 32, 32, 64>(args),
            };
            launch.launch(call.stream())?;
            let lse = lse.finish((batch, heads, sequence))?;
            Ok(Forward::saving(out.finish(q.shape())?, [lse]))
        })
    }

    fn backward(&self, step: &Backward<'_, 3>) -> Result<[Option<Tensor>; 3]> {
        let ([q, k, v], [lse]) = (step.inputs, step.saved()?);
        let Self { scale, causal } = *self;
        let gradients = run(
            "attention, backward",
            attention_dq::TARGETS,
            [q, k, v, step.output, lse, step.gradient],
            |call, [q, k, v, out, lse, g]| {
                match_dtype!(q, T in [f32, bf16] => {
                    let (qs, ks, vs) = (q.view::<T, 4>()?, k.view::<T, 4>()?, v.view::<T, 4>()?);
                    let (out, g) = (out.view::<T, 4>()?, g.view::<T, 4>()?);
                    let lse = lse.view::<f32, 3>()?;
                    let mut dq = call.empty(qs.shape())?;
                    let mut dk = call.empty(ks.shape())?;
                    let mut dv = call.empty(vs.shape())?;
                    let narrow = qs.shape()[3] <= 32;
                    let args = attention_dq::Args {
                        q: &qs, k: &ks, v: &vs, out: &out, lse: &lse, g: &g, scale, causal, dq: &mut dq,
                    };
                    let launch = if narrow {
                        attention_dq::<T, 32, 32, 32>(args)
                    } else {
                        attention_dq::<T, 32, 32, 64>(args)
                    };
                    launch.launch(call.stream())?;
                    let args = attention_dkv::Args {
                        q: &qs, k: &ks, v: &vs, out: &out, lse: &lse, g: &g, scale, causal,
                        dk: &mut dk, dv: &mut dv,
                    };
                    let launch = if narrow {
                        attention_dkv::<T, 32, 32, 32>(args)
                    } else {
                        attention_dkv::<T, 32, 32, 64>(args)
                    };
                    launch.launch(call.stream())?;
                    Ok([dq.finish(q.shape())?, dk.finish(k.shape())?, dv.finish(v.shape())?])
                })
            },
        )?;
        Ok(gradients.map(Some))
    }
}

fn require_shapes(q: &[usize], k: &[usize], v: &[usize]) -> Result<()> {
    let refused = || {
        let shapes = format!("queries {q:?}, keys {k:?}, values {v:?}");
        Error::Candle(candle_core::Error::msg(format!(
            "attention: {shapes}; each is batch, heads, sequence, head, with a head of 1 to 64 elements, \
             and keys and values differ from queries in the sequence alone"
        )))
    };
    let (&[batch, heads, _, width], &[k_batch, k_heads, _, k_width]) = (q, k) else {
        return Err(refused());
    };
    let alike = (batch, heads, width) == (k_batch, k_heads, k_width) && k == v;
    if alike && (1..=64).contains(&width) { Ok(()) } else { Err(refused()) }
}
