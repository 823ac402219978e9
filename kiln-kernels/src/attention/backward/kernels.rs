//! The kernels that compute gradients.

#[kiln::kernel]
pub(crate) mod recomputed {
    use super::super::super::seen::items::{Seen, part};
    use super::super::weights::items::{
        ROWS, capped, gradients, masked, queries_of, rows_of_block, weights,
    };
    use kiln::{Ring, prelude::*};

    /// The arguments of all kernels, besides the tensors that TMA copies on Hopper.
    struct Common {
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

    /// What a block computes.
    #[derive(Clone, Copy)]
    struct Task {
        plane: i32,
        /// A head of queries, or of keys.
        head: i32,
        /// The first query or key of the block in its sequence.
        start: i32,
        /// Where the queries of the sequence begin and end, and its keys.
        from: i32,
        to: i32,
        key_from: i32,
        key_to: i32,
        /// Where the sums of its queries begin.
        begin: i32,
    }

    impl Task {
        fn queries(self) -> i32 {
            self.to - self.from
        }

        fn keys(self) -> i32 {
            self.key_to - self.key_from
        }

        /// The place of the first query of the sequence.
        fn shift(self) -> i32 {
            self.keys() - self.queries()
        }
    }

    impl Common {
        /// The task of a block with `N` keys. Tensors have so many queries and keys, of `heads` heads of keys.
        fn task_of_keys<const N: i32>(&self, [queries, keys, heads]: [i32; 3]) -> Task {
            let (piece, plane) = (block_id(0) % self.blocks, block_id(0) / self.blocks / heads);
            if self.offsets.dim(0) > 0 {
                let (sequence, start) = rows_of_block::<N>(self.key_offsets, keys, piece);
                self.task(sequence, heads, start, [queries, keys])
            } else {
                self.task(plane, heads, N * piece, [queries, keys])
            }
        }

        /// The task of a block with `M` queries. Tensors have so many queries and keys, of `heads` heads of queries.
        fn task_of_queries<const M: i32>(&self, [queries, keys, heads]: [i32; 3]) -> Task {
            // The last queries see most keys: they come first.
            let start = M * (self.blocks - 1 - block_id(0) % self.blocks);
            self.task(block_id(0) / self.blocks / heads, heads, start, [queries, keys])
        }

        fn task(&self, sequence: i32, heads: i32, start: i32, [queries, keys]: [i32; 2]) -> Task {
            let head = block_id(0) / self.blocks % heads;
            let (mut plane, mut begin) = (sequence, 0);
            let (mut rows, mut key_rows) = ((0, queries), (0, keys));
            if self.offsets.dim(0) > 0 {
                rows = part(self.offsets, sequence, queries);
                key_rows = part(self.key_offsets, sequence, keys);
                (plane, begin) = (0, ROWS * (rows.0 / ROWS + sequence));
            }
            let ((from, to), (key_from, key_to)) = (rows, key_rows);
            Task { plane, head, start, from, to, key_from, key_to, begin }
        }

        /// The window of keys that `rows` queries see, of which the first is at `place`.
        fn seen(&self, place: i32, rows: i32, keys: i32) -> Seen {
            Seen { place, rows, keys, left: self.left, right: self.right }
        }

        fn slope<const CHANGED: bool>(&self, head: i32) -> f32 {
            if CHANGED { self.slopes.tile([head], [1]).load().item() * self.unit } else { 0.0 }
        }

        fn inner<const CHANGED: bool>(&self) -> f32 {
            if CHANGED { self.inner } else { 0.0 }
        }
    }

    /// One block computes the gradients of 128 keys and values: a warp copies queries, and two warpgroups hold 64 keys each.
    ///
    /// `CHANGED` is for soft caps and slopes. `sums` is what `logarithms` and `prepare` left. If `ATOMIC`, the gradients of queries, without
    /// their factor, are added to `dq`, which has the rows of `sums`.
    #[kernel(target = sm_90a, warps = 8, grid = common.blocks * k.dim(2) * common.batch,
             instances(T = [bf16, f16], (D, M, CHANGED, ATOMIC) = [
                 (64, 64, false, false), (64, 64, true, false), (64, 64, false, true),
                 (128, 64, false, false), (128, 32, true, false), (128, 64, false, true)
             ]))]
    pub fn of_keys_specialized<
        T: Float,
        const D: i32,
        const M: i32,
        const CHANGED: bool,
        const ATOMIC: bool,
    >(
        #[block(1, M, 1, D)] q: TensorMap<T, 4>,
        #[block(1, 128, 1, D)] k: TensorMap<T, 4>,
        #[block(1, 128, 1, D)] v: TensorMap<T, 4>,
        #[block(1, M, 1, D)] d_out: TensorMap<T, 4>,
        #[block(2, 1, 1, M)] sums: TensorMap<f32, 4>,
        #[block(1, 128, 1, D)] dk: TensorMapMut<T, 4>,
        #[block(1, 128, 1, D)] dv: TensorMapMut<T, 4>,
        #[block(1, 1, M, D)] dq: TensorMapMut<f32, 4>,
        common: Common,
    ) {
        let task = common.task_of_keys::<128>([q.dim(1), k.dim(1), k.dim(2)]);
        let (plane, key_head, at, keys) = (task.plane, task.head, task.start, task.keys());
        if at >= keys {
            return;
        }
        let inner = common.inner::<CHANGED>();
        let queries = task.queries().min(common.longest);
        let reach = [common.left, common.right];
        let (first, end) = queries_of::<128, M>(at, [queries, keys], task.shift(), reach);
        let group = q.dim(2) / k.dim(2);
        // Those of other sequences are zeros.
        let q = q.slice((.., task.from..task.from + queries, .., ..));
        let d_out = d_out.slice((.., task.from..task.from + queries, .., ..));
        let dk = dk.slice((.., task.key_from..task.key_to, .., ..));
        let dv = dv.slice((.., task.key_from..task.key_to, .., ..));
        let (ks, vs) = (shared::<T>([1, 128, D]), shared::<T>([1, 128, D]));
        let (qs, ds) = (shared::<T>([2, M, D]), shared::<T>([2, M, D]));
        let of_queries = shared::<f32>([2, 2, M]);
        // Of the gradients of queries: gradients of products, and sums.
        let (staged, dq_staged) = (shared::<T>([1, 128, M]), shared::<f32>([M, D]));
        let (q_filled, q_free) = (barriers(2, 1), barriers(2, 1));
        let (d_filled, d_free) = (barriers(2, 1), barriers(2, 1));
        let begun = barrier(1);
        warp_specialize(
            || {
                let numbers = (at + arange(0, 128)).expand(1);
                let mut dk_sums = zeros::<f32>([128, D]);
                let mut dv_sums = zeros::<f32>([128, D]);
                let mut ring = Ring::reader(2);
                begun.wait(0);
                for i in 0..group {
                    let head = key_head * group + i;
                    let slope = common.slope::<CHANGED>(head);
                    for tile in first..end {
                        let (qs, ds) = (qs[ring.slot], ds[ring.slot]);
                        // The index is 0. The compiler does not know, and computes descriptors anew in place of holding them in registers,
                        // which there are too few of.
                        let (ks, vs, staged) =
                            (ks[ring.slot / 2], vs[ring.slot / 2], staged[ring.slot / 2]);
                        q_filled[ring.slot].wait(ring.phase);
                        // Keys are along the rows.
                        let s = wgmma::mma(ks, qs.t(), zeros::<f32>([128, M]));
                        d_filled[ring.slot].wait(ring.phase);
                        let of_these = of_queries[ring.slot];
                        let dp = wgmma::mma(vs, ds.t(), zeros::<f32>([128, M]));
                        let seen = common.seen(M * tile + task.shift(), M, keys);
                        let places = (seen.place + arange(0, M)).expand(0);
                        let s = capped(wgmma::wait(1, s), inner);
                        let all = seen.all::<128>(at);
                        let shown = masked(s, seen, slope, places, numbers, all);
                        let tops = of_these.tile([0, 0], [1, M]).load();
                        let p = weights(shown, common.scale, tops);
                        dv_sums = wgmma::mma(p.cast::<T>(), ds, dv_sums);
                        let dp = wgmma::wait(1, dp);
                        let deltas = of_these.tile([1, 0], [1, M]).load();
                        let gradients = gradients(s, p, dp - deltas, inner);
                        let gradients = gradients.cast::<T>();
                        if ATOMIC {
                            // Also waits until both groups have multiplied what is staged.
                            tma::store_wait(0);
                            staged.store(gradients);
                            fence_async();
                        }
                        dk_sums = wgmma::mma(gradients, qs, dk_sums);
                        dv_sums = wgmma::wait(1, dv_sums);
                        d_free[ring.slot].arrive();
                        if ATOMIC {
                            sync();
                            let sums = wgmma::mma(staged.t(), ks, zeros::<f32>([M, D]));
                            dk_sums = wgmma::wait(1, dk_sums);
                            q_free[ring.slot].arrive();
                            dq_staged.store(wgmma::wait(0, sums));
                            fence_async();
                            sync();
                            let row = task.begin + M * tile;
                            tma::reduce_add(dq, [plane, head, row.max(0), 0], dq_staged);
                        } else {
                            dk_sums = wgmma::wait(0, dk_sums);
                            q_free[ring.slot].arrive();
                        }
                        ring.advance();
                    }
                }
                sync(); // both groups have read their keys
                ks[0].store((dk_sums * common.factor).cast::<T>());
                vs[0].store(dv_sums.cast::<T>());
                fence_async();
                tma::store(dk, [plane, at, key_head, 0], ks[0]);
                tma::store(dv, [plane, at, key_head, 0], vs[0]);
                tma::store_wait(0);
            },
            [partition(1).registers(24).run(|| {
                begun.expect(k.block_bytes() + v.block_bytes());
                tma::load(k, [plane, task.key_from + at, key_head, 0], begun, ks[0]);
                tma::load(v, [plane, task.key_from + at, key_head, 0], begun, vs[0]);
                let mut ring = Ring::writer(2);
                for i in 0..group {
                    let head = key_head * group + i;
                    for tile in first..end {
                        let row = (M * tile).max(0);
                        let (q_filled, d_filled) = (q_filled[ring.slot], d_filled[ring.slot]);
                        q_free[ring.slot].wait(ring.phase);
                        q_filled.expect(q.block_bytes() + sums.block_bytes());
                        tma::load(q, [plane, row, head, 0], q_filled, qs[ring.slot]);
                        let of_these = of_queries[ring.slot];
                        tma::load(sums, [0, plane, head, task.begin + row], q_filled, of_these);
                        d_free[ring.slot].wait(ring.phase);
                        d_filled.expect(d_out.block_bytes());
                        tma::load(d_out, [plane, row, head, 0], d_filled, ds[ring.slot]);
                        ring.advance();
                    }
                }
            })],
        );
    }

    /// One block computes the gradients of 128 queries: a warp copies keys and values, and two warpgroups hold 64 queries each.
    #[kernel(target = sm_90a, warps = 8, grid = common.blocks * q.dim(2) * common.batch,
             instances(T = [bf16, f16], (D, N, CHANGED) = [(64, 128, false), (64, 64, true), (128, 128, false), (128, 64, true)]))]
    pub fn of_queries_specialized<T: Float, const D: i32, const N: i32, const CHANGED: bool>(
        #[block(1, 128, 1, D)] q: TensorMap<T, 4>,
        #[block(1, N, 1, D)] k: TensorMap<T, 4>,
        #[block(1, N, 1, D)] v: TensorMap<T, 4>,
        #[block(1, 128, 1, D)] d_out: TensorMap<T, 4>,
        #[block(1, 128, 1, D)] dq: TensorMapMut<T, 4>,
        sums: Tensor<f32, 4>,
        common: Common,
    ) {
        let task = common.task_of_queries::<128>([q.dim(1), k.dim(1), q.dim(2)]);
        let (plane, head, start) = (task.plane, task.head, task.start);
        if start >= task.queries() {
            return;
        }
        let key_head = head / (q.dim(2) / k.dim(2));
        let inner = common.inner::<CHANGED>();
        let seen = common.seen(start + task.shift(), 128, task.keys());
        let (first, end) = (seen.first::<N>(), seen.end::<N>());
        let slope = common.slope::<CHANGED>(head);
        // Those of other sequences are zeros.
        let k = k.slice((.., task.key_from..task.key_to, .., ..));
        let v = v.slice((.., task.key_from..task.key_to, .., ..));
        let dq = dq.slice((.., task.from..task.to, .., ..));
        let (qs, ds) = (shared::<T>([1, 128, D]), shared::<T>([1, 128, D]));
        let (ks, vs) = (shared::<T>([2, N, D]), shared::<T>([2, N, D]));
        let (k_filled, k_free) = (barriers(2, 1), barriers(2, 1));
        let (v_filled, v_free) = (barriers(2, 1), barriers(2, 1));
        let begun = barrier(1);
        warp_specialize(
            || {
                let places = (seen.place + arange(0, 128)).expand(1);
                let of_these = |i: i32| {
                    let sums =
                        sums.tile([i, plane, head, task.begin + start], [1, 1, 1, 128]).load();
                    sums.reshape([128]).expand(1)
                };
                let (tops, deltas) = (of_these(0), of_these(1));
                let mut dq_sums = zeros::<f32>([128, D]);
                let mut ring = Ring::reader(2);
                begun.wait(0);
                for tile in first..end {
                    let (ks, vs) = (ks[ring.slot], vs[ring.slot]);
                    // As in `of_keys_specialized`.
                    let (qs, ds) = (qs[ring.slot / 2], ds[ring.slot / 2]);
                    k_filled[ring.slot].wait(ring.phase);
                    let s = wgmma::mma(qs, ks.t(), zeros::<f32>([128, N]));
                    v_filled[ring.slot].wait(ring.phase);
                    let dp = wgmma::mma(ds, vs.t(), zeros::<f32>([128, N]));
                    let s = capped(wgmma::wait(1, s), inner);
                    let at = N * tile;
                    let numbers = (at + arange(0, N)).expand(0);
                    let shown = masked(s, seen, slope, places, numbers, seen.all::<N>(at));
                    let p = weights(shown, common.scale, tops);
                    let dp = wgmma::wait(0, dp);
                    v_free[ring.slot].arrive();
                    let gradients = gradients(s, p, dp - deltas, inner);
                    dq_sums = wgmma::mma(gradients.cast::<T>(), ks, dq_sums);
                    dq_sums = wgmma::wait(0, dq_sums);
                    k_free[ring.slot].arrive();
                    ring.advance();
                }
                sync(); // both groups have read their queries
                qs[0].store((dq_sums * common.factor).cast::<T>());
                fence_async();
                tma::store(dq, [plane, start, head, 0], qs[0]);
                tma::store_wait(0);
            },
            [partition(1).registers(24).run(|| {
                begun.expect(q.block_bytes() + d_out.block_bytes());
                tma::load(q, [plane, task.from + start, head, 0], begun, qs[0]);
                tma::load(d_out, [plane, task.from + start, head, 0], begun, ds[0]);
                let mut ring = Ring::writer(2);
                for tile in first..end {
                    let at = (N * tile).max(0);
                    let (k_filled, v_filled) = (k_filled[ring.slot], v_filled[ring.slot]);
                    k_free[ring.slot].wait(ring.phase);
                    k_filled.expect(k.block_bytes());
                    tma::load(k, [plane, at, key_head, 0], k_filled, ks[ring.slot]);
                    v_free[ring.slot].wait(ring.phase);
                    v_filled.expect(v.block_bytes());
                    tma::load(v, [plane, at, key_head, 0], v_filled, vs[ring.slot]);
                    ring.advance();
                }
            })],
        );
    }

    /// One block computes the gradients of `N` keys and values, from all queries that see them.
    ///
    /// `sums` is what `logarithms` and `prepare` left.
    #[kernel(target = sm_80, warps = 4, grid = common.blocks * k.dim(2) * common.batch,
             instances(T = [bf16, f16], (D, N, M) = [(64, 64, 32), (128, 64, 32), (256, 32, 16)]))]
    pub fn of_keys_pipelined<T: Float, const D: i32, const N: i32, const M: i32>(
        q: Tensor<T, 4>,
        k: Tensor<T, 4>,
        v: Tensor<T, 4>,
        d_out: Tensor<T, 4>,
        sums: Tensor<f32, 4>,
        dk: TensorMut<T, 4>,
        dv: TensorMut<T, 4>,
        common: Common,
    ) {
        let task = common.task_of_keys::<N>([q.dim(1), k.dim(1), k.dim(2)]);
        let (plane, key_head, at, keys) = (task.plane, task.head, task.start, task.keys());
        if at >= keys {
            return;
        }
        let inner = common.inner;
        let queries = task.queries().min(common.longest);
        let q = q.slice((.., task.from..task.from + queries, .., ..));
        let d_out = d_out.slice((.., task.from..task.from + queries, .., ..));
        let k = k.slice((.., task.key_from..task.key_to, .., ..));
        let v = v.slice((.., task.key_from..task.key_to, .., ..));
        let (ks, vs) = (shared::<T>([N, D]), shared::<T>([N, D]));
        copy_async(k.tile([plane, at, key_head, 0], [1, N, 1, D]), ks);
        copy_async(v.tile([plane, at, key_head, 0], [1, N, 1, D]), vs);
        copy_async_wait_all();
        sync();
        let (qs, ds) = (shared::<T>([M, D]), shared::<T>([M, D]));
        let of_these = shared::<f32>([2, M]);
        let reach = [common.left, common.right];
        let (first, end) = queries_of::<N, M>(at, [queries, keys], task.shift(), reach);
        let (tiles, group) = (end - first, q.dim(2) / k.dim(2));
        let numbers = (at + arange(0, N)).expand(1);
        let mut dk_sums = zeros::<f32>([N, D]);
        let mut dv_sums = zeros::<f32>([N, D]);
        for i in pipeline(0..group * tiles, 2) {
            let head = key_head * group + i / tiles;
            let row = M * (first + i % tiles);
            copy_async(q.tile([plane, row, head, 0], [1, M, 1, D]), qs);
            copy_async(d_out.tile([plane, row, head, 0], [1, M, 1, D]), ds);
            copy_async(sums.tile([0, plane, head, task.begin + row], [2, 1, 1, M]), of_these);
            let seen = common.seen(row + task.shift(), M, keys);
            let places = (seen.place + arange(0, M)).expand(0);
            // Keys are along the rows.
            let s = capped(dot(ks, qs.t(), zeros::<f32>([N, M])), inner);
            let slope = common.slope::<true>(head);
            let shown = masked(s, seen, slope, places, numbers, seen.all::<N>(at));
            let p = weights(shown, common.scale, of_these.tile([0, 0], [1, M]).load());
            let deltas = of_these.tile([1, 0], [1, M]).load();
            let dp = dot(vs, ds.t(), zeros::<f32>([N, M])) - deltas;
            dv_sums = dot(p.cast::<T>(), ds, dv_sums);
            dk_sums = dot(gradients(s, p, dp, inner).cast::<T>(), qs, dk_sums);
        }
        let dk = dk.slice((.., task.key_from..task.key_to, .., ..));
        let dv = dv.slice((.., task.key_from..task.key_to, .., ..));
        let result = (dk_sums * common.factor).cast::<T>();
        dk.tile([plane, at, key_head, 0], [1, N, 1, D]).store(result.reshape([1, N, 1, D]));
        let result = dv_sums.cast::<T>();
        dv.tile([plane, at, key_head, 0], [1, N, 1, D]).store(result.reshape([1, N, 1, D]));
    }

    /// One block computes the gradients of `M` queries, from all keys that they see.
    #[kernel(target = sm_80, warps = 4, grid = common.blocks * q.dim(2) * common.batch,
             instances(T = [bf16, f16], (D, M, N) = [(64, 64, 64), (128, 64, 32), (256, 64, 16)]))]
    pub fn of_queries_pipelined<T: Float, const D: i32, const M: i32, const N: i32>(
        q: Tensor<T, 4>,
        k: Tensor<T, 4>,
        v: Tensor<T, 4>,
        d_out: Tensor<T, 4>,
        sums: Tensor<f32, 4>,
        dq: TensorMut<T, 4>,
        common: Common,
    ) {
        let task = common.task_of_queries::<M>([q.dim(1), k.dim(1), q.dim(2)]);
        let (plane, head, start) = (task.plane, task.head, task.start);
        if start >= task.queries() {
            return;
        }
        let key_head = head / (q.dim(2) / k.dim(2));
        let inner = common.inner;
        let seen = common.seen(start + task.shift(), M, task.keys());
        let q = q.slice((.., task.from..task.to, .., ..));
        let d_out = d_out.slice((.., task.from..task.to, .., ..));
        let k = k.slice((.., task.key_from..task.key_to, .., ..));
        let v = v.slice((.., task.key_from..task.key_to, .., ..));
        let (qs, ds) = (shared::<T>([M, D]), shared::<T>([M, D]));
        copy_async(q.tile([plane, start, head, 0], [1, M, 1, D]), qs);
        copy_async(d_out.tile([plane, start, head, 0], [1, M, 1, D]), ds);
        copy_async_wait_all();
        sync();
        let of_these = |i: i32| {
            let sums = sums.tile([i, plane, head, task.begin + start], [1, 1, 1, M]).load();
            sums.reshape([M]).expand(1)
        };
        let (tops, deltas) = (of_these(0), of_these(1));
        let places = (seen.place + arange(0, M)).expand(1);
        let slope = common.slope::<true>(head);
        let (ks, vs) = (shared::<T>([N, D]), shared::<T>([N, D]));
        let mut dq_sums = zeros::<f32>([M, D]);
        for tile in pipeline(seen.first::<N>()..seen.end::<N>(), 2) {
            let at = N * tile;
            copy_async(k.tile([plane, at, key_head, 0], [1, N, 1, D]), ks);
            copy_async(v.tile([plane, at, key_head, 0], [1, N, 1, D]), vs);
            let s = capped(dot(qs, ks.t(), zeros::<f32>([M, N])), inner);
            let numbers = (at + arange(0, N)).expand(0);
            let shown = masked(s, seen, slope, places, numbers, seen.all::<N>(at));
            let p = weights(shown, common.scale, tops);
            let dp = dot(ds, vs.t(), zeros::<f32>([M, N])) - deltas;
            dq_sums = dot(gradients(s, p, dp, inner).cast::<T>(), ks, dq_sums);
        }
        let dq = dq.slice((.., task.from..task.to, .., ..));
        let result = (dq_sums * common.factor).cast::<T>();
        dq.tile([plane, start, head, 0], [1, M, 1, D]).store(result.reshape([1, M, 1, D]));
    }
}
