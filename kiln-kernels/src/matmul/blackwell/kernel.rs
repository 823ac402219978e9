//! The kernel: persistent blocks, or pairs of blocks, with two accumulators in tensor memory.

/// Products by persistent clusters of one block or of two, which compute tiles of 128 rows for each block. Three parts of a block work on
/// different tiles at the same time: one warp loads the operands, one starts the products, and a warpgroup stores the tile before.
#[kiln::kernel]
pub(crate) mod tensor_memory {
    use kiln::{
        Ring,
        prelude::*,
        sched::{Grouped, Schedule},
    };

    use super::super::super::epilogue::items::EpilogueOfAny;
    use crate::shares::items::Share;

    /// Columns of sums whose numbers are computed at a time, one in each register of a thread.
    const WIDTH: i32 = 16;

    struct Product<T: Scalar, U: Scalar, R: Float> {
        a: TensorMap<T, 3>,
        b: TensorMap<U, 3>,
        c: TensorMapMut<R, 3>,
        epilogue: EpilogueOfAny<R>,
        parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        lefts: Shared<T>,
        rights: Shared<U>,
        staged: Shared<R>,
        /// Two accumulators: one receives products, the other is stored.
        accs: Tmem<f32>,
        full: Barriers,
        empty: Barriers,
        done: Barriers,
        free: Barriers,
        /// The old elements of `c` are there.
        old: Barrier,
        /// Tiles of one product of a batch; those of a pair of blocks have 256 rows.
        order: Grouped<8>,
        steps: i32,
        shares: i32,
        /// Shares of all tiles.
        pieces: i32,
        /// Which of the clusters this is.
        at: i32,
        clusters: i32,
    }

    impl<T: Scalar, U: Scalar, R: Float> Product<T, U, R> {
        fn share(&self, piece: i32) -> Share {
            Share { tile: piece / self.shares, at: piece % self.shares, shares: self.shares }
        }

        /// The product of a batch to which a tile belongs, and its row and column of tiles.
        fn place(&self, tile: i32) -> (i32, i32, i32) {
            let batch = tile / self.order.count();
            let (row, column) = self.order.tile(tile - batch * self.order.count());
            (batch, row, column)
        }

        /// Fills the ring with this block's part of the operands of each step. The first block of a pair waits for both parts.
        fn load<const C: i32, const LEFT_K: bool, const RIGHT_K: bool>(&self) {
            let [_, _, bn] = self.c.block();
            let bytes = self.a.block_bytes() + self.b.block_bytes();
            let mut ring = Ring::writer(self.full.len());
            for piece in range(self.at, self.pieces, self.clusters) {
                let share = self.share(piece);
                let (batch, row, column) = self.place(share.tile);
                let (row, column) =
                    ((row * C + rank::<C>()) * 128, column * bn + rank::<C>() * (bn / C));
                let (from, to) = share.steps(self.steps);
                for step in range(from, to, 1) {
                    let k = step * (128 / T::BYTES);
                    let at_a = if LEFT_K { [batch, row, k] } else { [batch, k, row] };
                    let at_b = if RIGHT_K { [batch, column, k] } else { [batch, k, column] };
                    self.empty[ring.slot].wait(ring.phase);
                    if rank::<C>() == 0 {
                        self.full[ring.slot].expect(C * bytes);
                    }
                    if C == 1 {
                        let full = self.full[ring.slot];
                        tma::load(self.a, at_a, full, self.lefts[ring.slot]);
                        tma::load(self.b, at_b, full, self.rights[ring.slot]);
                    } else {
                        let full = self.full[ring.slot].of_block(0);
                        tma::load(self.a, at_a, full, self.lefts[ring.slot]);
                        tma::load(self.b, at_b, full, self.rights[ring.slot]);
                    }
                    ring.advance();
                }
            }
        }

        /// Starts the products of all steps, waiting for none: commits free the buffers and pass the accumulator on.
        fn multiply<const C: i32, const LEFT_K: bool, const RIGHT_K: bool>(&self) {
            let mut ring = Ring::reader(self.full.len());
            let mut sums = Ring::writer(self.free.len());
            for piece in range(self.at, self.pieces, self.clusters) {
                let (from, to) = self.share(piece).steps(self.steps);
                self.free[sums.slot].wait(sums.phase);
                let acc = self.accs[sums.slot];
                for step in range(from, to, 1) {
                    self.full[ring.slot].wait(ring.phase);
                    let (left, right) = (self.lefts[ring.slot], self.rights[ring.slot]);
                    let left = if LEFT_K { left } else { left.t() };
                    let right = if RIGHT_K { right.t() } else { right };
                    if C == 1 {
                        tcgen05::mma(left, right, acc).accumulate(step > from);
                        tcgen05::commit(self.empty[ring.slot]);
                    } else {
                        tcgen05::mma_pair(left, right, acc).accumulate(step > from);
                        tcgen05::commit(self.empty[ring.slot]).multicast(0b11);
                    }
                    ring.advance();
                }
                if C == 1 {
                    tcgen05::commit(self.done[sums.slot]);
                } else {
                    tcgen05::commit(self.done[sums.slot]).multicast(0b11);
                }
                sums.advance();
            }
        }

        /// Stores what is done; meanwhile, the next products add to the other accumulator.
        fn store<const C: i32>(&self) {
            let [_, _, bn] = self.c.block();
            let mut phase = 0;
            let mut sums = Ring::reader(self.done.len());
            for piece in range(self.at, self.pieces, self.clusters) {
                let share = self.share(piece);
                let (batch, row, column) = self.place(share.tile);
                let (row, column) = ((row * C + rank::<C>()) * 128, column * bn);
                let acc = self.accs[sums.slot];
                self.done[sums.slot].wait(sums.phase);
                let mut complete = true;
                if C == 1 && self.shares > 1 {
                    for part in range(0, bn / WIDTH, 1) {
                        share.store(Self::part(acc, part), part * WIDTH, self.parts);
                    }
                    complete = share.count(self.arrived);
                }
                if complete {
                    tma::store_wait(0); // the tile before this one has left `staged`
                    if self.epilogue.accumulate {
                        self.old.expect(self.staged.bytes());
                        tma::load(self.c, [batch, row, column], self.old, self.staged);
                        self.old.wait(phase);
                        phase ^= 1;
                    }
                    if self.epilogue.is_plain() && self.shares == 1 {
                        for part in unroll(0..bn / 64) {
                            let sums = acc.tile([0, part * 64], [128, 64]).load();
                            self.staged.tile([0, part * 64], [128, 64]).store(sums.cast());
                        }
                    } else {
                        for part in range(0, bn / WIDTH, 1) {
                            let at = part * WIDTH;
                            let mut all = Self::part(acc, part);
                            if C == 1 && self.shares > 1 {
                                all = share.sums([128, WIDTH], at, self.parts);
                            }
                            let mut y = self.epilogue.value(all, row, column + at);
                            let to = self.staged.tile([0, at], [128, WIDTH]);
                            if self.epilogue.accumulate {
                                y += to.load().cast::<f32>();
                                sync();
                            }
                            to.store(y.cast());
                        }
                    }
                }
                if C == 1 {
                    self.free[sums.slot].arrive();
                } else {
                    self.free[sums.slot].of_block(0).arrive();
                }
                sums.advance();
                if complete {
                    fence_async();
                    tma::store(self.c, [batch, row, column], self.staged);
                }
            }
            tma::store_wait(0);
        }

        /// Part `part` of sums, a number known only at run time: the code for all parts is there once. A choice among fours, and then among
        /// the parts of one, takes few branches.
        fn part(acc: Tmem<f32>, part: i32) -> Tile<f32> {
            let mut sums = zeros::<f32>([128, WIDTH]);
            for four in unroll(0..acc.dim(1) / (4 * WIDTH)) {
                if part / 4 == four {
                    for i in unroll(0..4) {
                        if part % 4 == i {
                            sums = acc.tile([0, (4 * four + i) * WIDTH], [128, WIDTH]).load();
                        }
                    }
                }
            }
            sums
        }
    }

    /// The position of this block in its cluster.
    fn rank<const C: i32>() -> i32 {
        if C > 1 { cluster::rank() } else { 0 }
    }

    /// `a · bᵀ`. `LEFT_K` and `RIGHT_K` say whether operands are contiguous along `k`; others are given as their transpose, `[k, rows]`.
    /// Operands and result have the products of a batch along their first axis.
    ///
    /// A step is 128 bytes along `k`.
    ///
    /// With `C` of two, pairs of blocks multiply together: each has 128 rows of both operands and half of the rows of the tile.
    #[kernel(target = sm_100f, warps = 4, grid = clusters * C, cluster = C,
             instances((T, U, R, BN, STAGES, C, LEFT_K, RIGHT_K) = [
                 (bf16, bf16, bf16, 128, 6, 1, true, true), (bf16, bf16, bf16, 128, 6, 1, true, false),
                 (bf16, bf16, bf16, 128, 6, 1, false, true), (bf16, bf16, bf16, 128, 6, 1, false, false),
                 (bf16, bf16, bf16, 256, 5, 2, true, true), (bf16, bf16, bf16, 256, 5, 2, true, false),
                 (bf16, bf16, bf16, 256, 5, 2, false, true), (bf16, bf16, bf16, 256, 5, 2, false, false),
                 (f16, f16, f16, 128, 6, 1, true, true), (f16, f16, f16, 128, 6, 1, true, false), (f16, f16, f16, 128, 6, 1, false, true),
                 (f16, f16, f16, 128, 6, 1, false, false), (f16, f16, f16, 256, 5, 2, true, true), (f16, f16, f16, 256, 5, 2, true, false),
                 (f16, f16, f16, 256, 5, 2, false, true), (f16, f16, f16, 256, 5, 2, false, false), (f32, f32, f32, 128, 4, 1, true, true),
                 (f32, f32, f32, 256, 3, 2, true, true), (e4m3, e4m3, bf16, 128, 6, 1, true, true),
                 (e4m3, e4m3, bf16, 256, 5, 2, true, true), (e4m3, e4m3, f16, 128, 6, 1, true, true),
                 (e4m3, e4m3, f16, 256, 5, 2, true, true), (e5m2, e4m3, bf16, 128, 6, 1, true, true),
                 (e5m2, e4m3, bf16, 256, 5, 2, true, true), (e4m3, e5m2, bf16, 128, 6, 1, true, true),
                 (e4m3, e5m2, bf16, 256, 5, 2, true, true),
             ]))]
    pub fn product<
        T: Scalar,
        U: Scalar,
        R: Float,
        const BN: i32,
        const STAGES: i32,
        const C: i32,
        const LEFT_K: bool,
        const RIGHT_K: bool,
    >(
        #[block(1, if LEFT_K { 128 } else { 64 }, if LEFT_K { 128 / T::BYTES } else { 128 })]
        a: TensorMap<T, 3>,
        #[block(1, if RIGHT_K { BN / C } else { 64 }, if RIGHT_K { 128 / U::BYTES } else { BN / C })]
        b: TensorMap<U, 3>,
        #[block(1, 128, BN)] c: TensorMapMut<R, 3>,
        #[stride(_, 128 * BN, BN, 1)] parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        clusters: i32,
        shares: i32,
        scale: f32,
        bias: Tensor<R, 2>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        launch_dependents();
        let order = Grouped::<8>::new(cdiv(c.dim(1), 128 * C), cdiv(c.dim(2), BN));
        let p = Product {
            a,
            b,
            c,
            epilogue: EpilogueOfAny { scale, bias, bias_of_left, activation, accumulate },
            parts,
            arrived,
            lefts: if LEFT_K {
                shared([STAGES, 128, 128 / T::BYTES])
            } else {
                shared([STAGES, 64, 128])
            },
            rights: if RIGHT_K {
                shared([STAGES, BN / C, 128 / U::BYTES])
            } else {
                shared([STAGES, 64, BN / C])
            },
            staged: shared([128, BN]),
            accs: tmem([2, 128, BN]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
            done: barriers(2, 1),
            free: barriers(2, C), // the readers of each block arrive
            old: barrier(1),
            order,
            steps: cdiv(a.dim(if LEFT_K { 2 } else { 1 }), 128 / T::BYTES),
            shares,
            pieces: c.dim(0) * order.count() * shares,
            at: block_id(0) / C,
            clusters,
        };
        grid_dependency_wait();
        warp_specialize(
            || p.store::<C>(),
            [
                partition(1).registers(40).run(|| {
                    if rank::<C>() == 0 {
                        p.multiply::<C, LEFT_K, RIGHT_K>();
                    }
                }),
                partition(1).registers(40).run(|| p.load::<C, LEFT_K, RIGHT_K>()),
            ],
        );
    }
}
