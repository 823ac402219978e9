//! The kernels for few queries: single warps read keys and values from pages.

#[kiln::kernel]
pub(crate) mod paged {
    use super::super::parts::items::{combined, leave, shared_tiles};
    use super::super::seen::items::{Change, LN_2, Seen};
    use super::super::softmax::items::Totals;
    use kiln::prelude::*;

    /// The rows of a product: queries that see one head of keys, of each query one row after the other for its heads.
    pub(crate) const ROWS: i32 = 16;
    /// Keys of one iteration. Pages have a multiple of them.
    pub(crate) const KEYS: i32 = 16;
    /// What a block computes.
    #[derive(Clone, Copy)]
    struct Task {
        sequence: i32,
        key_head: i32,
        /// Heads of queries that see one head of keys.
        group: i32,
        /// The first of its rows.
        row: i32,
        queries: i32,
        seen: Seen,
        /// The blocks that share its keys.
        sharers: i32,
    }

    impl Task {
        fn new(
            index: i32,
            splits: i32,
            [queries, heads, key_heads]: [i32; 3],
            lengths: Tensor<i32, 1>,
            most: i32,
            [left, right]: [i32; 2],
        ) -> Task {
            let group = heads / key_heads;
            let pieces = cdiv(group * queries, ROWS);
            let row = ROWS * (index % pieces);
            let key_head = index / pieces % key_heads;
            let sequence = index / pieces / key_heads;
            let keys = lengths.tile([sequence], [1]).load().item().max(0).min(most);
            let last = (row + (ROWS - 1)).min(group * queries - 1) / group;
            let (place, rows) = (keys - queries + row / group, last - row / group + 1);
            let seen = Seen { place, rows, keys, left, right };
            let sharers = shared_tiles::<KEYS>(seen, splits);
            Task { sequence, key_head, group, row, queries, seen, sharers }
        }

        /// The query and the head of a row. Of rows after the last one, the query is after the last one too.
        fn of_row(self, row: i32) -> (i32, i32) {
            let row = self.row + row;
            (row / self.group, self.key_head * self.group + row % self.group)
        }
    }

    /// One warp computes up to 16 rows for a share of the keys of a sequence. The results of a single share are stored; otherwise the sums
    /// and, in `tops`, the largest scores and the totals of each row are left to `combine`.
    ///
    /// `q` and `out` are `[batch, queries, heads, dim]`, keys and values `[pages, page, key heads, dim]`. `parts` is `[tasks, splits,
    /// rows, dim]`, and `tops` `[tasks, 2, rows, splits]`.
    #[kernel(target = sm_80, warps = 1, grid = tasks * splits,
             instances(T = [bf16, f16], (D, STAGES) = [(64, 8), (128, 4), (256, 3)]))]
    pub fn decode<T: Float, const D: i32, const STAGES: i32>(
        q: Tensor<T, 4>,
        keys: Tensor<T, 4>,
        values: Tensor<T, 4>,
        table: Tensor<i32, 2>,
        lengths: Tensor<i32, 1>,
        slopes: Tensor<f32, 1>,
        out: TensorMut<T, 4>,
        lse: TensorMut<f32, 3>,
        parts: TensorMut<f32, 4>,
        tops: TensorMut<f32, 4>,
        tasks: i32,
        splits: i32,
        most: i32,
        left: i32,
        right: i32,
        scale: f32,
        inner: f32,
        unit: f32,
    ) {
        let (index, split) = (block_id(0) / splits, block_id(0) % splits);
        let (page, key_heads) = (keys.dim(1), keys.dim(2));
        let extents = [q.dim(1), q.dim(2), key_heads];
        let task = Task::new(index, splits, extents, lengths, most, [left, right]);
        if split >= task.sharers {
            return;
        }
        let seen = task.seen;
        let qs = shared::<T>([ROWS, D]);
        for row in unroll(0..ROWS) {
            let (query, head) = task.of_row(row);
            copy_async(
                q.tile([task.sequence, query, head, 0], [1, 1, 1, D]),
                qs.tile([row, 0], [1, D]),
            );
        }
        copy_async_wait_all();
        sync();
        let queries = qs.load();
        let rows = task.row + arange(0, ROWS);
        let places = (seen.place - task.row / task.group) + rows / task.group;
        let of_rows = shared::<f32>([ROWS]);
        let sloped = slopes.dim(0) > 0;
        for row in unroll(0..ROWS) {
            let (_, head) = task.of_row(row);
            of_rows.tile([row], [1]).store(slopes.tile([head], [1]).load() * unit);
        }
        sync();
        let change = Change { inner, sloped, slope: of_rows.load() };
        let (ks, vs) = (shared::<T>([KEYS, D]), shared::<T>([KEYS, D]));
        let mut totals = Totals::none::<ROWS>();
        let mut acc = zeros::<f32>([ROWS, D]);
        let from = seen.share::<KEYS>(split, task.sharers);
        let to = seen.share::<KEYS>(split + 1, task.sharers);
        for tile in pipeline(from..to, STAGES) {
            let at = KEYS * tile;
            let number = table.tile([task.sequence, at / page], [1, 1]).load().item();
            copy_async(keys.tile([number, at % page, task.key_head, 0], [1, KEYS, 1, D]), ks);
            // What is in the page after the last key is not a number, perhaps: zeros come in its place.
            let filled = values.slice((.., 0..at % page + (seen.keys - at), .., ..));
            copy_async(filled.tile([number, at % page, task.key_head, 0], [1, KEYS, 1, D]), vs);
            // Registers have no room for queries of 256 numbers beside as many sums.
            let s = if D < 256 {
                dot(queries, ks.t(), zeros::<f32>([ROWS, KEYS]))
            } else {
                dot(qs, ks.t(), zeros::<f32>([ROWS, KEYS]))
            };
            let mut s = change.apply::<KEYS>(s, places, at);
            if !seen.all::<KEYS>(at) {
                s = seen.mask::<KEYS>(s, places, at);
            }
            let (weights, shrink) = totals.weigh(s, scale);
            acc = dot(weights.cast::<T>(), vs, acc * shrink.expand(1));
        }
        if task.sharers == 1 {
            qs.store((acc * totals.share().expand(1)).cast::<T>());
            of_rows.store(totals.log2(scale) * LN_2);
            sync();
            for row in unroll(0..ROWS) {
                let (query, head) = task.of_row(row);
                let result = qs.tile([row, 0], [1, D]).load();
                out.tile([task.sequence, query, head, 0], [1, 1, 1, D])
                    .store(result.reshape([1, 1, 1, D]));
                let logarithm = of_rows.tile([row], [1]).load();
                lse.tile([task.sequence, head, query], [1, 1, 1])
                    .store(logarithm.reshape([1, 1, 1]));
            }
        } else {
            leave::<ROWS, D>(acc, totals, parts, tops, [index, split]);
        }
    }

    /// One block adds the parts of one row, in the order of their keys.
    #[kernel(target = sm_80, warps = 4, grid = tasks * rows,
             instances(T = [bf16, f16], (D, N) = [(64, 64), (128, 32), (256, 16)]))]
    pub fn combine<T: Float, const D: i32, const N: i32>(
        parts: Tensor<f32, 4>,
        tops: Tensor<f32, 4>,
        lengths: Tensor<i32, 1>,
        out: TensorMut<T, 4>,
        lse: TensorMut<f32, 3>,
        tasks: i32,
        rows: i32,
        key_heads: i32,
        most: i32,
        left: i32,
        right: i32,
        scale: f32,
    ) {
        let (index, row) = (block_id(0) / rows, block_id(0) % rows);
        let extents = [out.dim(1), out.dim(2), key_heads];
        let task = Task::new(index, parts.dim(1), extents, lengths, most, [left, right]);
        let (query, head) = task.of_row(row);
        if task.sharers == 1 || query >= task.queries {
            return;
        }
        let (result, logarithm) = combined::<D, N>(parts, tops, index, row, task.sharers, scale);
        out.tile([task.sequence, query, head, 0], [1, 1, 1, D])
            .store(result.cast::<T>().reshape([1, 1, 1, D]));
        lse.tile([task.sequence, head, query], [1, 1, 1]).store(full([1, 1, 1], logarithm));
    }
}
