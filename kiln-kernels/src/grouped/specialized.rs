//! The kernels for Hopper: one warp, or four that gather, copy, and warpgroups multiply.

#![expect(clippy::bool_to_int_with_if, reason = "device code has no numbers of booleans")]

#[kiln::kernel]
pub(crate) mod specialized {
    use super::super::tiles::items::{Epilogue, Lists, TilesOfAll, Walk};
    use kiln::{Ring, prelude::*};

    /// How many warps gather rows.
    const GATHERERS: i32 = 4;

    struct Product<T: Float> {
        a: TensorMap<T, 2>,
        b: TensorMap<T, 3>,
        offsets: Tensor<i32, 1>,
        c: TensorMapMut<T, 2>,
        lists: Lists,
        rows: i32,
        epilogue: Epilogue<T>,
        lefts: Shared<T>,
        rights: Shared<T>,
        staged: Shared<T>,
        /// The rows of `a` that each warp gathers.
        numbers: Shared<i32>,
        full: Barriers,
        empty: Barriers,
    }

    impl<T: Float> Product<T> {
        /// Fills the ring with the operands of each step.
        fn load<const BM: i32, const BN: i32, const ALONG_K: bool>(&self) {
            let columns = cdiv(self.c.dim(1), BN);
            let mut walk = Walk::new(self.offsets, self.rows);
            let mut ring = Ring::writer(self.full.len());
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                for k in range(0, self.a.dim(1), 64) {
                    let full = self.full[ring.slot];
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    // Rows of the next expert may come along; they are not stored.
                    tma::load(self.a, [walk.begin + row * BM, k], full, self.lefts[ring.slot]);
                    self.load_weights::<BN, ALONG_K>(walk.expert, column, k, ring.slot);
                    ring.advance();
                }
                tile += num_blocks(0);
            }
        }

        fn load_weights<const BN: i32, const ALONG_K: bool>(
            &self,
            expert: i32,
            column: i32,
            k: i32,
            slot: i32,
        ) {
            let at = if ALONG_K { [expert, column * BN, k] } else { [expert, k, column * BN] };
            tma::load(self.b, at, self.full[slot], self.rights[slot]);
        }

        /// The part of a warp, number `Q`, of filling the ring: it gathers as many rows of `a` as the other warps. While they are in flight it
        /// starts the copies of the next step; then it signals that they are there.
        fn gather<const BM: i32, const BN: i32, const ALONG_K: bool, const Q: i32>(&self) {
            let columns = cdiv(self.c.dim(1), BN);
            let mut walk = Walk::new(self.offsets, self.rows);
            let mut ring = Ring::writer(self.full.len());
            let mut before = -1;
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                let first = walk.begin + row * BM + Q * (BM / GATHERERS);
                let mine = self.numbers[Q];
                mine.store(self.lists.sources(first, BM / GATHERERS));
                sync();
                for k in range(0, self.a.dim(1), 64) {
                    self.empty[ring.slot].wait(ring.phase);
                    if Q == 0 {
                        self.full[ring.slot].expect(self.b.block_bytes());
                        self.load_weights::<BN, ALONG_K>(walk.expert, column, k, ring.slot);
                    }
                    for i in unroll(0..BM / GATHERERS) {
                        let number = mine.tile([i], [1]).load().item();
                        let to = self.lefts[ring.slot].tile([Q * (BM / GATHERERS) + i, 0], [1, 64]);
                        copy_async(self.a.tile([number, k], [1, 64]), to);
                    }
                    copy_async_commit();
                    if before >= 0 {
                        copy_async_wait(1);
                        fence_async();
                        self.full[before].arrive();
                    }
                    before = ring.slot;
                    ring.advance();
                }
                sync(); // the numbers have been read
                tile += num_blocks(0);
            }
            if before >= 0 {
                copy_async_wait(0);
                fence_async();
                self.full[before].arrive();
            }
        }

        /// Multiplies, with one product in flight during the wait for the operands of the next, and stores.
        fn multiply<
            const BM: i32,
            const BN: i32,
            const SWAP: bool,
            const ALONG_K: bool,
            const LISTED: bool,
        >(
            &self,
        ) {
            let columns = cdiv(self.c.dim(1), BN);
            let mut walk = Walk::new(self.offsets, self.rows);
            let mut ring = Ring::reader(self.full.len());
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                let (row, column) = ((walk.begin + row * BM).max(0), column * BN);
                let mut acc = if SWAP { zeros::<f32>([BN, BM]) } else { zeros::<f32>([BM, BN]) };
                let mut before = ring.slot;
                for k in range(0, self.a.dim(1), 64) {
                    self.full[ring.slot].wait(ring.phase);
                    let (left, right) = (self.lefts[ring.slot], self.rights[ring.slot]);
                    let right = if ALONG_K { right.t() } else { right };
                    if SWAP {
                        acc = wgmma::mma(right.t(), left.t(), acc);
                    } else {
                        acc = wgmma::mma(left, right, acc);
                    }
                    acc = wgmma::wait(1, acc);
                    if k > 0 {
                        self.empty[before].arrive();
                    }
                    before = ring.slot;
                    ring.advance();
                }
                acc = wgmma::wait(0, acc);
                self.empty[before].arrive();
                tma::store_wait(0); // the tile before this one has left `staged`
                if self.epilogue.is_plain() {
                    self.staged.store(if SWAP { acc.permute([1, 0]).cast() } else { acc.cast() });
                } else {
                    let width = Epilogue::<T>::width(acc);
                    for part in range(0, acc.dim(1) / width, 1) {
                        let (sums, at) = (Epilogue::<T>::part(acc, part), part * width);
                        if SWAP {
                            let y = self.epilogue.value::<true>(sums, walk.expert, row + at, column);
                            let to = self.staged.tile([at, 0], [width, BN]);
                            to.store(y.permute([1, 0]).cast());
                        } else {
                            let y = self.epilogue.value::<false>(sums, walk.expert, row, column + at);
                            self.staged.tile([0, at], [BM, width]).store(y.cast());
                        }
                    }
                }
                if LISTED && self.lists.scatter.dim(0) > 0 {
                    sync();
                    self.scatter_rows::<BM, BN>(row, walk.end, column);
                    sync();
                } else {
                    fence_async();
                    tma::store(self.c.slice((..walk.end, ..)), [row, column], self.staged);
                }
                tile += num_blocks(0);
            }
            tma::store_wait(0);
        }

        /// Stores the rows of a tile to where they are listed.
        fn scatter_rows<const BM: i32, const BN: i32>(&self, row: i32, end: i32, column: i32) {
            for at in range(0, BM, 8) {
                let rows = array(8, |i| self.lists.target(row + at + i, end));
                for i in unroll(0..8) {
                    let numbers = self.staged.tile([at + i, 0], [1, BN]).load();
                    self.c.tile([rows[i], column], [1, BN]).store(numbers);
                }
            }
        }
    }

    /// Persistent blocks compute tiles of `BM` rows of an expert and `BN` columns, with `SWAP` their transpose: `wgmma` takes 64 rows of its
    /// left operand for each warpgroup, but as few as 8 of its right one.
    ///
    /// `ALONG_K` says whether weights are contiguous along `k`; others are given as their transpose, `[experts, k, n]`. `LISTED` is for rows
    /// that are gathered or scattered. Tensors without elements stand for what is absent.
    #[kernel(target = sm_90a, warps = 8, grid = blocks,
             instances(T = [bf16, f16], (BM, BN, STAGES, SWAP, LISTED) = [
                 (16, 128, 8, true, false), (64, 128, 6, true, false), (128, 256, 3, false, false),
                 (16, 128, 8, true, true), (128, 256, 3, false, true),
             ], ALONG_K = [true, false]))]
    pub fn product<
        T: Float,
        const BM: i32,
        const BN: i32,
        const STAGES: i32,
        const SWAP: bool,
        const LISTED: bool,
        const ALONG_K: bool,
    >(
        #[block(BM, 64)] a: TensorMap<T, 2>,
        #[block(1, if ALONG_K { BN } else { 64 }, if ALONG_K { 64 } else { BN })] b: TensorMap<
            T,
            3,
        >,
        offsets: Tensor<i32, 1>,
        #[block(BM, BN)] c: TensorMapMut<T, 2>,
        gather: Tensor<i32, 1>,
        scatter: Tensor<i32, 1>,
        rows: i32,
        blocks: i32,
        scale: f32,
        bias: Tensor<T, 2>,
        activation: i32,
        weights: Tensor<f32, 1>,
    ) {
        launch_dependents();
        let p = Product {
            a,
            b,
            offsets,
            c,
            lists: Lists { gather, scatter },
            rows,
            epilogue: Epilogue { scale, bias, activation, weights },
            lefts: shared([STAGES, BM, 64]),
            rights: if ALONG_K { shared([STAGES, BN, 64]) } else { shared([STAGES, 64, BN]) },
            staged: shared([BM, BN]),
            numbers: shared([GATHERERS, BM / GATHERERS]),
            // The weights and the rows of `a` of each warp that gathers.
            full: barriers(STAGES, if LISTED { 1 + GATHERERS } else { 1 }),
            empty: barriers(STAGES, 1),
        };
        grid_dependency_wait();
        if LISTED {
            warp_specialize(
                || p.multiply::<BM, BN, SWAP, ALONG_K, LISTED>(),
                [
                    partition(1).registers(72).run(|| p.gather::<BM, BN, ALONG_K, 0>()),
                    partition(1).registers(72).run(|| p.gather::<BM, BN, ALONG_K, 1>()),
                    partition(1).registers(72).run(|| p.gather::<BM, BN, ALONG_K, 2>()),
                    partition(1).registers(72).run(|| p.gather::<BM, BN, ALONG_K, 3>()),
                ],
            );
        } else {
            warp_specialize(
                || p.multiply::<BM, BN, SWAP, ALONG_K, LISTED>(),
                [partition(1).registers(40).run(|| p.load::<BM, BN, ALONG_K>())],
            );
        }
    }

    /// Gradients of weights: the product along the rows of each expert.
    struct Gradient<T: Float> {
        dc: TensorMap<T, 2>,
        a: TensorMap<T, 2>,
        offsets: Tensor<i32, 1>,
        db: TensorMapMut<T, 3>,
        lefts: Shared<T>,
        rights: Shared<T>,
        staged: Shared<T>,
        full: Barriers,
        empty: Barriers,
        tiles: TilesOfAll,
    }

    impl<T: Float> Gradient<T> {
        /// Fills the ring with the rows of each step; after the last row of an expert, with zeros.
        fn load<const BM: i32, const BN: i32>(&self) {
            let mut walk = Walk::new(self.offsets, self.a.dim(0));
            let mut ring = Ring::writer(self.full.len());
            for tile in range(block_id(0), self.tiles.count(), num_blocks(0)) {
                let (expert, row, column) = self.tiles.place(tile);
                walk.reach(expert);
                let (dc, a) = (self.dc.slice((..walk.end, ..)), self.a.slice((..walk.end, ..)));
                for at in range(walk.begin, walk.end, 64) {
                    let (full, at) = (self.full[ring.slot], at.max(0));
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.dc.block_bytes() + self.a.block_bytes());
                    tma::load(dc, [at, row * BM], full, self.lefts[ring.slot]);
                    tma::load(a, [at, column * BN], full, self.rights[ring.slot]);
                    ring.advance();
                }
            }
        }

        /// Multiplies and stores, zeros for an expert without rows.
        fn multiply<const BM: i32, const BN: i32>(&self) {
            let mut walk = Walk::new(self.offsets, self.a.dim(0));
            let mut ring = Ring::reader(self.full.len());
            for tile in range(block_id(0), self.tiles.count(), num_blocks(0)) {
                let (expert, row, column) = self.tiles.place(tile);
                walk.reach(expert);
                let mut acc = zeros::<f32>([BM, BN]);
                let mut before = ring.slot;
                for at in range(walk.begin, walk.end, 64) {
                    self.full[ring.slot].wait(ring.phase);
                    acc = wgmma::mma(self.lefts[ring.slot].t(), self.rights[ring.slot], acc);
                    acc = wgmma::wait(1, acc);
                    if at > walk.begin {
                        self.empty[before].arrive();
                    }
                    before = ring.slot;
                    ring.advance();
                }
                acc = wgmma::wait(0, acc);
                if walk.end > walk.begin {
                    self.empty[before].arrive();
                }
                tma::store_wait(0); // the tile before this one has left `staged`
                self.staged.store(acc.cast());
                fence_async();
                tma::store(self.db, [expert, row * BM, column * BN], self.staged);
            }
            tma::store_wait(0);
        }
    }

    /// `db[e] = dcᵀ · a` of the rows of each expert `e`, by persistent blocks.
    #[kernel(target = sm_90a, warps = 8, grid = blocks,
             instances(T = [bf16, f16], (BM, BN, STAGES) = [(128, 128, 5), (128, 256, 3)]))]
    pub fn gradient<T: Float, const BM: i32, const BN: i32, const STAGES: i32>(
        #[block(64, BM)] dc: TensorMap<T, 2>,
        #[block(64, BN)] a: TensorMap<T, 2>,
        offsets: Tensor<i32, 1>,
        #[block(1, BM, BN)] db: TensorMapMut<T, 3>,
        blocks: i32,
    ) {
        launch_dependents();
        let p = Gradient {
            dc,
            a,
            offsets,
            db,
            lefts: shared([STAGES, 64, BM]),
            rights: shared([STAGES, 64, BN]),
            staged: shared([BM, BN]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
            tiles: TilesOfAll::new(db.dim(0), cdiv(db.dim(1), BM), cdiv(db.dim(2), BN)),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<BM, BN>(),
            [partition(1).registers(40).run(|| p.load::<BM, BN>())],
        );
    }
}
