//! The kernels for GPUs from Ampere on: the compiler pipelines the copies.

#![expect(clippy::bool_to_int_with_if, reason = "device code has no numbers of booleans")]

#[kiln::kernel]
pub(crate) mod pipelined {
    use super::super::tiles::items::{Epilogue, Walk};
    use kiln::prelude::*;

    /// Persistent blocks compute tiles of `BM` rows of an expert and `BN` columns.
    ///
    /// `ALONG_K` says whether weights are contiguous along `k`; others are given as their transpose, `[experts, k, n]`.
    #[kernel(target = sm_80, warps = 4, grid = blocks,
             instances(T = [bf16, f16], (BM, BN) = [(16, 128), (128, 128)], ALONG_K = [true, false]))]
    pub fn product<T: Float, const BM: i32, const BN: i32, const ALONG_K: bool>(
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
        let mut walk = Walk::new(offsets, a.dim(0));
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
            let y = epilogue.value::<false>(acc, walk.expert, row, column).cast::<T>();
            c.slice((..walk.end, ..)).tile([row, column], [BM, BN]).store(y);
            tile += num_blocks(0);
        }
    }
}
