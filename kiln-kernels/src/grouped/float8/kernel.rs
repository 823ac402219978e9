//! The kernels of FP8 numbers.

/// For Hopper: one warp copies by TMA, warpgroups multiply.
#[kiln::kernel]
pub(crate) mod specialized {
    use super::super::super::{
        ring::items::{Operands, stage},
        tiles::items::{Epilogue, Scales, Walk},
    };
    use kiln::{Ring, prelude::*};

    struct Product<T: Scalar, U: Scalar, R: Float> {
        a: TensorMap<T, 2>,
        b: TensorMap<U, 3>,
        scales: Scales,
        offsets: Tensor<i32, 1>,
        c: TensorMapMut<R, 2>,
        epilogue: Epilogue<R>,
        operands: Operands<T, U>,
        staged: Shared<R>,
    }

    impl<T: Scalar, U: Scalar, R: Float> Product<T, U, R> {
        /// Fills the ring with the operands of each step.
        fn load<const BM: i32, const BN: i32>(&self) {
            let (lefts, rights) = (self.operands.lefts, self.operands.rights);
            let (full, empty) = (self.operands.full, self.operands.empty);
            let columns = cdiv(self.c.dim(1), BN);
            let mut walk = Walk::new(self.offsets, self.b.dim(0), self.a.dim(0));
            let mut ring = Ring::writer(full.len());
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                for k in range(0, self.a.dim(1), 128) {
                    let full = full[ring.slot];
                    empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    // Rows of the next expert may come along; they are not stored.
                    tma::load(self.a, [walk.begin + row * BM, k], full, lefts[ring.slot]);
                    tma::load(self.b, [walk.expert, column * BN, k], full, rights[ring.slot]);
                    ring.advance();
                }
                tile += num_blocks(0);
            }
        }

        /// Multiplies and stores.
        fn multiply<const BM: i32, const BN: i32, const SWAP: bool>(&self) {
            let (columns, depth) = (cdiv(self.c.dim(1), BN), cdiv(self.a.dim(1), 128));
            let mut walk = Walk::new(self.offsets, self.b.dim(0), self.a.dim(0));
            let mut ring = Ring::reader(self.operands.full.len());
            let mut tile = block_id(0);
            while walk.seek(tile, BM, columns) {
                let (row, column) = walk.place(tile, BM, columns);
                let (row, column) = ((walk.begin + row * BM).max(0), column * BN);
                let sums = self.operands.multiply_float8::<BM, BN, SWAP>(&mut ring, depth);
                let of_rows = self.scales.of_rows(row, BM);
                let sums = self.scales.apply::<SWAP>(sums, of_rows, [walk.expert, column]);
                tma::store_wait(0); // the tile before this one has left `staged`
                stage::<R, SWAP>(self.epilogue, sums, [walk.expert, row, column], self.staged);
                fence_async();
                tma::store(self.c.slice((..walk.end, ..)), [row, column], self.staged);
                tile += num_blocks(0);
            }
            tma::store_wait(0);
        }
    }

    /// Persistent blocks compute tiles of `BM` rows of an expert and `BN` columns, with `SWAP` their transpose, as those of 16 bits.
    #[kernel(target = sm_90a, warps = 8, grid = blocks,
             instances((T, BM, BN, STAGES, SWAP) = [
                 (e4m3, 16, 128, 8, true), (e4m3, 64, 128, 6, true), (e4m3, 128, 128, 6, false),
                 (e5m2, 64, 128, 6, true), (e5m2, 128, 128, 6, false),
             ], U = [e4m3], R = [bf16]))]
    pub fn product<
        T: Scalar,
        U: Scalar,
        R: Float,
        const BM: i32,
        const BN: i32,
        const STAGES: i32,
        const SWAP: bool,
    >(
        #[block(BM, 128)] a: TensorMap<T, 2>,
        #[block(1, BN, 128)] b: TensorMap<U, 3>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 3>,
        offsets: Tensor<i32, 1>,
        #[block(BM, BN)] c: TensorMapMut<R, 2>,
        blocks: i32,
        scale: f32,
        bias: Tensor<R, 2>,
        activation: i32,
        weights: Tensor<f32, 1>,
    ) {
        launch_dependents();
        let p = Product {
            a,
            b,
            scales: Scales { a: a_scales, b: b_scales },
            offsets,
            c,
            epilogue: Epilogue { scale, bias, activation, weights },
            operands: Operands {
                lefts: shared::<T>([STAGES, BM, 128]),
                rights: shared::<U>([STAGES, BN, 128]),
                full: barriers(STAGES, 1),
                empty: barriers(STAGES, 1),
            },
            staged: shared([BM, BN]),
        };
        grid_dependency_wait();
        warp_specialize(
            || p.multiply::<BM, BN, SWAP>(),
            [partition(1).registers(40).run(|| p.load::<BM, BN>())],
        );
    }
}

/// For other GPUs with FP8: the compiler pipelines the copies.
#[kiln::kernel]
pub(crate) mod pipelined {
    use super::super::super::tiles::items::{Epilogue, Scales, Walk};
    use crate::activation::by_number::{part_of, width_at_once};
    use kiln::prelude::*;

    /// Persistent blocks compute tiles of `BM` rows of an expert and 128 columns. `MIXED` operands are of two types, and are multiplied in
    /// f16, which has the numbers of both.
    #[kernel(target = sm_89, warps = W, grid = blocks,
             instances((T, BM, BN, BK, W, MIXED) = [
                 (e4m3, 16, 128, 128, 4, false), (e4m3, 128, 128, 64, 8, false), (e5m2, 128, 128, 64, 8, true),
             ], U = [e4m3], R = [bf16]))]
    pub fn product<
        T: Cast,
        U: Cast,
        R: Float,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const W: i32,
        const MIXED: bool,
    >(
        a: Tensor<T, 2>,
        b: Tensor<U, 3>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 3>,
        offsets: Tensor<i32, 1>,
        c: TensorMut<R, 2>,
        blocks: i32,
        scale: f32,
        bias: Tensor<R, 2>,
        activation: i32,
        weights: Tensor<f32, 1>,
    ) {
        let scales = Scales { a: a_scales, b: b_scales };
        let epilogue = Epilogue { scale, bias, activation, weights };
        let (sa, sb) = (shared::<T>([BM, BK]), shared::<U>([BN, BK]));
        let columns = cdiv(c.dim(1), BN);
        let mut walk = Walk::new(offsets, b.dim(0), a.dim(0));
        let mut tile = block_id(0);
        while walk.seek(tile, BM, columns) {
            let (row, column) = walk.place(tile, BM, columns);
            let (row, column) = (walk.begin + row * BM, column * BN);
            let mut sums = zeros::<f32>([BM, BN]);
            for k in pipeline(range(0, a.dim(1), BK), 3) {
                copy_async(a.tile([row, k], [BM, BK]), sa);
                copy_async(b.tile([walk.expert, column, k], [1, BN, BK]), sb);
                if MIXED {
                    sums = dot(sa.load().cast::<f16>(), sb.t().load().cast::<f16>(), sums);
                } else {
                    sums += dot(sa, sb.t(), zeros::<f32>([BM, BN])); // hardware may keep fewer bits of longer sums
                }
            }
            sums = scales.apply::<false>(sums, scales.of_rows(row, BM), [walk.expert, column]);
            let c = c.slice((..walk.end, ..));
            if epilogue.is_plain() {
                c.tile([row, column], [BM, BN]).store(sums.cast());
            } else {
                let width = width_at_once(sums);
                for part in range(0, BN / width, 1) {
                    let (sums, column) = (part_of(sums, part), column + part * width);
                    let y = epilogue.value::<false>(sums, walk.expert, row, column);
                    c.tile([row, column], [BM, width]).store(y.cast());
                }
            }
            tile += num_blocks(0);
        }
    }
}
