//! The kernels for Hopper: one warp copies by TMA, two warpgroups multiply.

#[kiln::kernel]
pub(crate) mod kernels {
    use super::super::{
        ring::items::{Operands, stage},
        tiles::items::{Epilogue, TilesOfAll, Walk},
    };
    use kiln::{Ring, prelude::*};

    struct Product<T: Float> {
        a: TensorMap<T, 2>,
        b: TensorMap<T, 3>,
        offsets: Tensor<i32, 1>,
        c: TensorMapMut<T, 2>,
        epilogue: Epilogue<T>,
        operands: Operands<T, T>,
        staged: Shared<T>,
    }

    impl<T: Float> Product<T> {
        /// Fills the ring with the operands of each step.
        fn load<const BM: i32, const BN: i32, const ALONG_K: bool>(&self) {
            let (lefts, rights) = (self.operands.lefts, self.operands.rights);
            let (full, empty) = (self.operands.full, self.operands.empty);
            let columns = cdiv(self.c.dim(1), BN);
            let mut walk = Walk::new(self.offsets, self.b.dim(0), self.a.dim(0));
            let mut ring = Ring::writer(full.len());
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                for k in range(0, self.a.dim(1), 64) {
                    let full = full[ring.slot];
                    empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    // Rows of the next expert may come along; they are not stored.
                    tma::load(self.a, [walk.begin + row * BM, k], full, lefts[ring.slot]);
                    let (j, i) = (column * BN, walk.expert);
                    let at = if ALONG_K { [i, j, k] } else { [i, k, j] };
                    tma::load(self.b, at, full, rights[ring.slot]);
                    ring.advance();
                }
                tile += num_blocks(0);
            }
        }

        /// Multiplies and stores.
        fn multiply<const BM: i32, const BN: i32, const SWAP: bool, const ALONG_K: bool>(&self) {
            let (columns, depth) = (cdiv(self.c.dim(1), BN), cdiv(self.a.dim(1), 64));
            let mut walk = Walk::new(self.offsets, self.b.dim(0), self.a.dim(0));
            let mut ring = Ring::reader(self.operands.full.len());
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                let (row, column) = ((walk.begin + row * BM).max(0), column * BN);
                let acc =
                    self.operands.multiply::<1, BM, BN, true, ALONG_K, SWAP>(&mut ring, depth);
                tma::store_wait(0); // the tile before this one has left `staged`
                stage::<T, SWAP>(self.epilogue, acc, [walk.expert, row, column], self.staged);
                fence_async();
                tma::store(self.c.slice((..walk.end, ..)), [row, column], self.staged);
                tile += num_blocks(0);
            }
            tma::store_wait(0);
        }
    }

    /// Persistent blocks compute tiles of `BM` rows of an expert and `BN` columns, with `SWAP` their transpose: `wgmma` takes 64 rows of
    /// its left operand for each warpgroup, but as few as 8 of its right one.
    ///
    /// `ALONG_K` says whether weights are contiguous along `k`; others are given as their transpose, `[experts, k, n]`. Tensors without
    /// elements stand for what is absent.
    #[kernel(target = sm_90a, warps = 8, grid = blocks,
             instances(T = [bf16, f16], (BM, BN, STAGES, SWAP) = [
                 (16, 128, 8, true), (64, 128, 6, true), (128, 256, 3, false),
             ], ALONG_K = [true, false]))]
    pub fn product<
        T: Float,
        const BM: i32,
        const BN: i32,
        const STAGES: i32,
        const SWAP: bool,
        const ALONG_K: bool,
    >(
        #[block(BM, 64)] a: TensorMap<T, 2>,
        #[block(1, if ALONG_K { BN } else { 64 }, if ALONG_K { 64 } else { BN })] b: TensorMap<
            T,
            3,
        >,
        offsets: Tensor<i32, 1>,
        #[block(BM, BN)] c: TensorMapMut<T, 2>,
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
            epilogue: Epilogue { scale, bias, activation, weights },
            operands: Operands {
                lefts: shared::<T>([STAGES, BM, 64]),
                rights: if ALONG_K {
                    shared::<T>([STAGES, BN, 64])
                } else {
                    shared::<T>([STAGES, 64, BN])
                },
                full: barriers(STAGES, 1),
                empty: barriers(STAGES, 1),
            },
            staged: shared::<T>([BM, BN]),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<BM, BN, SWAP, ALONG_K>(),
            [partition(1).registers(40).run(|| p.load::<BM, BN, ALONG_K>())],
        );
    }

    /// Which of the clusters of `C` blocks this is.
    fn cluster_id<const C: i32>() -> i32 {
        block_id(0) / C
    }

    /// Gradients of weights: the product along the rows of each expert.
    struct Gradient<T: Float> {
        dc: TensorMap<T, 2>,
        a: TensorMap<T, 2>,
        offsets: Tensor<i32, 1>,
        db: TensorMapMut<T, 3>,
        operands: Operands<T, T>,
        staged: Shared<T>,
        tiles: TilesOfAll,
    }

    impl<T: Float> Gradient<T> {
        /// Fills the ring with the rows of each step; after the last row of an expert, with zeros. Blocks of a cluster take turns to load
        /// the columns of `a`, which all of them read.
        fn load<const BM: i32, const BN: i32, const C: i32>(&self) {
            let (lefts, rights) = (self.operands.lefts, self.operands.rights);
            let (full, empty) = (self.operands.full, self.operands.empty);
            let mut walk = Walk::new(self.offsets, self.db.dim(0), self.a.dim(0));
            let mut ring = Ring::writer(full.len());
            let mut turn = 0;
            for tile in range(cluster_id::<C>(), self.tiles.count(), num_blocks(0) / C) {
                let (expert, row, column) = self.tiles.place_of::<C>(tile);
                walk.reach(expert);
                let (dc, a) = (self.dc.slice((..walk.end, ..)), self.a.slice((..walk.end, ..)));
                for at in range(walk.begin, walk.end, 64) {
                    let (full, at) = (full[ring.slot], at.max(0));
                    empty[ring.slot].wait(ring.phase);
                    full.expect(self.dc.block_bytes() + self.a.block_bytes());
                    tma::load(dc, [at, row * BM], full, lefts[ring.slot]);
                    let (from, to) = ([at, column * BN], rights[ring.slot]);
                    if C == 1 {
                        tma::load(a, from, full, to);
                    } else {
                        tma::load(a, from, full, to)
                            .when(cluster::rank() == turn)
                            .multicast((1 << C) - 1);
                        turn = (turn + 1) % C;
                    }
                    ring.advance();
                }
            }
        }

        /// Multiplies and stores, zeros for an expert without rows.
        fn multiply<const BM: i32, const BN: i32, const C: i32>(&self) {
            let mut walk = Walk::new(self.offsets, self.db.dim(0), self.a.dim(0));
            let mut ring = Ring::reader(self.operands.full.len());
            for tile in range(cluster_id::<C>(), self.tiles.count(), num_blocks(0) / C) {
                let (expert, row, column) = self.tiles.place_of::<C>(tile);
                walk.reach(expert);
                let steps = cdiv(walk.end - walk.begin, 64);
                let acc =
                    self.operands.multiply::<C, BM, BN, false, false, false>(&mut ring, steps);
                tma::store_wait(0); // the tile before this one has left `staged`
                self.staged.store(acc.cast());
                fence_async();
                tma::store(self.db, [expert, row * BM, column * BN], self.staged);
            }
            tma::store_wait(0);
        }
    }

    /// `db[e] = dcᵀ · a` of the rows of each expert `e`, by persistent clusters of `C` blocks, whose tiles are below one another.
    #[kernel(target = sm_90a, warps = 8, grid = clusters * C, cluster = C,
             instances(T = [bf16, f16], (BM, BN, STAGES, C) = [(128, 128, 5, 1), (128, 256, 3, 1), (128, 256, 3, 2)]))]
    pub fn gradient<T: Float, const BM: i32, const BN: i32, const STAGES: i32, const C: i32>(
        #[block(64, BM)] dc: TensorMap<T, 2>,
        #[block(64, BN)] a: TensorMap<T, 2>,
        offsets: Tensor<i32, 1>,
        #[block(1, BM, BN)] db: TensorMapMut<T, 3>,
        clusters: i32,
    ) {
        launch_dependents();
        let p = Gradient {
            dc,
            a,
            offsets,
            db,
            operands: Operands {
                lefts: shared::<T>([STAGES, 64, BM]),
                rights: shared::<T>([STAGES, 64, BN]),
                full: barriers(STAGES, 1),
                empty: barriers(STAGES, C),
            },
            staged: shared::<T>([BM, BN]),
            tiles: TilesOfAll::new(db.dim(0), cdiv(db.dim(1), BM * C), cdiv(db.dim(2), BN)),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<BM, BN, C>(),
            [partition(1).registers(40).run(|| p.load::<BM, BN, C>())],
        );
        if C > 1 {
            cluster::sync(); // until then other blocks arrive at this one's barriers
        }
    }
}
