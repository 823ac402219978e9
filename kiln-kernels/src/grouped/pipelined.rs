//! The kernels for GPUs from Ampere on: the compiler pipelines the copies.

#[kiln::kernel]
pub(crate) mod kernels {
    use super::super::tiles::items::{Epilogue, TilesOfAll, Walk};
    use crate::activation::by_number::{part_of, width_at_once};
    use kiln::prelude::*;

    /// Persistent blocks compute tiles of `BM` rows of an expert and `BN` columns.
    ///
    /// `ALONG_K` says whether weights are contiguous along `k`; others are given as their transpose, `[experts, k, n]`.
    #[kernel(target = sm_80, warps = W, grid = blocks,
             instances(T = [bf16, f16], (BM, BN, W) = [(16, 128, 4), (128, 128, 8)], ALONG_K = [true, false]))]
    pub fn product<T: Float, const BM: i32, const BN: i32, const W: i32, const ALONG_K: bool>(
        a: Tensor<T, 2>,
        b: Tensor<T, 3>,
        offsets: Tensor<i32, 1>,
        c: TensorMut<T, 2>,
        blocks: i32,
        scale: f32,
        bias: Tensor<T, 2>,
        activation: i32,
        weights: Tensor<f32, 1>,
    ) {
        let epilogue = Epilogue { scale, bias, activation, weights };
        let sa = shared::<T>([BM, 32]);
        let sb = if ALONG_K { shared::<T>([BN, 32]) } else { shared::<T>([32, BN]) };
        let columns = cdiv(c.dim(1), BN);
        let mut walk = Walk::new(offsets, b.dim(0), a.dim(0));
        let mut tile = block_id(0);
        while walk.seek(tile, BM, columns) {
            let (row, column) = walk.place(tile, BM, columns);
            let (row, column) = (walk.begin + row * BM, column * BN);
            let mut acc = zeros::<f32>([BM, BN]);
            for k in pipeline(range(0, a.dim(1), 32), 3) {
                copy_async(a.tile([row, k], [BM, 32]), sa);
                if ALONG_K {
                    copy_async(b.tile([walk.expert, column, k], [1, BN, 32]), sb);
                } else {
                    copy_async(b.tile([walk.expert, k, column], [1, 32, BN]), sb);
                }
                acc = dot(sa, if ALONG_K { sb.t() } else { sb }, acc);
            }
            let c = c.slice((..walk.end, ..));
            if epilogue.is_plain() {
                c.tile([row, column], [BM, BN]).store(acc.cast());
            } else {
                let width = width_at_once(acc);
                for part in range(0, BN / width, 1) {
                    let (sums, column) = (part_of(acc, part), column + part * width);
                    let y = epilogue.value::<false>(sums, walk.expert, row, column);
                    c.tile([row, column], [BM, width]).store(y.cast());
                }
            }
            tile += num_blocks(0);
        }
    }

    /// `db[e] = dcᵀ · a` of the rows of each expert `e`, zeros for an expert without rows.
    #[kernel(target = sm_80, warps = 8, grid = blocks, instances(T = [bf16, f16]))]
    pub fn gradient<T: Float>(
        dc: Tensor<T, 2>,
        a: Tensor<T, 2>,
        offsets: Tensor<i32, 1>,
        db: TensorMut<T, 3>,
        blocks: i32,
    ) {
        let (lefts, rights) = (shared::<T>([32, 128]), shared::<T>([32, 128]));
        let tiles = TilesOfAll::new(db.dim(0), cdiv(db.dim(1), 128), cdiv(db.dim(2), 128));
        let mut walk = Walk::new(offsets, db.dim(0), a.dim(0));
        for tile in range(block_id(0), tiles.count(), num_blocks(0)) {
            let (expert, row, column) = tiles.place(tile);
            let (row, column) = (row * 128, column * 128);
            walk.reach(expert);
            // After the last row of the expert, zeros are multiplied.
            let (dc, a) = (dc.slice((..walk.end, ..)), a.slice((..walk.end, ..)));
            let mut acc = zeros::<f32>([128, 128]);
            for at in pipeline(range(walk.begin, walk.end, 32), 3) {
                copy_async(dc.tile([at, row], [32, 128]), lefts);
                copy_async(a.tile([at, column], [32, 128]), rights);
                acc = dot(lefts.t(), rights, acc);
            }
            let sums = acc.cast::<T>().reshape([1, 128, 128]);
            db.tile([expert, row, column], [1, 128, 128]).store(sums);
        }
    }
}
