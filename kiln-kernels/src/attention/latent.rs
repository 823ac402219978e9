//! The kernels for latent attention: all heads see one head of keys, whose first 512 numbers are its values too.

#[kiln::kernel]
pub(crate) mod joined {
    use super::super::parts::items::{combined, leave, shared_tiles};
    use super::super::seen::items::{Change, LN_2, Seen};
    use super::super::softmax::items::Totals;
    use kiln::prelude::*;

    /// What a block computes: heads of one query.
    #[derive(Clone, Copy)]
    struct Task {
        sequence: i32,
        query: i32,
        /// The first of the heads.
        head: i32,
        seen: Seen,
        /// The blocks that share the keys.
        sharers: i32,
    }

    impl Task {
        /// Task `index` of blocks with `M` heads and `N` keys at a time.
        fn new<const M: i32, const N: i32>(
            index: i32,
            splits: i32,
            [queries, heads]: [i32; 2],
            lengths: Tensor<i32, 1>,
            most: i32,
            [left, right]: [i32; 2],
        ) -> Task {
            let pieces = cdiv(heads, M);
            let (head, query) = (M * (index % pieces), index / pieces % queries);
            let sequence = index / pieces / queries;
            let keys = lengths.tile([sequence], [1]).load().item().max(0).min(most);
            let seen = Seen { place: keys - queries + query, rows: 1, keys, left, right };
            let sharers = shared_tiles::<N>(seen, splits);
            Task { sequence, query, head, seen, sharers }
        }
    }

    /// The arguments that both kernels have besides the cache.
    struct Common<T: Float> {
        /// `[batch, queries, heads, 576]`.
        q: Tensor<T, 4>,
        table: Tensor<i32, 2>,
        lengths: Tensor<i32, 1>,
        slopes: Tensor<f32, 1>,
        /// `[batch, queries, heads, 512]`.
        out: TensorMut<T, 4>,
        lse: TensorMut<f32, 3>,
        /// `[tasks, splits, rows, 512]`, of as many rows as a block has heads.
        parts: TensorMut<f32, 4>,
        /// The largest scores and the totals: `[tasks, 2, rows, splits]`.
        tops: TensorMut<f32, 4>,
        tasks: i32,
        splits: i32,
        most: i32,
        left: i32,
        right: i32,
        scale: f32,
        inner: f32,
        unit: f32,
    }

    impl<T: Float> Common<T> {
        /// Stores results, or a part of them.
        fn finish<const M: i32>(&self, task: Task, acc: Tile<f32>, totals: Totals) {
            let (index, split) = (block_id(0) / self.splits, block_id(0) % self.splits);
            if task.sharers == 1 {
                let result = (acc * totals.share().expand(1)).cast::<T>();
                let logarithm = totals.log2(self.scale) * LN_2;
                let out = self.out.tile([task.sequence, task.query, task.head, 0], [1, 1, M, 512]);
                out.store(result.reshape([1, 1, M, 512]));
                let lse = self.lse.tile([task.sequence, task.head, task.query], [1, M, 1]);
                lse.store(logarithm.reshape([1, M, 1]));
            } else {
                leave::<M, 512>(acc, totals, self.parts, self.tops, [index, split]);
            }
        }
    }

    /// One block computes 64 heads of one query for a share of the keys of its sequence: two warpgroups multiply, and have half of the
    /// columns each. `cache` and `rest` are the same tensor, `[pages, page, 576]`.
    #[kernel(target = sm_90a, warps = 8, grid = common.tasks * common.splits, instances(T = [bf16, f16]))]
    pub fn decode_wide<T: Float>(
        common: Common<T>,
        #[block(1, 64, 512)] cache: TensorMap<T, 3>,
        #[block(1, 64, 64)] rest: TensorMap<T, 3>,
    ) {
        let (q, table) = (common.q, common.table);
        let (splits, scale) = (common.splits, common.scale);
        let (index, split) = (block_id(0) / splits, block_id(0) % splits);
        let extents = [q.dim(1), q.dim(2)];
        let reach = [common.left, common.right];
        let task = Task::new::<64, 64>(index, splits, extents, common.lengths, common.most, reach);
        if split >= task.sharers {
            return;
        }
        let (seen, page) = (task.seen, cache.dim(1));
        let (qs, qr) = (shared::<T>([64, 512]), shared::<T>([64, 64]));
        copy_async(q.tile([task.sequence, task.query, task.head, 0], [1, 1, 64, 512]), qs);
        copy_async(q.tile([task.sequence, task.query, task.head, 512], [1, 1, 64, 64]), qr);
        copy_async_wait_all();
        sync();
        let slope = common.slopes.tile([task.head], [64]).load() * common.unit;
        let sloped = common.slopes.dim(0) > 0;
        let change = Change { inner: common.inner, sloped, slope };
        let places = full::<i32>([64], seen.place);
        let (ks, kr) = (shared::<T>([64, 512]), shared::<T>([64, 64]));
        let ps = shared::<T>([64, 64]);
        let mut totals = Totals::none::<64>();
        let mut acc = zeros::<f32>([64, 512]);
        let from = seen.share::<64>(split, task.sharers);
        let to = seen.share::<64>(split + 1, task.sharers);
        for tile in pipeline(from..to, 2) {
            let at = 64 * tile;
            let number = table.tile([task.sequence, at / page], [1, 1]).load().item();
            // What is in the page after the last key is not a number, perhaps: zeros come in its place.
            let end = at % page + (seen.keys - at);
            copy_async(cache.slice((.., 0..end, ..)).at([number, at % page, 0]), ks);
            copy_async(rest.slice((.., 0..end, ..)).at([number, at % page, 512]), kr);
            let s = dot(qr, kr.t(), dot(qs, ks.t(), zeros::<f32>([64, 64])));
            let mut s = change.apply::<64>(s, places, at);
            if !seen.all::<64>(at) {
                s = seen.mask::<64>(s, places, at);
            }
            let (weights, shrink) = totals.weigh(s, scale);
            acc *= shrink.expand(1);
            // Each warpgroup has half of the keys of a row here, and needs all weights.
            ps.store(weights.cast::<T>());
            sync();
            acc = dot(ps, ks, acc);
        }
        common.finish::<64>(task, acc, totals);
    }

    /// The same of 16 heads, for GPUs from Ampere on.
    #[kernel(target = sm_80, warps = 4, grid = common.tasks * common.splits, instances(T = [bf16, f16]))]
    pub fn decode_narrow<T: Float>(common: Common<T>, cache: Tensor<T, 3>) {
        let (q, table) = (common.q, common.table);
        let (splits, scale) = (common.splits, common.scale);
        let (index, split) = (block_id(0) / splits, block_id(0) % splits);
        let extents = [q.dim(1), q.dim(2)];
        let reach = [common.left, common.right];
        let task = Task::new::<16, 32>(index, splits, extents, common.lengths, common.most, reach);
        if split >= task.sharers {
            return;
        }
        let (seen, page) = (task.seen, cache.dim(1));
        let (qs, qr) = (shared::<T>([16, 512]), shared::<T>([16, 64]));
        copy_async(q.tile([task.sequence, task.query, task.head, 0], [1, 1, 16, 512]), qs);
        copy_async(q.tile([task.sequence, task.query, task.head, 512], [1, 1, 16, 64]), qr);
        copy_async_wait_all();
        sync();
        let slope = common.slopes.tile([task.head], [16]).load() * common.unit;
        let sloped = common.slopes.dim(0) > 0;
        let change = Change { inner: common.inner, sloped, slope };
        let places = full::<i32>([16], seen.place);
        let (ks, kr) = (shared::<T>([32, 512]), shared::<T>([32, 64]));
        let ps = shared::<T>([16, 32]);
        let mut totals = Totals::none::<16>();
        let mut acc = zeros::<f32>([16, 512]);
        let from = seen.share::<32>(split, task.sharers);
        let to = seen.share::<32>(split + 1, task.sharers);
        for tile in pipeline(from..to, 2) {
            let at = 32 * tile;
            let number = table.tile([task.sequence, at / page], [1, 1]).load().item();
            let cache = cache.slice((.., 0..at % page + (seen.keys - at), ..));
            copy_async(cache.tile([number, at % page, 0], [1, 32, 512]), ks);
            copy_async(cache.tile([number, at % page, 512], [1, 32, 64]), kr);
            let s = dot(qr, kr.t(), dot(qs, ks.t(), zeros::<f32>([16, 32])));
            let mut s = change.apply::<32>(s, places, at);
            if !seen.all::<32>(at) {
                s = seen.mask::<32>(s, places, at);
            }
            let (weights, shrink) = totals.weigh(s, scale);
            acc *= shrink.expand(1);
            ps.store(weights.cast::<T>());
            sync();
            acc = dot(ps, ks, acc);
        }
        common.finish::<16>(task, acc, totals);
    }

    /// One block adds the parts of one row, of blocks with `M` heads and `N` keys at a time.
    #[kernel(target = sm_80, warps = 4, grid = tasks * rows, instances(T = [bf16, f16], (M, N) = [(64, 64), (16, 32)]))]
    pub fn combine<T: Float, const M: i32, const N: i32>(
        parts: Tensor<f32, 4>,
        tops: Tensor<f32, 4>,
        lengths: Tensor<i32, 1>,
        out: TensorMut<T, 4>,
        lse: TensorMut<f32, 3>,
        tasks: i32,
        rows: i32,
        most: i32,
        left: i32,
        right: i32,
        scale: f32,
    ) {
        let (index, row) = (block_id(0) / rows, block_id(0) % rows);
        let extents = [out.dim(1), out.dim(2)];
        let task = Task::new::<M, N>(index, parts.dim(1), extents, lengths, most, [left, right]);
        let head = task.head + row;
        if task.sharers == 1 || head >= out.dim(2) {
            return;
        }
        let (result, logarithm) = combined::<512, 8>(parts, tops, index, row, task.sharers, scale);
        out.tile([task.sequence, task.query, head, 0], [1, 1, 1, 512])
            .store(result.cast::<T>().reshape([1, 1, 1, 512]));
        lse.tile([task.sequence, head, task.query], [1, 1, 1]).store(full([1, 1, 1], logarithm));
    }
}
