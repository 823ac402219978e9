//! The kernel for Hopper: a warp copies, two warpgroups multiply.

#[kiln::kernel]
pub(crate) mod specialized {
    use super::super::seen::items::{Change, LEAST, LN_2, Seen, part};
    use super::super::softmax::items::Totals;
    use kiln::{Ring, prelude::*};

    /// One block computes 128 queries of one head: a warp copies keys and values, two warpgroups hold 64 queries each, and start the
    /// products of the next keys before they look at those of these.
    ///
    /// `CHANGED` is for soft caps and slopes. `scale` includes log2(e). Tensors without elements stand for what is absent: `offsets` and
    /// `key_offsets` of sequences one after the other, `slopes`, and `lse`.
    #[kernel(target = sm_90a, warps = 8, grid = blocks * q.dim(2) * batch,
             instances(T = [bf16, f16], (D, V, N) = [(64, 64, 128), (128, 128, 128), (192, 128, 128), (256, 256, 64)],
                       CHANGED = [false, true]))]
    pub fn forward<T: Float, const D: i32, const V: i32, const N: i32, const CHANGED: bool>(
        #[block(1, 128, 1, 64)] q: TensorMap<T, 4>,
        #[block(1, N, 1, 64)] k: TensorMap<T, 4>,
        #[block(1, N, 1, V)] v: TensorMap<T, 4>,
        #[block(1, 128, 1, 64)] out: TensorMapMut<T, 4>,
        lse: TensorMut<f32, 3>,
        offsets: Tensor<i32, 1>,
        key_offsets: Tensor<i32, 1>,
        slopes: Tensor<f32, 1>,
        blocks: i32,
        batch: i32,
        left: i32,
        right: i32,
        scale: f32,
        inner: f32,
        unit: f32,
    ) {
        let (head, sequence) = (block_id(0) / blocks % q.dim(2), block_id(0) / blocks / q.dim(2));
        let key_head = head / (q.dim(2) / k.dim(2));
        // The last queries see most keys: they come first.
        let start = 128 * (blocks - 1 - block_id(0) % blocks);
        // Where the sequence begins in its tensors, and ends.
        let mut plane = sequence;
        let (mut rows, mut key_rows) = ((0, q.dim(1)), (0, k.dim(1)));
        if offsets.dim(0) > 0 {
            plane = 0;
            rows = part(offsets, sequence, q.dim(1));
            key_rows = part(key_offsets, sequence, k.dim(1));
        }
        let ((from, to), (key_from, key_to)) = (rows, key_rows);
        let (queries, keys) = (to - from, key_to - key_from);
        if start >= queries {
            return;
        }
        let seen = Seen { place: start + keys - queries, rows: 128, keys, left, right };
        let (first, end) = (seen.first::<N>(), seen.end::<N>());
        let sloped = slopes.dim(0) > 0;
        let slope = slopes.tile([head], [1]).load().item() * unit;
        // Queries and keys are in pieces of 64 columns, of which heads may have three.
        let (qs, ks) = (shared::<T>([D / 64, 128, 64]), shared::<T>([2 * (D / 64), N, 64]));
        let vs = shared::<T>([2, N, V]);
        let (k_filled, k_free) = (barriers(2, 1), barriers(2, 1));
        let (v_filled, v_free) = (barriers(2, 1), barriers(2, 1));
        let begun = barrier(1);
        let out = out.slice((.., from..to, .., ..));
        let v = v.slice((.., key_from..key_to, .., ..));
        warp_specialize(
            || {
                let places = seen.place + arange(0, 128);
                let change = Change { inner, sloped, slope: full([128], slope) };
                begun.wait(0);
                k_filled[0].wait(0);
                let mut s = zeros::<f32>([128, N]);
                for c in unroll(0..D / 64) {
                    s = wgmma::mma(qs[c], ks[c].t(), s);
                }
                let s = wgmma::wait(0, s);
                k_free[0].arrive();
                // From the last keys to the first.
                let at = N * (end - 1);
                let s = if CHANGED { change.apply::<N>(s, places, at) } else { s };
                let s = seen.mask::<N>(s, places, at);
                let top = maximum(s.max(1), LEAST);
                let weights = fma(s, scale, (top * -scale).expand(1)).exp2_approx();
                let mut totals = Totals { top, total: weights.sum(1) };
                let mut p = weights.cast::<T>();
                let mut acc = zeros::<f32>([128, V]);
                // Where the next keys are, and the values of those before them.
                let (mut next, mut last) = (Ring::reader(2), Ring::reader(2));
                next.advance();
                let more = end - first - 1;
                if more > 0 {
                    k_filled[next.slot].wait(next.phase);
                }
                for i in 0..more {
                    let mut s = zeros::<f32>([128, N]);
                    for c in unroll(0..D / 64) {
                        s = wgmma::mma(qs[c], ks[next.slot * (D / 64) + c].t(), s);
                    }
                    v_filled[last.slot].wait(last.phase);
                    acc = wgmma::mma(p, vs[last.slot], acc);
                    s = wgmma::wait(1, s);
                    k_free[next.slot].arrive();
                    let at = N * (end - 2 - i);
                    if CHANGED {
                        s = change.apply::<N>(s, places, at);
                    }
                    if !seen.all::<N>(at) {
                        s = seen.mask::<N>(s, places, at);
                    }
                    let (weights, shrink) = totals.weigh(s, scale);
                    next.advance();
                    // Between the weights and the wait for the sums: what is computed before a wait in turns stays there, and runs while
                    // the tensor cores do.
                    if i + 1 < more {
                        k_filled[next.slot].wait(next.phase);
                    }
                    acc = wgmma::wait(0, acc);
                    v_free[last.slot].arrive();
                    acc = acc * shrink.expand(1);
                    p = weights.cast::<T>();
                    last.advance();
                }
                v_filled[last.slot].wait(last.phase);
                acc = wgmma::mma(p, vs[last.slot], acc);
                acc = wgmma::wait(0, acc);
                let result = (acc * totals.share().expand(1)).cast::<T>();
                // Windows end where the sequence does.
                let lse = lse.slice((.., .., from..to));
                let logarithm = totals.log2(scale);
                lse.tile([plane, head, start], [1, 1, 128])
                    .store((logarithm * LN_2).reshape([1, 1, 128]));
                sync(); // both groups have read their queries
                for c in unroll(0..V / 64) {
                    qs[c].store(result.slice((.., 64 * c..64 * c + 64)));
                }
                fence_async();
                for c in unroll(0..V / 64) {
                    tma::store(out, [plane, start, head, 64 * c], qs[c]);
                }
                tma::store_wait(0);
            },
            [partition(1).registers(40).run(|| {
                begun.expect(q.block_bytes() * (D / 64));
                for c in unroll(0..D / 64) {
                    tma::load(q, [plane, from + start, head, 64 * c], begun, qs[c]);
                }
                let mut ring = Ring::writer(2);
                for i in 0..end - first {
                    let at = N * (end - 1 - i);
                    k_free[ring.slot].wait(ring.phase);
                    k_filled[ring.slot].expect(k.block_bytes() * (D / 64));
                    for c in unroll(0..D / 64) {
                        let to = ks[ring.slot * (D / 64) + c];
                        let at = [plane, key_from + at, key_head, 64 * c];
                        tma::load(k, at, k_filled[ring.slot], to);
                    }
                    v_free[ring.slot].wait(ring.phase);
                    v_filled[ring.slot].expect(v.block_bytes());
                    tma::load(v, [plane, at, key_head, 0], v_filled[ring.slot], vs[ring.slot]);
                    ring.advance();
                }
            })],
        );
    }
}
