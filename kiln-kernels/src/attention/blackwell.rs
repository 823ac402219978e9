//! The kernel for data-centre Blackwell: a warp copies, a warp starts products, two warpgroups compute weights.

#[kiln::kernel]
pub(crate) mod tensor_memory {
    use super::super::seen::items::{Change, LN_2, Seen, part};
    use super::super::softmax::items::Totals;
    use kiln::{Ring, prelude::*};

    /// Keys of a tile.
    const N: i32 = 128;
    /// Sums are corrected, and scores changed, so many columns at a time.
    const WIDTH: i32 = 32;
    /// By how much the largest score may grow, in powers of two, before sums are corrected: weights are at most 256 then, which f16 holds.
    const RISE: f32 = 8.0;

    /// One head of queries of one sequence, and its keys.
    struct Block<T: Float> {
        q: TensorMap<T, 4>,
        k: TensorMap<T, 4>,
        v: TensorMap<T, 4>,
        out: TensorMapMut<T, 4>,
        lse: TensorMut<f32, 3>,
        slopes: Tensor<f32, 1>,
        plane: i32,
        head: i32,
        key_head: i32,
        /// Where the sequence begins in its tensors.
        from: i32,
        key_from: i32,
        /// The first query, and how many there are from it on.
        start: i32,
        queries: i32,
        /// What the queries of the block see.
        seen: Seen,
        /// Queries and keys are in pieces of 64 columns.
        qs: Shared<T>,
        ks: Shared<T>,
        vs: Shared<T>,
        /// Scores of each tile, whose columns then have weights, and sums of values.
        scores: Tmem<f32>,
        sums: Tmem<f32>,
        q_filled: Barriers,
        k_filled: Barriers,
        k_free: Barriers,
        v_filled: Barriers,
        v_free: Barriers,
        /// Scores are there; the two halves of their weights are; the weights are in the sums.
        scored: Barriers,
        weighed: Barriers,
        summed: Barriers,
    }

    impl<T: Float> Block<T> {
        /// What a tile of queries sees.
        fn seen(&self, tile: i32) -> Seen {
            let mut seen = self.seen;
            seen.place += 128 * tile;
            seen.rows = 128;
            seen
        }

        /// The weights of a tile of queries, in the first columns of its scores.
        fn weights(&self, tile: i32) -> Tmem<T> {
            self.scores[tile].view::<T>([128, N])
        }

        /// The tiles of keys of a tile of queries: one past the last, and how many. None without queries.
        fn keys(&self, tile: i32) -> (i32, i32) {
            let seen = self.seen(tile);
            let end = seen.end::<N>();
            let count = if 128 * tile < self.queries { end - seen.first::<N>() } else { 0 };
            (end, count)
        }

        /// The same of all queries.
        fn all_keys(&self) -> (i32, i32) {
            let end = self.seen.end::<N>();
            (end, end - self.seen.first::<N>())
        }

        /// Fills the rings, from the last keys to the first.
        fn load<const D: i32>(&self) {
            for tile in unroll(0..2) {
                if 128 * tile < self.queries {
                    let filled = self.q_filled[tile];
                    filled.expect(self.q.block_bytes() * (D / 64));
                    for c in unroll(0..D / 64) {
                        let at =
                            [self.plane, self.from + self.start + 128 * tile, self.head, 64 * c];
                        tma::load(self.q, at, filled, self.qs[tile * (D / 64) + c]);
                    }
                }
            }
            let mut ring = Ring::writer(2);
            let (end, count) = self.all_keys();
            for i in 0..count {
                let at = N * (end - 1 - i);
                let (k_filled, v_filled) = (self.k_filled[ring.slot], self.v_filled[ring.slot]);
                self.k_free[ring.slot].wait(ring.phase);
                k_filled.expect(self.k.block_bytes() * (D / 64));
                for c in unroll(0..D / 64) {
                    let place = [self.plane, self.key_from + at, self.key_head, 64 * c];
                    tma::load(self.k, place, k_filled, self.ks[ring.slot * (D / 64) + c]);
                }
                self.v_free[ring.slot].wait(ring.phase);
                v_filled.expect(self.v.block_bytes());
                tma::load(self.v, [self.plane, at, self.key_head, 0], v_filled, self.vs[ring.slot]);
                ring.advance();
            }
        }

        /// Starts the products: in each turn those of weights and values, and those of the next keys. Weights lie where scores did, so the
        /// next scores wait until these weights are in the sums; meanwhile the other tile's weights are computed.
        fn multiply<const D: i32, const V: i32>(&self) {
            let (mut keys, mut values) = (Ring::reader(2), Ring::reader(2));
            let (end, count) = self.all_keys();
            for i in -1..count {
                let more = i + 1 < count;
                if more {
                    self.k_filled[keys.slot].wait(keys.phase);
                }
                if i >= 0 {
                    self.v_filled[values.slot].wait(values.phase);
                }
                for tile in unroll(0..2) {
                    // The same tiles of keys, counted by this tile of queries.
                    let (my_end, my_count) = self.keys(tile);
                    let mine = i - (end - my_end);
                    if mine >= 0 && mine < my_count {
                        let (weights, values) = (self.weights(tile), self.vs[values.slot]);
                        for half in unroll(0..2) {
                            self.weighed[2 * tile + half].wait(mine & 1);
                            let weights = weights.tile([0, half * N / 2], [128, N / 2]);
                            let values = values.tile([half * N / 2, 0], [N / 2, V]);
                            tcgen05::mma(weights, values, self.sums[tile])
                                .accumulate(mine > 0 || half > 0);
                        }
                        tcgen05::commit(self.summed[tile]);
                        self.summed[tile].wait(mine & 1);
                    }
                    if mine + 1 >= 0 && mine + 1 < my_count {
                        self.q_filled[tile].wait(0);
                        for c in unroll(0..D / 64) {
                            let queries = self.qs[tile * (D / 64) + c];
                            let keys = self.ks[keys.slot * (D / 64) + c];
                            tcgen05::mma(queries, keys.t(), self.scores[tile]).accumulate(c > 0);
                        }
                        tcgen05::commit(self.scored[tile]);
                    }
                }
                if i >= 0 {
                    tcgen05::commit(self.v_free[values.slot]);
                    values.advance();
                }
                if more {
                    tcgen05::commit(self.k_free[keys.slot]);
                    keys.advance();
                }
            }
        }

        /// Changes scores where they lie, some columns at a time: the code for all of them is there once. Which these are is known only at
        /// run time, so there is a choice of columns of which each is known.
        fn change(change: Change, scores: Tmem<f32>, places: Tile<i32>, at: i32) {
            for part in range(0, N / WIDTH, 1) {
                let mut s = zeros::<f32>([128, WIDTH]);
                for i in unroll(0..N / WIDTH) {
                    if part == i {
                        s = scores.tile([0, WIDTH * i], [128, WIDTH]).load();
                    }
                }
                s = change.apply::<WIDTH>(s, places, at + WIDTH * part);
                for i in unroll(0..N / WIDTH) {
                    if part == i {
                        scores.tile([0, WIDTH * i], [128, WIDTH]).store(s);
                    }
                }
            }
        }

        /// Computes the weights of a tile of queries, and stores the result.
        fn weigh<const D: i32, const V: i32, const CHANGED: bool, const TILE: i32>(
            &self,
            scale: f32,
            inner: f32,
            unit: f32,
        ) {
            let seen = self.seen(TILE);
            let (end, count) = self.keys(TILE);
            if count == 0 {
                return;
            }
            let places = seen.place + arange(0, 128);
            let sloped = self.slopes.dim(0) > 0;
            let slope = self.slopes.tile([self.head], [1]).load().item() * unit;
            let change = Change { inner, sloped, slope: full([128], slope) };
            let (scores, sums) = (self.scores[TILE], self.sums[TILE]);
            let mut totals = Totals::none::<128>();
            for i in 0..count {
                let at = N * (end - 1 - i);
                self.scored[TILE].wait(i & 1);
                if CHANGED {
                    Self::change(change, scores, places, at);
                }
                let mut s = scores.load();
                if !seen.all::<N>(at) {
                    s = seen.mask::<N>(s, places, at);
                }
                let top = maximum(totals.top, s.max(1));
                // Not a number is not below it: whatever one row has, the others may have grown.
                let stays = ((top - totals.top) * scale).max(0).item() <= RISE;
                if !stays {
                    let shrink = totals.raise(top, scale);
                    if i > 0 {
                        for part in unroll(0..V / WIDTH) {
                            let sums = sums.tile([0, WIDTH * part], [128, WIDTH]);
                            sums.store(sums.load() * shrink.expand(1));
                        }
                    }
                }
                // The products of the first half begin while the second is computed.
                for half in unroll(0..2) {
                    let (from, to) = (half * N / 2, (half + 1) * N / 2);
                    let weights = totals.add(s.slice((.., from..to)), scale);
                    let place = self.weights(TILE).tile([0, from], [128, N / 2]);
                    place.store(weights.cast::<T>());
                    self.weighed[2 * TILE + half].arrive();
                }
            }
            self.summed[TILE].wait((count - 1) & 1);
            let start = self.start + 128 * TILE;
            self.lse
                .tile([self.plane, self.head, start], [1, 1, 128])
                .store((totals.log2(scale) * LN_2).reshape([1, 1, 128]));
            let share = totals.share();
            // The queries have been read.
            for c in unroll(0..V / 64) {
                let result = sums.tile([0, 64 * c], [128, 64]).load() * share.expand(1);
                self.qs[TILE * (D / 64) + c].store(result.cast::<T>());
            }
            fence_async();
            for c in unroll(0..V / 64) {
                tma::store(
                    self.out,
                    [self.plane, start, self.head, 64 * c],
                    self.qs[TILE * (D / 64) + c],
                );
            }
            tma::store_wait(0);
        }
    }

    /// One block computes 256 queries of one head, in two tiles: while the weights of one are computed, the tensor cores work on the other.
    ///
    /// The arguments are those of `specialized::forward`.
    #[kernel(target = sm_100f, warps = 4, grid = blocks * q.dim(2) * batch,
             instances(T = [bf16, f16], (D, V) = [(64, 64), (128, 128)], CHANGED = [false, true]))]
    pub fn forward<T: Float, const D: i32, const V: i32, const CHANGED: bool>(
        #[block(1, 128, 1, 64)] q: TensorMap<T, 4>,
        #[block(1, 128, 1, 64)] k: TensorMap<T, 4>,
        #[block(1, 128, 1, V)] v: TensorMap<T, 4>,
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
        // The last queries see most keys: they come first.
        let start = 256 * (blocks - 1 - block_id(0) % blocks);
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
        let place = start + keys - queries;
        let queries = queries - start;
        let seen = Seen { place, rows: cdiv(queries, 128).min(2) * 128, keys, left, right };
        let block = Block {
            q,
            k,
            // Windows end where the sequence does.
            v: v.slice((.., key_from..key_to, .., ..)),
            out: out.slice((.., from..to, .., ..)),
            lse: lse.slice((.., .., from..to)),
            slopes,
            plane,
            head,
            key_head: head / (q.dim(2) / k.dim(2)),
            from,
            key_from,
            start,
            queries,
            seen,
            qs: shared([2 * (D / 64), 128, 64]),
            ks: shared([2 * (D / 64), N, 64]),
            vs: shared([2, N, V]),
            scores: tmem([2, 128, N]),
            sums: tmem([2, 128, V]),
            q_filled: barriers(2, 1),
            k_filled: barriers(2, 1),
            k_free: barriers(2, 1),
            v_filled: barriers(2, 1),
            v_free: barriers(2, 1),
            scored: barriers(2, 1),
            weighed: barriers(4, 1),
            summed: barriers(2, 1),
        };
        warp_specialize(
            || block.weigh::<D, V, CHANGED, 0>(scale, inner, unit),
            [
                partition(4)
                    .registers(232)
                    .run(|| block.weigh::<D, V, CHANGED, 1>(scale, inner, unit)),
                partition(1).registers(40).run(|| block.multiply::<D, V>()),
                partition(1).registers(40).run(|| block.load::<D>()),
            ],
        );
    }
}
