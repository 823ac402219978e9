//! The kernel: persistent clusters, which compute whole tiles first and share the steps of the tiles that are left.

#![expect(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::bool_to_int_with_if,
    reason = "device code has neither `From` between numbers nor numbers of booleans"
)]

/// Products by persistent clusters: each computes whole tiles, and then an equal share of the steps along `k` of the tiles that are left. A
/// single block is a cluster of one.
///
/// A tile whose steps all lie in one share is stored by its block. Of the others each block stores its part of the sums to scratch
/// memory; the last one to do so adds all parts, in the order of their steps, and stores the tile. So the sums do not depend on which
/// block is last.
#[kiln::kernel]
pub(crate) mod shared_steps {
    use kiln::{
        Ring,
        prelude::*,
        sched::{Grouped, Schedule},
    };

    use super::super::epilogue::items::Epilogue;

    /// The tiles of a product, and the part of this cluster. Tiles are those of a cluster: they have as many rows as the tiles of its blocks together.
    struct Work {
        /// Which of the clusters this is.
        at: i32,
        order: Grouped<16>,
        /// Tiles of one product of a batch.
        tiles: i32,
        clusters: i32,
        /// Steps along `k` of a tile.
        depth: i32,
        /// The number of whole tiles of this cluster, and of all clusters.
        whole: i32,
        all_whole: i32,
        /// The steps of the tiles that are shared, the number of clusters that share them, and the share of this one.
        steps: i32,
        sharers: i32,
        first: i32,
        end: i32,
    }

    impl Work {
        fn new(
            batches: i32,
            [rows, columns]: [i32; 2],
            depth: i32,
            clusters: i32,
            waves: i32,
            at: i32,
        ) -> Work {
            let tiles = batches * rows * columns;
            let all_whole = (waves * clusters).min(tiles);
            let steps = (tiles - all_whole) * depth;
            let sharers = clusters.min(steps).max(1);
            Work {
                at,
                order: Grouped::<16>::new(rows, columns),
                tiles: rows * columns,
                clusters,
                depth,
                whole: cdiv(all_whole - at, clusters),
                all_whole,
                steps,
                sharers,
                first: Work::share(steps, at.min(sharers), sharers),
                end: Work::share(steps, (at + 1).min(sharers), sharers),
            }
        }

        /// Where the share of a cluster begins: shares differ by one step at most, and none is empty.
        fn share(steps: i32, cluster: i32, sharers: i32) -> i32 {
            (steps as i64 * cluster as i64 / sharers as i64) as i32
        }

        /// The cluster whose share holds a step.
        fn owner(&self, step: i32) -> i32 {
            (((step as i64 + 1) * self.sharers as i64 - 1) / self.steps as i64) as i32
        }

        /// The product of a batch to which a tile belongs, and where it is there.
        fn tile(&self, tile: i32) -> (i32, i32, i32) {
            let batch = tile / self.tiles;
            let (row, column) = self.order.tile(tile - batch * self.tiles);
            (batch, row, column)
        }

        /// How many tiles and parts of tiles this cluster computes.
        fn pieces(&self) -> i32 {
            let shared = cdiv(self.end, self.depth) - self.first / self.depth;
            self.whole + if self.end > self.first { shared } else { 0 }
        }

        /// A tile, and the first of its steps that is computed here and the one after the last.
        fn piece(&self, i: i32) -> (i32, i32, i32) {
            let shared = self.first / self.depth + i - self.whole;
            let before = shared * self.depth;
            if i < self.whole {
                (i * self.clusters + self.at, 0, self.depth)
            } else {
                let begin = (self.first - before).max(0);
                (self.all_whole + shared, begin, (self.end - before).min(self.depth))
            }
        }
    }

    /// The position of this block in its cluster.
    fn rank<const C: i32>() -> i32 {
        if C > 1 { cluster::rank() } else { 0 }
    }

    struct Product<T: Scalar, R: Float> {
        left: TensorMap<T, 3>,
        right: TensorMap<T, 3>,
        c: TensorMapMut<R, 3>,
        epilogue: Epilogue<R>,
        /// Sums of parts of tiles, in the order of the registers that hold them. Each cluster has two places for each of its blocks: for the end of a tile, with which
        /// its share begins, and for the beginning or the middle of one.
        parts: TensorMut<f32, 5>,
        /// How many parts of each shared tile of each block are there.
        arrived: TensorMut<i32, 1>,
        lefts: Shared<T>,
        rights: Shared<T>,
        staged: Shared<R>,
        full: Barriers,
        empty: Barriers,
        /// The old elements of `c` are there.
        old: Barrier,
        work: Work,
    }

    impl<T: Scalar, R: Float> Product<T, R> {
        /// Fills the ring with the operands of each step. The blocks of a cluster take turns to load the right operand, which all of them read.
        fn load<const C: i32, const LEFT_K: bool, const RIGHT_K: bool>(&self) {
            let [bl, br] = self.tile::<LEFT_K, RIGHT_K>();
            let mut ring = Ring::writer(self.full.len());
            for i in range(0, self.work.pieces(), 1) {
                let (tile, begin, end) = self.work.piece(i);
                let (batch, row, column) = self.work.tile(tile);
                for step in range(begin, end, 1) {
                    let full = self.full[ring.slot];
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.left.block_bytes() + self.right.block_bytes());
                    let (row, k) = ((row * C + rank::<C>()) * bl, step * 64);
                    let from = if LEFT_K { [batch, row, k] } else { [batch, k, row] };
                    tma::load(self.left, from, full, self.lefts[ring.slot]);
                    let column = column * br;
                    let at = if RIGHT_K { [batch, column, k] } else { [batch, k, column] };
                    let right = self.rights[ring.slot];
                    if C == 1 {
                        tma::load(self.right, at, full, right);
                    } else {
                        tma::load(self.right, at, full, right)
                            .when(cluster::rank() == step % C)
                            .multicast((1 << C) - 1);
                    }
                    ring.advance();
                }
            }
        }

        /// The rows of the operands in a tile.
        fn tile<const LEFT_K: bool, const RIGHT_K: bool>(&self) -> [i32; 2] {
            let ([_, left, left_t], [_, right, right_t]) = (self.left.block(), self.right.block());
            [if LEFT_K { left } else { left_t }, if RIGHT_K { right } else { right_t }]
        }

        /// Signals that the operands of a step are no longer needed, to all blocks that load them.
        fn release<const C: i32>(&self, slot: i32) {
            if C == 1 {
                self.empty[slot].arrive();
            } else {
                for rank in unroll(0..C) {
                    self.empty[slot].of_block(rank).arrive_relaxed();
                }
            }
        }

        /// Multiplies, with one product in flight during the wait for the operands of the next, and stores.
        fn multiply<const SWAP: bool, const C: i32, const LEFT_K: bool, const RIGHT_K: bool>(
            &self,
        ) {
            let [bl, br] = self.tile::<LEFT_K, RIGHT_K>();
            let mut phase = 0;
            let mut ring = Ring::reader(self.full.len());
            for i in range(0, self.work.pieces(), 1) {
                let (tile, begin, end) = self.work.piece(i);
                let (batch, row, column) = self.work.tile(tile);
                let mut acc = zeros::<f32>([bl, br]);
                let mut before = ring.slot;
                for step in range(begin, end, 1) {
                    self.full[ring.slot].wait(ring.phase);
                    let (left, right) = (self.lefts[ring.slot], self.rights[ring.slot]);
                    let left = if LEFT_K { left } else { left.t() };
                    acc = wgmma::mma(left, if RIGHT_K { right.t() } else { right }, acc);
                    acc = wgmma::wait(1, acc);
                    if step > begin {
                        self.release::<C>(before);
                    }
                    before = ring.slot;
                    ring.advance();
                }
                acc = wgmma::wait(0, acc);
                self.release::<C>(before);
                let mut complete = end - begin == self.work.depth;
                if !complete {
                    let place = 2 * self.work.at + if begin > 0 { 0 } else { 1 };
                    self.put(place * C + rank::<C>(), acc);
                    let shared = tile - self.work.all_whole;
                    let (zero, last) =
                        (shared * self.work.depth, (shared + 1) * self.work.depth - 1);
                    let (from, to) = (self.work.owner(zero), self.work.owner(last));
                    let arrived = self.arrived.tile([shared * C + rank::<C>()], [1]);
                    complete = arrived.acq_rel().atomic_add(full([1], 1)).item() == to - from;
                    if complete {
                        acc = self.get((2 * from + 1) * C + rank::<C>(), [bl, br]);
                        for other in range(from + 1, to + 1, 1) {
                            acc += self.get(2 * other * C + rank::<C>(), [bl, br]);
                        }
                        arrived.store(zeros([1]));
                    }
                }
                if complete {
                    let (row, column) = ((row * C + rank::<C>()) * bl, column * br);
                    let at = if SWAP { [batch, column, row] } else { [batch, row, column] };
                    tma::store_wait(0); // the tile before this one has left `staged`
                    if self.epilogue.is_plain() {
                        if SWAP {
                            self.staged.store(acc.permute([1, 0]).cast());
                        } else {
                            self.staged.store(acc.cast());
                        }
                    } else {
                        if self.epilogue.accumulate {
                            self.old.expect(self.staged.bytes());
                            tma::load(self.c, at, self.old, self.staged);
                            self.old.wait(phase);
                            phase ^= 1;
                        }
                        let width = br.min(64); // fewer numbers at a time need fewer registers
                        for part in unroll(0..br / width) {
                            let from = part * width;
                            let sums = acc.slice((.., from..from + width));
                            let y = self.epilogue.value(sums, row, column + from);
                            if SWAP {
                                let to = self.staged.tile([from, 0], [width, bl]);
                                self.round(to, y.permute([1, 0]));
                            } else {
                                self.round(self.staged.tile([0, from], [bl, width]), y);
                            }
                        }
                    }
                    fence_async();
                    tma::store(self.c, at, self.staged);
                }
            }
            tma::store_wait(0);
        }

        /// Rounds numbers to shared memory, added to what is there where the product accumulates.
        fn round(&self, to: Shared<R>, numbers: Tile<f32>) {
            let mut y = numbers;
            if self.epilogue.accumulate {
                y += to.load().cast::<f32>();
                sync();
            }
            to.store(y.cast());
        }

        /// Stores sums as the threads hold them: 8 rows of 8 columns are contiguous, and two such pieces below one another.
        fn put(&self, place: i32, sums: Tile<f32>) {
            let (rows, columns) = (sums.dim(0) / 16, sums.dim(1) / 8);
            let window = self.parts.tile([place * rows, 0, 0, 0, 0], [rows, columns, 2, 8, 8]);
            window.store(sums.reshape([rows, 2, 8, columns, 8]).permute([0, 3, 1, 2, 4]));
        }

        /// Loads sums that [`put`] stored.
        fn get(&self, place: i32, [bl, br]: [i32; 2]) -> Tile<f32> {
            let (rows, columns) = (bl / 16, br / 8);
            let window = self.parts.tile([place * rows, 0, 0, 0, 0], [rows, columns, 2, 8, 8]);
            window.load().permute([0, 2, 3, 1, 4]).reshape([bl, br])
        }
    }

    /// A product without steps: of zeros.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(1), 16), cdiv(c.dim(2), 128), c.dim(0)], instances(R = [bf16, f16]))]
    pub fn of_nothing<R: Float>(
        c: TensorMut<R, 3>,
        bias: Tensor<R, 1>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        let epilogue = Epilogue { scale: 1.0, bias, bias_of_left, activation, accumulate };
        let (row, column) = (block_id(0) * 16, block_id(1) * 128);
        let window = c.tile([block_id(2), row, column], [1, 16, 128]);
        let mut value = epilogue.value(zeros([16, 128]), row, column).expand(0);
        if accumulate {
            value += window.load().cast::<f32>();
        }
        window.store(value.cast());
    }

    /// `left · rightᵀ` of matrices that are contiguous along `k`, or with `SWAP` its transpose: few rows of `a` are then `right`, whose
    /// block may be as small as 8, where a `left` has 64 rows for each warpgroup.
    ///
    /// `LEFT_K` and `RIGHT_K` say whether operands are contiguous along `k`; others are given as their transpose, `[k, rows]`.
    ///
    /// Operands and result have the products of a batch along their first axis. There are `clusters` clusters, and each computes `waves` whole tiles, as far as there are tiles.
    #[kernel(target = sm_90a, warps = W, grid = clusters * C, cluster = C,
             instances((T, R) = [(bf16, bf16), (f16, f16)], (BL, BR, STAGES, SWAP, W, C, LEFT_K, RIGHT_K) = [
                 (64, 8, 10, true, 4, 1, true, true), (64, 16, 10, true, 4, 1, true, true), (64, 32, 8, true, 4, 1, true, true),
                 (64, 64, 12, true, 4, 1, true, true), (128, 8, 6, true, 8, 1, true, true), (128, 16, 6, true, 8, 1, true, true),
                 (128, 32, 8, true, 8, 1, true, true), (128, 64, 8, true, 8, 1, true, true), (128, 128, 6, true, 8, 1, true, true),
                 (64, 128, 8, true, 4, 1, true, true), (64, 64, 12, true, 4, 2, true, true), (64, 128, 8, true, 4, 2, true, true),
                 (128, 128, 6, true, 8, 2, true, true), (128, 64, 8, true, 8, 2, true, true), (128, 64, 8, true, 8, 4, true, true),
                 (128, 128, 6, true, 8, 4, true, true), (64, 64, 12, false, 4, 1, true, true), (64, 128, 8, false, 4, 1, true, true),
                 (128, 128, 6, false, 8, 1, true, true), (128, 256, 3, false, 8, 1, true, true), (128, 128, 6, false, 8, 2, true, true),
                 (128, 256, 3, false, 8, 2, true, true), (64, 16, 10, true, 4, 1, false, true), (64, 64, 12, true, 4, 1, false, true),
                 (128, 128, 6, true, 8, 1, false, true), (64, 64, 12, false, 4, 1, true, false), (128, 128, 6, false, 8, 1, true, false),
                 (128, 256, 3, false, 8, 1, true, false), (128, 256, 3, false, 8, 2, true, false), (64, 64, 12, false, 4, 1, false, true),
                 (128, 128, 6, false, 8, 1, false, true), (128, 256, 3, false, 8, 1, false, true), (128, 256, 3, false, 8, 2, false, true),
                 (64, 64, 12, false, 4, 1, false, false), (128, 128, 6, false, 8, 1, false, false), (128, 256, 3, false, 8, 1, false, false),
                 (128, 256, 3, false, 8, 2, false, false),
             ]))]
    pub fn product<
        T: Scalar,
        R: Float,
        const BL: i32,
        const BR: i32,
        const STAGES: i32,
        const SWAP: bool,
        const W: i32,
        const C: i32,
        const LEFT_K: bool,
        const RIGHT_K: bool,
    >(
        #[block(1, if LEFT_K { BL } else { 64 }, if LEFT_K { 64 } else { BL })] left: TensorMap<
            T,
            3,
        >,
        #[block(1, if RIGHT_K { BR } else { 64 }, if RIGHT_K { 64 } else { BR })] right: TensorMap<
            T,
            3,
        >,
        #[block(1, if SWAP { BR } else { BL }, if SWAP { BL } else { BR })] c: TensorMapMut<R, 3>,
        #[stride(16 * BR, 128, 64, 8, 1)] parts: TensorMut<f32, 5>,
        arrived: TensorMut<i32, 1>,
        clusters: i32,
        waves: i32,
        scale: f32,
        bias: Tensor<R, 1>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        launch_dependents();
        let depth = cdiv(left.dim(if LEFT_K { 2 } else { 1 }), 64);
        let rows = cdiv(left.dim(if LEFT_K { 1 } else { 2 }), BL * C);
        let columns = cdiv(right.dim(if RIGHT_K { 1 } else { 2 }), BR);
        let p = Product {
            left,
            right,
            c,
            epilogue: Epilogue { scale, bias, bias_of_left, activation, accumulate },
            parts,
            arrived,
            lefts: if LEFT_K { shared([STAGES, BL, 64]) } else { shared([STAGES, 64, BL]) },
            rights: if RIGHT_K { shared([STAGES, BR, 64]) } else { shared([STAGES, 64, BR]) },
            staged: if SWAP { shared([BR, BL]) } else { shared([BL, BR]) },
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, C), // the readers of each block arrive
            old: barrier(1),
            work: Work::new(c.dim(0), [rows, columns], depth, clusters, waves, block_id(0) / C),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<SWAP, C, LEFT_K, RIGHT_K>(),
            [partition(1).registers(40).run(|| p.load::<C, LEFT_K, RIGHT_K>())],
        );
        if C > 1 {
            cluster::sync(); // until then other blocks arrive at this one's barriers
        }
    }
}
