//! The kernels for GPUs from Ampere on: the compiler pipelines the copies.

#[kiln::kernel]
pub(crate) mod pipelined {
    use super::super::super::seen::items::{Seen, part};
    use super::super::weights::items::{
        ROWS, Weights, capped, gradients, queries_of, rows_of_block,
    };
    use kiln::prelude::*;

    /// The arguments of both kernels.
    struct Common<T: Float> {
        q: Tensor<T, 4>,
        k: Tensor<T, 4>,
        v: Tensor<T, 4>,
        d_out: Tensor<T, 4>,
        /// What `prepare` left: `[2, batch, heads, rows]`.
        sums: Tensor<f32, 4>,
        /// Tensors without elements stand for what is absent.
        offsets: Tensor<i32, 1>,
        key_offsets: Tensor<i32, 1>,
        slopes: Tensor<f32, 1>,
        /// Blocks for each head of a plane of the batch, and the planes.
        blocks: i32,
        batch: i32,
        /// Queries of a sequence, at most.
        longest: i32,
        left: i32,
        right: i32,
        scale: f32,
        inner: f32,
        unit: f32,
        /// Of the gradients of products.
        factor: f32,
    }

    impl<T: Float> Common<T> {
        fn slope(&self, head: i32) -> f32 {
            self.slopes.tile([head], [1]).load().item() * self.unit
        }
    }

    /// One block computes the gradients of `N` keys and values, from all queries that see them.
    #[kernel(target = sm_80, warps = W, grid = common.blocks * common.k.dim(2) * common.batch,
             instances(T = [bf16, f16], (D, N, M, W) = [(64, 64, 32, 4), (128, 64, 32, 4), (256, 32, 16, 4)]))]
    pub fn of_keys<T: Float, const D: i32, const N: i32, const M: i32, const W: i32>(
        common: Common<T>,
        dk: TensorMut<T, 4>,
        dv: TensorMut<T, 4>,
    ) {
        let (q, k, v, d_out) = (common.q, common.k, common.v, common.d_out);
        let (blocks, inner) = (common.blocks, common.inner);
        let key_head = block_id(0) / blocks % k.dim(2);
        let (mut plane, mut at) = (block_id(0) / blocks / k.dim(2), N * (block_id(0) % blocks));
        let (mut rows, mut key_rows) = ((0, q.dim(1)), (0, k.dim(1)));
        // Where the sums of the sequence begin.
        let mut begin = 0;
        if common.offsets.dim(0) > 0 {
            plane = 0;
            let slot = block_id(0) % blocks;
            let (sequence, first) = rows_of_block::<N>(common.key_offsets, k.dim(1), slot);
            at = first;
            rows = part(common.offsets, sequence, q.dim(1));
            begin = ROWS * (rows.0 / ROWS + sequence);
            key_rows = part(common.key_offsets, sequence, k.dim(1));
        }
        let ((from, to), (key_from, key_to)) = (rows, key_rows);
        let (queries, keys) = (to - from, key_to - key_from);
        if at >= keys {
            return;
        }
        let shift = keys - queries;
        let queries = queries.min(common.longest);
        let q = q.slice((.., from..from + queries, .., ..));
        let d_out = d_out.slice((.., from..from + queries, .., ..));
        let k = k.slice((.., key_from..key_to, .., ..));
        let v = v.slice((.., key_from..key_to, .., ..));

        let (ks, vs) = (shared::<T>([N, D]), shared::<T>([N, D]));
        copy_async(k.tile([plane, at, key_head, 0], [1, N, 1, D]), ks);
        copy_async(v.tile([plane, at, key_head, 0], [1, N, 1, D]), vs);
        copy_async_wait_all();
        sync();
        let (qs, ds) = (shared::<T>([M, D]), shared::<T>([M, D]));
        let (tops, deltas) = (shared::<f32>([M]), shared::<f32>([M]));
        let reach = [common.left, common.right];
        let (first, end) = queries_of::<N, M>(at, [queries, keys], shift, reach);
        let (tiles, group) = (end - first, q.dim(2) / k.dim(2));
        let numbers = (at + arange(0, N)).expand(1);
        let mut dk_sums = zeros::<f32>([N, D]);
        let mut dv_sums = zeros::<f32>([N, D]);
        for i in pipeline(0..group * tiles, 2) {
            let head = key_head * group + i / tiles;
            let row = M * (first + i % tiles);
            copy_async(q.tile([plane, row, head, 0], [1, M, 1, D]), qs);
            copy_async(d_out.tile([plane, row, head, 0], [1, M, 1, D]), ds);
            copy_async(common.sums.tile([0, plane, head, begin + row], [1, 1, 1, M]), tops);
            copy_async(common.sums.tile([1, plane, head, begin + row], [1, 1, 1, M]), deltas);
            let seen = Seen { place: row + shift, rows: M, keys, left: reach[0], right: reach[1] };
            let places = (seen.place + arange(0, M)).expand(0);
            let weights = Weights { seen, slope: common.slope(head), scale: common.scale };
            // Keys are along the rows.
            let s = capped(dot(ks, qs.t(), zeros::<f32>([N, M])), inner);
            let all = seen.all::<N>(at);
            let p = weights.of(s, tops.load().expand(0), places, numbers, all);
            let dp = dot(vs, ds.t(), zeros::<f32>([N, M]));
            dv_sums = dot(p.cast::<T>(), ds, dv_sums);
            let gradients = gradients(s, p, dp, deltas.load().expand(0), inner);
            dk_sums = dot(gradients.cast::<T>(), qs, dk_sums);
        }
        let dk = dk.slice((.., key_from..key_to, .., ..));
        let dv = dv.slice((.., key_from..key_to, .., ..));
        let result = (dk_sums * common.factor).cast::<T>();
        dk.tile([plane, at, key_head, 0], [1, N, 1, D]).store(result.reshape([1, N, 1, D]));
        let result = dv_sums.cast::<T>();
        dv.tile([plane, at, key_head, 0], [1, N, 1, D]).store(result.reshape([1, N, 1, D]));
    }

    /// One block computes the gradients of `M` queries, from all keys that they see.
    #[kernel(target = sm_80, warps = W, grid = common.blocks * common.q.dim(2) * common.batch,
             instances(T = [bf16, f16], (D, M, N, W) = [(64, 64, 64, 4), (128, 64, 32, 4), (256, 64, 16, 4)]))]
    pub fn of_queries<T: Float, const D: i32, const M: i32, const N: i32, const W: i32>(
        common: Common<T>,
        dq: TensorMut<T, 4>,
    ) {
        let (q, k, v, d_out) = (common.q, common.k, common.v, common.d_out);
        let (blocks, inner) = (common.blocks, common.inner);
        let (head, sequence) = (block_id(0) / blocks % q.dim(2), block_id(0) / blocks / q.dim(2));
        let key_head = head / (q.dim(2) / k.dim(2));
        // The last queries see most keys: they come first.
        let start = M * (blocks - 1 - block_id(0) % blocks);
        let mut plane = sequence;
        let (mut rows, mut key_rows) = ((0, q.dim(1)), (0, k.dim(1)));
        // Where the sums of the sequence begin.
        let mut begin = 0;
        if common.offsets.dim(0) > 0 {
            plane = 0;
            rows = part(common.offsets, sequence, q.dim(1));
            key_rows = part(common.key_offsets, sequence, k.dim(1));
            begin = ROWS * (rows.0 / ROWS + sequence);
        }
        let ((from, to), (key_from, key_to)) = (rows, key_rows);
        let (queries, keys) = (to - from, key_to - key_from);
        if start >= queries {
            return;
        }
        let place = start + keys - queries;
        let seen = Seen { place, rows: M, keys, left: common.left, right: common.right };
        let q = q.slice((.., from..to, .., ..));
        let d_out = d_out.slice((.., from..to, .., ..));
        let k = k.slice((.., key_from..key_to, .., ..));
        let v = v.slice((.., key_from..key_to, .., ..));

        let (qs, ds) = (shared::<T>([M, D]), shared::<T>([M, D]));
        copy_async(q.tile([plane, start, head, 0], [1, M, 1, D]), qs);
        copy_async(d_out.tile([plane, start, head, 0], [1, M, 1, D]), ds);
        copy_async_wait_all();
        sync();
        let sums = |i: i32| {
            let sums = common.sums.tile([i, plane, head, begin + start], [1, 1, 1, M]).load();
            sums.reshape([M]).expand(1)
        };
        let (top, delta) = (sums(0), sums(1));
        let places = (place + arange(0, M)).expand(1);
        let weights = Weights { seen, slope: common.slope(head), scale: common.scale };
        let (ks, vs) = (shared::<T>([N, D]), shared::<T>([N, D]));
        let mut dq_sums = zeros::<f32>([M, D]);
        for tile in pipeline(seen.first::<N>()..seen.end::<N>(), 2) {
            let at = N * tile;
            copy_async(k.tile([plane, at, key_head, 0], [1, N, 1, D]), ks);
            copy_async(v.tile([plane, at, key_head, 0], [1, N, 1, D]), vs);
            let s = capped(dot(qs, ks.t(), zeros::<f32>([M, N])), inner);
            let numbers = (at + arange(0, N)).expand(0);
            let p = weights.of(s, top, places, numbers, seen.all::<N>(at));
            let dp = dot(ds, vs.t(), zeros::<f32>([M, N]));
            let gradients = gradients(s, p, dp, delta, inner);
            dq_sums = dot(gradients.cast::<T>(), ks, dq_sums);
        }
        let dq = dq.slice((.., from..to, .., ..));
        let result = (dq_sums * common.factor).cast::<T>();
        dq.tile([plane, start, head, 0], [1, M, 1, D]).store(result.reshape([1, M, 1, D]));
    }
}
