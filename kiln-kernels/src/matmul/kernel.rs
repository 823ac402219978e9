//! The kernels: persistent clusters, which compute whole tiles first and share the steps of the tiles that are left; and clusters whose
//! blocks share the steps of one tile.

#![expect(clippy::bool_to_int_with_if, reason = "device code has no numbers of booleans")]

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
    use crate::{
        activation::by_number::part_of,
        promoted::items::{Steps, release},
    };

    /// The tiles of a product, and the part of this cluster. Tiles are those of a cluster: they have as many rows as the tiles of its blocks together.
    ///
    /// No division stands before the first copy: the host divides.
    struct Work {
        /// Which of the clusters this is.
        at: i32,
        order: Grouped<16>,
        batches: i32,
        /// Tiles of one product of a batch.
        tiles: i32,
        clusters: i32,
        /// Steps along `k` of a tile.
        depth: i32,
        /// The number of whole tiles of this cluster, and of all clusters.
        whole: i32,
        all_whole: i32,
        /// The steps of the tiles that are shared, for each cluster, and one more for so many of the first ones.
        share: i32,
        rest: i32,
        /// The steps of this cluster.
        first: i32,
        end: i32,
    }

    impl Work {
        fn new(
            batches: i32,
            [rows, columns]: [i32; 2],
            depth: i32,
            [clusters, waves]: [i32; 2],
            [share, rest]: [i32; 2],
            at: i32,
        ) -> Work {
            let tiles = batches * rows * columns;
            let all_whole = (waves * clusters).min(tiles);
            let first = at * share + at.min(rest);
            // Only the last wave may lack tiles.
            let last = (waves - 1) * clusters + at;
            Work {
                at,
                order: Grouped::<16>::new(rows, columns),
                batches,
                tiles: rows * columns,
                clusters,
                depth,
                whole: if waves > 0 && last >= all_whole { waves - 1 } else { waves },
                all_whole,
                share,
                rest,
                first,
                end: first + share + if at < rest { 1 } else { 0 },
            }
        }

        /// The cluster whose share holds a step.
        fn owner(&self, step: i32) -> i32 {
            let longer = self.rest * (self.share + 1);
            if step < longer {
                step / (self.share + 1)
            } else {
                self.rest + (step - longer) / self.share
            }
        }

        /// The product of a batch to which a tile belongs, and where it is there.
        fn tile(&self, tile: i32) -> (i32, i32, i32) {
            let mut batch = 0;
            if self.batches > 1 {
                batch = tile / self.tiles;
            }
            let (row, column) = self.order.tile(tile - batch * self.tiles);
            (batch, row, column)
        }

        /// How many tiles and parts of tiles this cluster computes.
        fn pieces(&self) -> i32 {
            let mut pieces = self.whole;
            if self.end > self.first {
                pieces += cdiv(self.end, self.depth) - self.first / self.depth;
            }
            pieces
        }

        /// A tile, and the first of its steps that is computed here and the one after the last.
        fn piece(&self, i: i32) -> (i32, i32, i32) {
            let mut piece = (i * self.clusters + self.at, 0, self.depth);
            if i >= self.whole {
                let shared = self.first / self.depth + i - self.whole;
                let before = shared * self.depth;
                let begin = (self.first - before).max(0);
                piece = (self.all_whole + shared, begin, (self.end - before).min(self.depth));
            }
            piece
        }
    }

    /// The position of this block in its cluster.
    fn rank<const C: i32>() -> i32 {
        if C > 1 { cluster::rank() } else { 0 }
    }

    /// Elements along `k` of a step: 128 bytes, the widest row of a swizzle.
    fn step_of<T: Scalar>() -> i32 {
        128 / T::BYTES
    }

    /// The operands of a block, and the ring of buffers through which they come.
    struct Operands<T: Scalar, U: Scalar> {
        left: TensorMap<T, 3>,
        right: TensorMap<U, 3>,
        lefts: Shared<T>,
        rights: Shared<U>,
        /// `X` more rows of the right operand: a tile of 192 columns is one of 128 and one of 64.
        others: Shared<U>,
        full: Barriers,
        empty: Barriers,
    }

    impl<T: Scalar, U: Scalar> Operands<T, U> {
        /// Fills the ring with the operands of some steps of a tile. The blocks of a cluster take turns to load the right operand, which all of them read.
        fn load<const X: i32, const C: i32, const LEFT_K: bool, const RIGHT_K: bool>(
            &self,
            ring: &mut Ring,
            [batch, row, column]: [i32; 3],
            [begin, end]: [i32; 2],
        ) {
            for step in range(begin, end, 1) {
                let full = self.full[ring.slot];
                self.empty[ring.slot].wait(ring.phase);
                // With `X` rows more, a block of the map has as many, and all rows come in such parts.
                let parts = if X > 0 {
                    self.right_rows::<X, RIGHT_K>() / X
                } else if RIGHT_K {
                    C
                } else {
                    1
                };
                full.expect(self.left.block_bytes() + parts * self.right.block_bytes());
                let width = step_of::<T>();
                let k = step * width;
                let from = if LEFT_K { [batch, row, k] } else { [batch, k, row] };
                tma::load(self.left, from, full, self.lefts[ring.slot]);
                let at = if RIGHT_K { [batch, column, k] } else { [batch, k, column] };
                let right = self.rights[ring.slot];
                if X > 0 {
                    for part in unroll(0..parts - 1) {
                        let to = right.tile([part * X, 0], [X, width]);
                        self.load_right::<C>(step, [batch, column + part * X, k], full, to);
                    }
                    let at = [batch, column + (parts - 1) * X, k];
                    self.load_right::<C>(step, at, full, self.others[ring.slot]);
                } else if C > 1 && RIGHT_K {
                    // Each block of a cluster loads an equal part for all.
                    let rows = self.right_rows::<0, RIGHT_K>() / C;
                    let at = [batch, column + cluster::rank() * rows, k];
                    let to = right.tile([cluster::rank() * rows, 0], [rows, width]);
                    tma::load(self.right, at, full, to).multicast((1 << C) - 1);
                } else {
                    self.load_right::<C>(step, at, full, right);
                }
                ring.advance();
            }
        }

        /// A part of the right operand, which one block of a cluster loads for all.
        fn load_right<const C: i32>(&self, step: i32, at: [i32; 3], full: Barrier, to: Shared<U>) {
            if C == 1 {
                tma::load(self.right, at, full, to);
            } else {
                tma::load(self.right, at, full, to)
                    .when(cluster::rank() == step % C)
                    .multicast((1 << C) - 1);
            }
        }

        /// The rows of the left operand in a tile.
        fn left_rows<const LEFT_K: bool>(&self) -> i32 {
            self.lefts.dim(if LEFT_K { 1 } else { 2 })
        }

        /// The rows of the right operand in a tile.
        fn right_rows<const X: i32, const RIGHT_K: bool>(&self) -> i32 {
            self.rights.dim(if RIGHT_K { 1 } else { 2 }) + X
        }

        /// The sums of some steps of a tile, with one product in flight during the wait for the operands of the next. Sums of FP8 products
        /// are left to the tensor cores if they are `FAST`, as all others are.
        fn multiply<
            const X: i32,
            const C: i32,
            const LEFT_K: bool,
            const RIGHT_K: bool,
            const FAST: bool,
        >(
            &self,
            ring: &mut Ring,
            [begin, end]: [i32; 2],
        ) -> (Tile<f32>, Tile<f32>) {
            let (bl, br) = (self.left_rows::<LEFT_K>(), self.right_rows::<0, RIGHT_K>());
            let mut acc = zeros::<f32>([bl, br]);
            let mut others = zeros::<f32>([bl, if X > 0 { X } else { 8 }]);
            if T::BITS == 8 && !FAST {
                let (lefts, rights) = (self.lefts, self.rights);
                let steps = Steps { lefts, rights, full: self.full, empty: self.empty };
                acc = steps.add::<C>(ring, end - begin, acc);
            } else {
                let mut before = ring.slot;
                for step in range(begin, end, 1) {
                    self.full[ring.slot].wait(ring.phase);
                    let (left, right) = (self.lefts[ring.slot], self.rights[ring.slot]);
                    let left = if LEFT_K { left } else { left.t() };
                    acc = wgmma::mma(left, if RIGHT_K { right.t() } else { right }, acc);
                    if X > 0 {
                        others = wgmma::mma(left, self.others[ring.slot].t(), others);
                        others = wgmma::wait(2, others);
                        acc = wgmma::wait(2, acc);
                    } else {
                        acc = wgmma::wait(1, acc);
                    }
                    if step > begin {
                        release::<C>(self.empty, before);
                    }
                    before = ring.slot;
                    ring.advance();
                }
                acc = wgmma::wait(0, acc);
                if X > 0 {
                    others = wgmma::wait(0, others);
                }
                if end > begin {
                    release::<C>(self.empty, before);
                }
            }
            (acc, others)
        }
    }

    /// What a block stores.
    struct Output<R: Float> {
        c: TensorMapMut<R, 3>,
        epilogue: Epilogue<R>,
        /// A buffer for each block of columns that is stored by itself.
        staged: Shared<R>,
        /// The old elements of `c` are there.
        old: Barrier,
    }

    impl<R: Float> Output<R> {
        /// Starts to store sums whose corner belongs to a row of the left operand and one of the right one. `phase` is that of `old`.
        ///
        /// The tile before this one has left `staged`.
        fn store<const SWAP: bool>(
            &self,
            staged: Shared<R>,
            acc: Tile<f32>,
            [batch, row, column]: [i32; 3],
            phase: i32,
        ) {
            let (bl, br) = (acc.dim(0), acc.dim(1));
            let at = if SWAP { [batch, column, row] } else { [batch, row, column] };
            if self.epilogue.is_plain() {
                if SWAP {
                    staged.store(acc.permute([1, 0]).cast());
                } else {
                    staged.store(acc.cast());
                }
            } else {
                if self.epilogue.accumulate {
                    self.old.expect(staged.bytes());
                    tma::load(self.c, at, self.old, staged);
                    self.old.wait(phase);
                }
                let width = br.min(64); // fewer numbers at a time need fewer registers
                for part in unroll(0..br / width) {
                    let from = part * width;
                    let sums = acc.slice((.., from..from + width));
                    let y = self.epilogue.value(sums, row, column + from);
                    if SWAP {
                        let to = staged.tile([from, 0], [width, bl]);
                        self.round(to, y.permute([1, 0]));
                    } else {
                        self.round(staged.tile([0, from], [bl, width]), y);
                    }
                }
            }
            fence_async();
            tma::store(self.c, at, staged);
        }

        /// [`store`] of all sums of a tile. Gives the next phase.
        fn store_all<const SWAP: bool, const X: i32>(
            &self,
            acc: Tile<f32>,
            others: Tile<f32>,
            [batch, row, column]: [i32; 3],
            phase: i32,
        ) -> i32 {
            let mut next = phase;
            if X == 0 && !SWAP && acc.dim(1) > self.staged.dim(2) {
                // Of two buffers one is stored while the other is filled.
                let width = self.staged.dim(2);
                for part in range(0, acc.dim(1) / width, 1) {
                    tma::store_wait(1);
                    let at = [batch, row, column + part * width];
                    self.store::<SWAP>(self.staged[part % 2], part_of(acc, part), at, next);
                    next ^= 1;
                }
            } else if X == 0 {
                tma::store_wait(0); // the tile before this one has left `staged`
                self.store::<SWAP>(self.staged[0], acc, [batch, row, column], next);
                next ^= 1;
            } else {
                tma::store_wait(0);
                for part in unroll(0..acc.dim(1) / X) {
                    let sums = acc.slice((.., part * X..(part + 1) * X));
                    let at = [batch, row, column + part * X];
                    self.store::<SWAP>(self.staged[part], sums, at, next);
                    next ^= 1;
                }
                let last = acc.dim(1) / X;
                self.store::<SWAP>(
                    self.staged[last],
                    others,
                    [batch, row, column + last * X],
                    next,
                );
                next ^= 1;
            }
            next
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
    }

    /// The order in which threads hold sums: 16 rows of 8 columns, and all columns before further rows.
    fn as_held(sums: Tile<f32>) -> Tile<f32> {
        let (rows, columns) = (sums.dim(0) / 16, sums.dim(1) / 8);
        sums.reshape([rows, 16, columns, 8]).permute([0, 2, 1, 3])
    }

    /// Sums in their own order again.
    fn as_tile(held: Tile<f32>) -> Tile<f32> {
        let (rows, columns) = (held.dim(0), held.dim(1));
        held.permute([0, 2, 1, 3]).reshape([rows * 16, columns * 8])
    }

    struct Product<T: Scalar, U: Scalar, R: Float> {
        operands: Operands<T, U>,
        output: Output<R>,
        /// Sums of parts of tiles, in the order of the registers that hold them. Each cluster has two places for each of its blocks: for the end of a tile, with which
        /// its share begins, and for the beginning or the middle of one.
        parts: TensorMut<f32, 4>,
        /// How many parts of each shared tile of each block are there.
        arrived: TensorMut<i32, 1>,
        work: Work,
    }

    impl<T: Scalar, U: Scalar, R: Float> Product<T, U, R> {
        /// Fills the ring with the operands of all pieces of work.
        fn load<const X: i32, const C: i32, const LEFT_K: bool, const RIGHT_K: bool>(&self) {
            let bl = self.operands.left_rows::<LEFT_K>();
            let br = self.operands.right_rows::<X, RIGHT_K>();
            let mut ring = Ring::writer(self.operands.full.len());
            for i in range(0, self.work.pieces(), 1) {
                let (tile, begin, end) = self.work.piece(i);
                let (batch, row, column) = self.work.tile(tile);
                let at = [batch, (row * C + rank::<C>()) * bl, column * br];
                self.operands.load::<X, C, LEFT_K, RIGHT_K>(&mut ring, at, [begin, end]);
            }
        }

        /// Multiplies and stores.
        fn multiply<
            const SWAP: bool,
            const X: i32,
            const C: i32,
            const LEFT_K: bool,
            const RIGHT_K: bool,
            const FAST: bool,
        >(
            &self,
        ) {
            let bl = self.operands.left_rows::<LEFT_K>();
            let br = self.operands.right_rows::<X, RIGHT_K>();
            let mut phase = 0;
            let mut ring = Ring::reader(self.operands.full.len());
            for i in range(0, self.work.pieces(), 1) {
                let (tile, begin, end) = self.work.piece(i);
                let (mut acc, mut others) =
                    self.operands.multiply::<X, C, LEFT_K, RIGHT_K, FAST>(&mut ring, [begin, end]);
                let mut complete = end - begin == self.work.depth;
                if !complete {
                    let place = 2 * self.work.at + if begin > 0 { 0 } else { 1 };
                    self.put::<X>(place * C + rank::<C>(), acc, others);
                    let shared = tile - self.work.all_whole;
                    let (zero, last) =
                        (shared * self.work.depth, (shared + 1) * self.work.depth - 1);
                    let (from, to) = (self.work.owner(zero), self.work.owner(last));
                    let arrived = self.arrived.tile([shared * C + rank::<C>()], [1]);
                    complete = arrived.acq_rel().atomic_add(full([1], 1)).item() == to - from;
                    if complete {
                        let place = (2 * from + 1) * C + rank::<C>();
                        acc = self.get(place, 0, [bl, br - X]);
                        if X > 0 {
                            others = self.get(place, br - X, [bl, X]);
                        }
                        for other in range(from + 1, to + 1, 1) {
                            let place = 2 * other * C + rank::<C>();
                            acc += self.get(place, 0, [bl, br - X]);
                            if X > 0 {
                                others += self.get(place, br - X, [bl, X]);
                            }
                        }
                        arrived.store(zeros([1]));
                    }
                }
                if complete {
                    let (batch, row, column) = self.work.tile(tile);
                    let at = [batch, (row * C + rank::<C>()) * bl, column * br];
                    phase = self.output.store_all::<SWAP, X>(acc, others, at, phase);
                }
            }
            tma::store_wait(0);
        }

        /// Stores sums as the threads hold them.
        fn put<const X: i32>(&self, place: i32, sums: Tile<f32>, others: Tile<f32>) {
            let (rows, columns) = (sums.dim(0) / 16, sums.dim(1) / 8);
            let window = self.parts.tile([place * rows, 0, 0, 0], [rows, columns, 16, 8]);
            window.store(as_held(sums));
            if X > 0 {
                let window = self.parts.tile([place * rows, columns, 0, 0], [rows, X / 8, 16, 8]);
                window.store(as_held(others));
            }
        }

        /// Loads sums that [`put`] stored, from a column on.
        fn get(&self, place: i32, column: i32, [bl, br]: [i32; 2]) -> Tile<f32> {
            let (rows, columns) = (bl / 16, br / 8);
            let window = self.parts.tile([place * rows, column / 8, 0, 0], [rows, columns, 16, 8]);
            as_tile(window.load())
        }
    }

    /// A product without steps: of zeros.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(1), 16), cdiv(c.dim(2), 128), c.dim(0)], instances(R = [bf16, f16, f32]))]
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
    /// A tile has `BR + X` rows of the right operand; `X` is 0 or half of `BR`.
    ///
    /// `LEFT_K` and `RIGHT_K` say whether operands are contiguous along `k`; others are given as their transpose, `[k, rows]`. `FAST` leaves
    /// sums of FP8 to the tensor cores: their tiles are larger, because they take registers once.
    ///
    /// Operands and result have the products of a batch along their first axis. There are `clusters` clusters, and each computes `waves` whole tiles, as far as there are tiles. Of
    /// the steps of all other tiles each cluster has `share`, and the first `rest` clusters one more.
    #[kernel(target = sm_90a, warps = W, grid = clusters * C, cluster = C,
             instances((T, U, R, BL, BR, X, STAGES, SWAP, W, C, LEFT_K, RIGHT_K, FAST) = [
                 (bf16, bf16, bf16, 64, 8, 0, 10, true, 4, 1, true, true, false), (bf16, bf16, bf16, 64, 16, 0, 10, true, 4, 1, true, true, false),
                 (bf16, bf16, bf16, 64, 32, 0, 8, true, 4, 1, true, true, false), (bf16, bf16, bf16, 64, 64, 0, 12, true, 4, 1, true, true, false),
                 (bf16, bf16, bf16, 64, 128, 0, 8, true, 4, 1, true, true, false), (bf16, bf16, bf16, 128, 8, 0, 6, true, 8, 1, true, true, false),
                 (bf16, bf16, bf16, 128, 16, 0, 10, true, 8, 1, true, true, false), (bf16, bf16, bf16, 64, 64, 0, 12, true, 4, 2, true, true, false),
                 (bf16, bf16, bf16, 64, 128, 0, 8, true, 4, 2, true, true, false), (bf16, bf16, bf16, 128, 64, 0, 8, true, 8, 4, true, true, false),
                 (bf16, bf16, bf16, 128, 128, 0, 6, true, 8, 4, true, true, false),
                 (bf16, bf16, bf16, 64, 64, 0, 12, false, 4, 1, true, true, false), (bf16, bf16, bf16, 128, 64, 0, 8, false, 8, 1, true, true, false),
                 (bf16, bf16, bf16, 128, 128, 0, 6, false, 8, 1, true, true, false), (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 1, true, true, false),
                 (bf16, bf16, bf16, 128, 128, 0, 6, false, 8, 2, true, true, false), (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 2, true, true, false),
                 (bf16, bf16, bf16, 128, 128, 64, 4, false, 8, 1, true, true, false), (bf16, bf16, bf16, 128, 128, 64, 4, false, 8, 2, true, true, false),
                 (bf16, bf16, bf16, 64, 16, 0, 10, true, 4, 1, false, true, false), (bf16, bf16, bf16, 64, 64, 0, 12, true, 4, 1, false, true, false),
                 (bf16, bf16, bf16, 128, 128, 0, 6, true, 8, 1, false, true, false), (bf16, bf16, bf16, 64, 64, 0, 12, false, 4, 1, true, false, false),
                 (bf16, bf16, bf16, 128, 128, 0, 6, false, 8, 1, true, false, false), (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 1, true, false, false),
                 (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 2, true, false, false), (bf16, bf16, bf16, 64, 64, 0, 12, false, 4, 1, false, true, false),
                 (bf16, bf16, bf16, 128, 128, 0, 6, false, 8, 1, false, true, false), (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 1, false, true, false),
                 (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 2, false, true, false), (bf16, bf16, bf16, 64, 64, 0, 12, false, 4, 1, false, false, false),
                 (bf16, bf16, bf16, 128, 128, 0, 6, false, 8, 1, false, false, false), (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 1, false, false, false),
                 (bf16, bf16, bf16, 128, 256, 0, 3, false, 8, 2, false, false, false),
                 (f16, f16, f16, 64, 8, 0, 10, true, 4, 1, true, true, false), (f16, f16, f16, 64, 16, 0, 10, true, 4, 1, true, true, false),
                 (f16, f16, f16, 64, 32, 0, 8, true, 4, 1, true, true, false), (f16, f16, f16, 64, 64, 0, 12, true, 4, 1, true, true, false),
                 (f16, f16, f16, 64, 128, 0, 8, true, 4, 1, true, true, false), (f16, f16, f16, 128, 8, 0, 6, true, 8, 1, true, true, false),
                 (f16, f16, f16, 128, 16, 0, 10, true, 8, 1, true, true, false), (f16, f16, f16, 64, 64, 0, 12, true, 4, 2, true, true, false),
                 (f16, f16, f16, 64, 128, 0, 8, true, 4, 2, true, true, false), (f16, f16, f16, 128, 64, 0, 8, true, 8, 4, true, true, false),
                 (f16, f16, f16, 128, 128, 0, 6, true, 8, 4, true, true, false),
                 (f16, f16, f16, 64, 64, 0, 12, false, 4, 1, true, true, false), (f16, f16, f16, 128, 64, 0, 8, false, 8, 1, true, true, false),
                 (f16, f16, f16, 128, 128, 0, 6, false, 8, 1, true, true, false), (f16, f16, f16, 128, 256, 0, 3, false, 8, 1, true, true, false),
                 (f16, f16, f16, 128, 128, 0, 6, false, 8, 2, true, true, false), (f16, f16, f16, 128, 256, 0, 3, false, 8, 2, true, true, false),
                 (f16, f16, f16, 128, 128, 64, 4, false, 8, 1, true, true, false), (f16, f16, f16, 128, 128, 64, 4, false, 8, 2, true, true, false),
                 (f16, f16, f16, 64, 16, 0, 10, true, 4, 1, false, true, false), (f16, f16, f16, 64, 64, 0, 12, true, 4, 1, false, true, false),
                 (f16, f16, f16, 128, 128, 0, 6, true, 8, 1, false, true, false), (f16, f16, f16, 64, 64, 0, 12, false, 4, 1, true, false, false),
                 (f16, f16, f16, 128, 128, 0, 6, false, 8, 1, true, false, false), (f16, f16, f16, 128, 256, 0, 3, false, 8, 1, true, false, false),
                 (f16, f16, f16, 128, 256, 0, 3, false, 8, 2, true, false, false), (f16, f16, f16, 64, 64, 0, 12, false, 4, 1, false, true, false),
                 (f16, f16, f16, 128, 128, 0, 6, false, 8, 1, false, true, false), (f16, f16, f16, 128, 256, 0, 3, false, 8, 1, false, true, false),
                 (f16, f16, f16, 128, 256, 0, 3, false, 8, 2, false, true, false), (f16, f16, f16, 64, 64, 0, 12, false, 4, 1, false, false, false),
                 (f16, f16, f16, 128, 128, 0, 6, false, 8, 1, false, false, false), (f16, f16, f16, 128, 256, 0, 3, false, 8, 1, false, false, false),
                 (f16, f16, f16, 128, 256, 0, 3, false, 8, 2, false, false, false),
                 (f32, f32, f32, 64, 8, 0, 10, true, 4, 1, true, true, false), (f32, f32, f32, 64, 16, 0, 10, true, 4, 1, true, true, false),
                 (f32, f32, f32, 64, 32, 0, 8, true, 4, 1, true, true, false), (f32, f32, f32, 64, 64, 0, 10, true, 4, 1, true, true, false),
                 (f32, f32, f32, 64, 128, 0, 7, true, 4, 1, true, true, false), (f32, f32, f32, 64, 64, 0, 10, false, 4, 1, true, true, false),
                 (f32, f32, f32, 128, 128, 0, 6, false, 8, 1, true, true, false), (f32, f32, f32, 128, 128, 0, 5, false, 8, 2, true, true, false),
                 (f32, f32, f32, 128, 256, 0, 4, false, 8, 1, true, true, false), (f32, f32, f32, 128, 256, 0, 4, false, 8, 2, true, true, false),
                 (e4m3, e4m3, bf16, 64, 8, 0, 10, true, 4, 1, true, true, false), (e4m3, e4m3, bf16, 64, 16, 0, 10, true, 4, 1, true, true, false),
                 (e4m3, e4m3, bf16, 64, 32, 0, 8, true, 4, 1, true, true, false), (e4m3, e4m3, bf16, 64, 64, 0, 12, true, 4, 1, true, true, false),
                 (e4m3, e4m3, bf16, 64, 128, 0, 8, true, 4, 1, true, true, false), (e4m3, e4m3, bf16, 64, 64, 0, 12, false, 4, 1, true, true, false),
                 (e4m3, e4m3, bf16, 128, 128, 0, 6, false, 8, 1, true, true, false), (e4m3, e4m3, bf16, 128, 128, 0, 6, false, 8, 2, true, true, false),
                 (e4m3, e4m3, f16, 64, 8, 0, 10, true, 4, 1, true, true, false), (e4m3, e4m3, f16, 64, 16, 0, 10, true, 4, 1, true, true, false),
                 (e4m3, e4m3, f16, 64, 32, 0, 8, true, 4, 1, true, true, false), (e4m3, e4m3, f16, 64, 64, 0, 12, true, 4, 1, true, true, false),
                 (e4m3, e4m3, f16, 64, 128, 0, 8, true, 4, 1, true, true, false), (e4m3, e4m3, f16, 64, 64, 0, 12, false, 4, 1, true, true, false),
                 (e4m3, e4m3, f16, 128, 128, 0, 6, false, 8, 1, true, true, false), (e4m3, e4m3, f16, 128, 128, 0, 6, false, 8, 2, true, true, false),
                 (e4m3, e4m3, bf16, 128, 128, 0, 6, false, 8, 1, true, true, true), (e4m3, e4m3, bf16, 128, 256, 0, 3, false, 8, 1, true, true, true),
                 (e4m3, e4m3, f16, 128, 128, 0, 6, false, 8, 1, true, true, true), (e4m3, e4m3, f16, 128, 256, 0, 3, false, 8, 1, true, true, true),
                 (e5m2, e4m3, bf16, 64, 64, 0, 12, false, 4, 1, true, true, false), (e5m2, e4m3, bf16, 128, 128, 0, 6, false, 8, 1, true, true, false),
                 (e4m3, e5m2, bf16, 64, 64, 0, 12, false, 4, 1, true, true, false), (e4m3, e5m2, bf16, 128, 128, 0, 6, false, 8, 1, true, true, false),
             ]))]
    pub fn product<
        T: Scalar,
        U: Scalar,
        R: Float,
        const BL: i32,
        const BR: i32,
        const X: i32,
        const STAGES: i32,
        const SWAP: bool,
        const W: i32,
        const C: i32,
        const LEFT_K: bool,
        const RIGHT_K: bool,
        const FAST: bool,
    >(
        #[block(1, if LEFT_K { BL } else { 64 }, if LEFT_K { 128 / T::BYTES } else { BL })]
        left: TensorMap<T, 3>,
        #[block(1, if X > 0 { X } else if RIGHT_K { BR / C } else { 64 }, if RIGHT_K { 128 / U::BYTES } else { BR })]
        right: TensorMap<U, 3>,
        #[block(1, if !SWAP { BL } else if X > 0 { X } else { BR },
                if SWAP { BL } else if X > 0 { X } else if R::BITS == 32 && BR > 64 { 32 } else { BR })]
        c: TensorMapMut<R, 3>,
        #[stride(16 * (BR + X), 128, 8, 1)] parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        clusters: i32,
        waves: i32,
        share: i32,
        rest: i32,
        scale: f32,
        bias: Tensor<R, 1>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        launch_dependents();
        let width = step_of::<T>();
        let depth = cdiv(left.dim(if LEFT_K { 2 } else { 1 }), width);
        let rows = cdiv(left.dim(if LEFT_K { 1 } else { 2 }), BL * C);
        let columns = cdiv(right.dim(if RIGHT_K { 1 } else { 2 }), BR + X);
        let rights = if RIGHT_K { shared([STAGES, BR, width]) } else { shared([STAGES, 64, BR]) };
        let p = Product {
            operands: Operands {
                left,
                right,
                lefts: if LEFT_K { shared([STAGES, BL, width]) } else { shared([STAGES, 64, BL]) },
                rights,
                others: if X > 0 { shared([STAGES, X, width]) } else { rights },
                full: barriers(STAGES, 1),
                empty: barriers(STAGES, C), // the readers of each block arrive
            },
            output: Output {
                c,
                epilogue: Epilogue { scale, bias, bias_of_left, activation, accumulate },
                staged: if R::BITS == 32 && !SWAP && BR > 64 {
                    shared([2, BL, 32]) // the whole tile would leave little room for operands
                } else if X == 0 {
                    if SWAP { shared([1, BR, BL]) } else { shared([1, BL, BR]) }
                } else {
                    if SWAP { shared([BR / X + 1, X, BL]) } else { shared([BR / X + 1, BL, X]) }
                },
                old: barrier(1),
            },
            parts,
            arrived,
            work: Work::new(
                c.dim(0),
                [rows, columns],
                depth,
                [clusters, waves],
                [share, rest],
                block_id(0) / C,
            ),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<SWAP, X, C, LEFT_K, RIGHT_K, FAST>(),
            [partition(1).registers(40).run(|| p.load::<X, C, LEFT_K, RIGHT_K>())],
        );
        if C > 1 {
            cluster::sync(); // until then other blocks arrive at this one's barriers
        }
    }

    /// The same product by clusters of `S` blocks, each of which computes the sums of a share of the steps of one tile. Of the sums each of the
    /// first `BR / N` blocks gets `N` columns from all others, in their shared memory, and stores them.
    ///
    /// There are `rows` by `columns` tiles for each product of a batch, and a cluster for each of them.
    #[kernel(target = sm_90a, warps = W, grid = [columns * S, rows, c.dim(0)], cluster = S,
             instances((T, U, R, BL, BR, N, STAGES, SWAP, W, S) = [
                 (bf16, bf16, bf16, 64, 8, 8, 10, true, 4, 2), (bf16, bf16, bf16, 64, 8, 8, 10, true, 4, 4),
                 (bf16, bf16, bf16, 64, 16, 8, 10, true, 4, 2), (bf16, bf16, bf16, 64, 16, 8, 10, true, 4, 4),
                 (bf16, bf16, bf16, 64, 32, 16, 8, true, 4, 2), (bf16, bf16, bf16, 64, 64, 32, 11, true, 4, 2),
                 (bf16, bf16, bf16, 64, 64, 16, 11, true, 4, 4), (bf16, bf16, bf16, 128, 64, 32, 7, true, 8, 2),
                 (bf16, bf16, bf16, 64, 128, 64, 7, true, 4, 2), (bf16, bf16, bf16, 128, 128, 64, 4, true, 8, 2),
                 (f16, f16, f16, 64, 8, 8, 10, true, 4, 2), (f16, f16, f16, 64, 8, 8, 10, true, 4, 4),
                 (f16, f16, f16, 64, 16, 8, 10, true, 4, 2), (f16, f16, f16, 64, 16, 8, 10, true, 4, 4),
                 (f16, f16, f16, 64, 32, 16, 8, true, 4, 2), (f16, f16, f16, 64, 64, 32, 11, true, 4, 2),
                 (f16, f16, f16, 64, 64, 16, 11, true, 4, 4), (f16, f16, f16, 128, 64, 32, 7, true, 8, 2),
                 (f16, f16, f16, 64, 128, 64, 7, true, 4, 2), (f16, f16, f16, 128, 128, 64, 4, true, 8, 2),
                 (f32, f32, f32, 64, 8, 8, 10, true, 4, 4), (f32, f32, f32, 64, 16, 8, 10, true, 4, 4),
                 (f32, f32, f32, 64, 64, 32, 10, true, 4, 2), (e4m3, e4m3, bf16, 64, 8, 8, 10, true, 4, 4),
                 (e4m3, e4m3, bf16, 64, 16, 8, 10, true, 4, 4), (e4m3, e4m3, bf16, 64, 64, 32, 10, true, 4, 2),
                 (e4m3, e4m3, f16, 64, 8, 8, 10, true, 4, 4), (e4m3, e4m3, f16, 64, 16, 8, 10, true, 4, 4),
                 (e4m3, e4m3, f16, 64, 64, 32, 10, true, 4, 2),
             ]))]
    pub fn split<
        T: Scalar,
        U: Scalar,
        R: Float,
        const BL: i32,
        const BR: i32,
        const N: i32,
        const STAGES: i32,
        const SWAP: bool,
        const W: i32,
        const S: i32,
    >(
        #[block(1, BL, 128 / T::BYTES)] left: TensorMap<T, 3>,
        #[block(1, BR, 128 / U::BYTES)] right: TensorMap<U, 3>,
        #[block(1, if SWAP { N } else { BL }, if SWAP { BL } else { N })] c: TensorMapMut<R, 3>,
        rows: i32,
        columns: i32,
        scale: f32,
        bias: Tensor<R, 1>,
        bias_of_left: bool,
        activation: i32,
        accumulate: bool,
    ) {
        launch_dependents();
        let rank = cluster::rank();
        let width = step_of::<T>();
        let depth = cdiv(left.dim(2), width);
        let steps = [depth * rank / S, depth * (rank + 1) / S];
        let (batch, row, column) = (block_id(2), block_id(1) * BL, block_id(0) / S * BR);
        let rights = shared([STAGES, BR, width]);
        let operands = Operands {
            left,
            right,
            lefts: shared([STAGES, BL, width]),
            rights,
            others: rights,
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
        };
        let output = Output {
            c,
            epilogue: Epilogue { scale, bias, bias_of_left, activation, accumulate },
            staged: if SWAP { shared([1, N, BL]) } else { shared([1, BL, N]) },
            old: barrier(1),
        };
        let exchange =
            Exchange::<S> { sums: shared([S - 1, BL / 16, N / 8, 16, 8]), there: barrier(1) };
        let multiply = || {
            let mut ring = Ring::reader(STAGES);
            let (acc, _) = operands.multiply::<0, 1, true, true, false>(&mut ring, steps);
            exchange.there.expect(exchange.sums.bytes());
            let mut own = acc.slice((.., 0..N));
            for part in unroll(0..BR / N) {
                own = exchange.give(rank, part, acc.slice((.., part * N..(part + 1) * N)), own);
            }
            if rank < BR / N {
                let at = [batch, row, column + rank * N];
                output.store::<SWAP>(output.staged[0], exchange.take(own), at, 0);
                tma::store_wait(0);
            }
        };
        let load = || {
            let mut ring = Ring::writer(STAGES);
            operands.load::<0, 1, true, true>(&mut ring, [batch, row, column], steps);
        };
        grid_dependency_wait();
        warp_specialize(multiply, [partition(1).run(load)]);
    }

    /// Sums that come from the other blocks of a cluster of `S`.
    struct Exchange<const S: i32> {
        /// A place for each of the others.
        sums: Shared<f32>,
        there: Barrier,
    }

    impl<const S: i32> Exchange<S> {
        /// Gives columns to the block `part`. They are what this block keeps if it is that one.
        fn give(&self, rank: i32, part: i32, columns: Tile<f32>, own: Tile<f32>) -> Tile<f32> {
            let mut kept = own;
            if rank == part {
                kept = columns;
            } else {
                let place = if rank > part { rank - 1 } else { rank };
                self.sums[place].of_block(part).store_async(as_held(columns), self.there);
            }
            kept
        }

        /// Adds what the others have given.
        fn take(&self, own: Tile<f32>) -> Tile<f32> {
            let mut sums = own;
            self.there.wait(0);
            for place in unroll(0..S - 1) {
                sums += as_tile(self.sums[place].load());
            }
            sums
        }
    }
}
