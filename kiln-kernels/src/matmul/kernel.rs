//! The kernel: persistent clusters, which compute whole tiles first and share the steps of the tiles that are left.

#![expect(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::bool_to_int_with_if,
    reason = "device code has neither `From` between numbers nor numbers of booleans"
)]

/// Products by persistent clusters: each computes whole tiles, and then an equal share of the steps along `k` of the tiles that are left. A
/// single block is a cluster of one, and only those share.
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

    /// The tiles of a product, and the part of this cluster. Tiles are those of a cluster: they have as many rows as the tiles of its blocks together.
    struct Work {
        /// Which of the clusters this is.
        at: i32,
        order: Grouped<16>,
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
        fn new(rows: i32, columns: i32, depth: i32, clusters: i32, waves: i32, at: i32) -> Work {
            let tiles = rows * columns;
            let all_whole = (waves * clusters).min(tiles);
            let steps = (tiles - all_whole) * depth;
            let sharers = clusters.min(steps).max(1);
            Work {
                at,
                order: Grouped::<16>::new(rows, columns),
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
        left: TensorMap<T, 2>,
        right: TensorMap<T, 2>,
        c: TensorMapMut<R, 2>,
        /// Sums of parts of tiles, in the order of the registers that hold them. Each block has two places: for the end of a tile, with which
        /// its share begins, and for the beginning or the middle of one.
        parts: TensorMut<f32, 5>,
        /// How many parts of each shared tile are there.
        arrived: TensorMut<i32, 1>,
        lefts: Shared<T>,
        rights: Shared<T>,
        staged: Shared<R>,
        full: Barriers,
        empty: Barriers,
        work: Work,
    }

    impl<T: Scalar, R: Float> Product<T, R> {
        /// Fills the ring with the operands of each step. The blocks of a cluster take turns to load the right operand, which all of them read.
        fn load<const C: i32>(&self) {
            let ([bl, bk], [br, _]) = (self.left.block(), self.right.block());
            let mut ring = Ring::writer(self.full.len());
            for i in range(0, self.work.pieces(), 1) {
                let (tile, begin, end) = self.work.piece(i);
                let (row, column) = self.work.order.tile(tile);
                for step in range(begin, end, 1) {
                    let full = self.full[ring.slot];
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.left.block_bytes() + self.right.block_bytes());
                    let row = row * C + rank::<C>();
                    let (at, right) = ([column * br, step * bk], self.rights[ring.slot]);
                    tma::load(self.left, [row * bl, step * bk], full, self.lefts[ring.slot]);
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

        /// Signals that the operands of a step are no longer needed, to all blocks that load them.
        fn release<const C: i32>(&self, slot: i32) {
            if C == 1 {
                self.empty[slot].arrive();
            } else {
                for rank in unroll(0..C) {
                    self.empty[slot].of_block(rank).arrive();
                }
            }
        }

        /// Multiplies, with one product in flight during the wait for the operands of the next, and stores.
        fn multiply<const SWAP: bool, const C: i32>(&self) {
            let ([bl, _], [br, _]) = (self.left.block(), self.right.block());
            let mut ring = Ring::reader(self.full.len());
            for i in range(0, self.work.pieces(), 1) {
                let (tile, begin, end) = self.work.piece(i);
                let (row, column) = self.work.order.tile(tile);
                let mut acc = zeros::<f32>([bl, br]);
                let mut before = ring.slot;
                for step in range(begin, end, 1) {
                    self.full[ring.slot].wait(ring.phase);
                    acc = wgmma::mma(self.lefts[ring.slot], self.rights[ring.slot].t(), acc);
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
                if C == 1 && !complete {
                    self.put(2 * self.work.at + if begin > 0 { 0 } else { 1 }, acc);
                    let shared = tile - self.work.all_whole;
                    let (zero, last) =
                        (shared * self.work.depth, (shared + 1) * self.work.depth - 1);
                    let (from, to) = (self.work.owner(zero), self.work.owner(last));
                    let arrived = self.arrived.tile([shared], [1]);
                    complete = arrived.acq_rel().atomic_add(full([1], 1)).item() == to - from;
                    if complete {
                        acc = self.get(2 * from + 1);
                        for other in range(from + 1, to + 1, 1) {
                            acc += self.get(2 * other);
                        }
                        arrived.store(zeros([1]));
                    }
                }
                if complete {
                    tma::store_wait(0); // the tile before this one has left `staged`
                    if SWAP {
                        self.staged.store(acc.permute([1, 0]).cast());
                    } else {
                        self.staged.store(acc.cast());
                    }
                    fence_async();
                    let (row, column) = ((row * C + rank::<C>()) * bl, column * br);
                    let at = if SWAP { [column, row] } else { [row, column] };
                    tma::store(self.c, at, self.staged);
                }
            }
            tma::store_wait(0);
        }

        /// Stores sums as the threads hold them: 8 rows of 8 columns are contiguous, and two such pieces below one another.
        fn put(&self, place: i32, sums: Tile<f32>) {
            let (rows, columns) = (sums.dim(0) / 16, sums.dim(1) / 8);
            let window = self.parts.tile([place * rows, 0, 0, 0, 0], [rows, columns, 2, 8, 8]);
            window.store(sums.reshape([rows, 2, 8, columns, 8]).permute([0, 3, 1, 2, 4]));
        }

        /// Loads sums that [`put`] stored.
        fn get(&self, place: i32) -> Tile<f32> {
            let ([bl, _], [br, _]) = (self.left.block(), self.right.block());
            let (rows, columns) = (bl / 16, br / 8);
            let window = self.parts.tile([place * rows, 0, 0, 0, 0], [rows, columns, 2, 8, 8]);
            window.load().permute([0, 2, 3, 1, 4]).reshape([bl, br])
        }
    }

    /// `left · rightᵀ` of matrices that are contiguous along `k`, or with `SWAP` its transpose: few rows of `a` are then `right`, whose
    /// block may be as small as 8, where a `left` has 64 rows for each warpgroup.
    ///
    /// There are `clusters` of them, and each computes `waves` whole tiles, as far as there are tiles. Clusters of several blocks share no
    /// steps: their whole tiles are all tiles.
    #[kernel(target = sm_90a, warps = W, grid = clusters * C, cluster = C,
             instances((T, R) = [(bf16, bf16), (f16, f16)], (BL, BR, STAGES, SWAP, W, C) = [
                 (64, 8, 10, true, 4, 1), (64, 16, 10, true, 4, 1), (64, 32, 8, true, 4, 1), (64, 64, 12, true, 4, 1),
                 (128, 8, 6, true, 8, 1), (128, 16, 6, true, 8, 1), (128, 32, 8, true, 8, 1), (128, 64, 8, true, 8, 1),
                 (128, 128, 6, true, 8, 1),
                 (128, 64, 8, true, 8, 2), (128, 64, 8, true, 8, 4), (128, 128, 6, true, 8, 4),
                 (64, 64, 12, false, 4, 1), (64, 128, 8, false, 4, 1), (128, 128, 6, false, 8, 1), (128, 256, 3, false, 8, 1),
                 (128, 128, 6, false, 8, 2), (128, 256, 3, false, 8, 2),
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
    >(
        #[block(BL, 64)] left: TensorMap<T, 2>,
        #[block(BR, 64)] right: TensorMap<T, 2>,
        #[block(if SWAP { BR } else { BL }, if SWAP { BL } else { BR })] c: TensorMapMut<R, 2>,
        #[stride(16 * BR, 128, 64, 8, 1)] parts: TensorMut<f32, 5>,
        arrived: TensorMut<i32, 1>,
        clusters: i32,
        waves: i32,
    ) {
        launch_dependents();
        let depth = cdiv(left.dim(1), 64);
        let (rows, columns) = (cdiv(left.dim(0), BL * C), cdiv(right.dim(0), BR));
        let p = Product {
            left,
            right,
            c,
            parts,
            arrived,
            lefts: shared([STAGES, BL, 64]),
            rights: shared([STAGES, BR, 64]),
            staged: if SWAP { shared([BR, BL]) } else { shared([BL, BR]) },
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, C), // the readers of each block arrive
            work: Work::new(rows, columns, depth, clusters, waves, block_id(0) / C),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<SWAP, C>(),
            [partition(1).registers(40).run(|| p.load::<C>())],
        );
        if C > 1 {
            cluster::sync(); // until then other blocks arrive at this one's barriers
        }
    }
}
