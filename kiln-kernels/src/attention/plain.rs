//! The kernel for GPUs from Ampere on: the compiler pipelines the copies.

#[kiln::kernel]
pub(crate) mod pipelined {
    use super::super::seen::items::{Change, LN_2, Seen, part};
    use super::super::softmax::items::Totals;
    use kiln::prelude::*;

    /// One block computes 64 queries of one head, while the next keys and values are copied.
    ///
    /// The arguments are those of `specialized::forward`.
    #[kernel(target = sm_80, warps = 4, grid = blocks * q.dim(2) * batch,
             instances(T = [bf16, f16], (D, V, N) = [(64, 64, 64), (128, 128, 64), (256, 128, 32), (256, 256, 32)]))]
    pub fn forward<T: Float, const D: i32, const V: i32, const N: i32>(
        q: Tensor<T, 4>,
        k: Tensor<T, 4>,
        v: Tensor<T, 4>,
        out: TensorMut<T, 4>,
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
        let start = 64 * (blocks - 1 - block_id(0) % blocks);
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
        let seen = Seen { place: start + keys - queries, rows: 64, keys, left, right };
        let sloped = slopes.dim(0) > 0;
        let slope = slopes.tile([head], [1]).load().item() * unit;
        let places = seen.place + arange(0, 64);
        let change = Change { inner, sloped, slope: full([64], slope) };
        let q = q.slice((.., from..to, .., ..));
        let k = k.slice((.., key_from..key_to, .., ..));
        let v = v.slice((.., key_from..key_to, .., ..));
        let out = out.slice((.., from..to, .., ..));
        let lse = lse.slice((.., .., from..to));

        let qs = shared::<T>([64, D]);
        copy_async(q.tile([plane, start, head, 0], [1, 64, 1, D]), qs);
        copy_async_wait_all();
        sync();
        let (ks, vs) = (shared::<T>([N, D]), shared::<T>([N, V]));
        let mut totals = Totals::none::<64>();
        let mut acc = zeros::<f32>([64, V]);
        for tile in pipeline(seen.first::<N>()..seen.end::<N>(), 2) {
            let at = N * tile;
            copy_async(k.tile([plane, at, key_head, 0], [1, N, 1, D]), ks);
            copy_async(v.tile([plane, at, key_head, 0], [1, N, 1, V]), vs);
            let s = dot(qs, ks.t(), zeros::<f32>([64, N]));
            let mut s = change.apply::<N>(s, places, at);
            if !seen.all::<N>(at) {
                s = seen.mask::<N>(s, places, at);
            }
            let (weights, shrink) = totals.weigh(s, scale);
            acc = dot(weights.cast::<T>(), vs, acc * shrink.expand(1));
        }
        let result = (acc * totals.share().expand(1)).cast::<T>();
        out.tile([plane, start, head, 0], [1, 64, 1, V]).store(result.reshape([1, 64, 1, V]));
        let logarithm = totals.log2(scale) * LN_2;
        lse.tile([plane, head, start], [1, 1, 64]).store(logarithm.reshape([1, 1, 64]));
    }
}
