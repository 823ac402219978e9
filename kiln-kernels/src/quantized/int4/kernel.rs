//! The kernels of weights of four bits.

/// Codes of four bits, two in a byte, and what a group of them along `k` has in common.
#[kiln::kernel]
pub(crate) mod packed {
    use crate::shares::items::Share;
    use kiln::prelude::*;

    /// The codes in the low and in the high halves of bytes, less the zero points of their rows.
    fn shifted<T: Float>(codes: Tile<u8>, zero: Tile<u8>) -> (Tile<T>, Tile<T>) {
        let zero = zero.cast::<T>();
        ((codes & 15).cast::<T>() - zero, (codes >> 4).cast::<T>() - zero)
    }

    /// The codes in the low and in the high halves of bytes, less 8.
    fn centred<T: Float>(codes: Tile<u8>) -> (Tile<T>, Tile<T>) {
        let codes = codes.cast::<i32>();
        (((codes & 15) - 8).cast::<T>(), (((codes >> 4) & 15) - 8).cast::<T>())
    }

    /// Numbers along `k` that are multiplied at once, and have one scale.
    pub(crate) const CHUNK: i32 = 64;

    /// `c = a · bᵀ` of `BM` rows of `a` and `BN` rows of weights, for one of `shares` shares of `k`.
    ///
    /// The weights are the left operand of the product, of which an instruction takes 16 rows, where it takes as few as 8 of the right one.
    /// Which number along `k` is multiplied in which place does not matter, as long as it is the same for both operands: they are in the
    /// order in which a thread needs eight contiguous bytes of codes of each row, and no thread needs those of another.
    ///
    /// Each share stores its sums to `parts`. The last one to do so, by the counts of `arrived`, adds them in order.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(codes.dim(0), BN), shares, cdiv(a.dim(0), BM)],
             instances(T = [bf16], (BM, BN, STEP, STAGES) = [(8, 128, 256, 3), (16, 128, 256, 3), (32, 128, 128, 3)]))]
    pub fn product<T: Float, const BM: i32, const BN: i32, const STEP: i32, const STAGES: i32>(
        #[stride(_, 1)] a: Tensor<T, 2>,
        #[stride(_, 1)] codes: Tensor<u8, 2>,
        #[stride(_, 1)] scales: Tensor<T, 2>,
        #[stride(_, 1)] zeros: Option<Tensor<u8, 2>>,
        c: TensorMut<T, 2>,
        #[stride(_, BN * BM, BM, 1)] parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        group: i32,
        shares: i32,
    ) {
        let (column, row) = (block_id(0) * BN, block_id(2) * BM);
        let tile = block_id(2) * num_blocks(0) + block_id(0);
        let share = Share { tile, at: block_id(1), shares };
        let (from, to) = share.steps(cdiv(codes.dim(1), STEP / 2));
        let (qs, xs) = (shared::<u8>([BN, STEP / 2]), shared::<T>([BM, STEP]));
        let ss = array(STEP / CHUNK, |_| shared::<T>([1, BN]));
        let zs = array(STEP / CHUNK, |_| shared::<u8>([1, BN]));
        let mut sums = full::<f32>([BN, BM], 0.0);
        for step in pipeline(from..to, STAGES) {
            copy_async(codes.tile([column, step * (STEP / 2)], [BN, STEP / 2]), qs);
            copy_async(a.tile([row, step * STEP], [BM, STEP]), xs);
            for i in unroll(0..STEP / CHUNK) {
                let of_group = [(step * STEP + i * CHUNK) / group, column];
                copy_async(scales.tile(of_group, [1, BN]), ss[i]);
                if let Some(zeros) = zeros {
                    copy_async(zeros.tile(of_group, [1, BN]), zs[i]);
                }
            }
            for i in unroll(0..STEP / CHUNK) {
                let x = xs.tile([0, i * CHUNK], [BM, CHUNK]).load();
                let x = x.reshape([BM, 4, CHUNK / 16, 2, 2]).permute([0, 2, 1, 3, 4]);
                let (even, odd) = x.reshape([BM, CHUNK / 2, 2]).split();
                let q = qs.tile([0, i * (CHUNK / 2)], [BN, CHUNK / 2]).load();
                let q = q.reshape([BN, 4, CHUNK / 16, 2]).permute([0, 2, 1, 3]);
                let q = q.reshape([BN, CHUNK / 2]);
                let (low, high) = if zeros.is_some() {
                    shifted::<T>(q, zs[i].load().reshape([BN, 1]))
                } else {
                    centred::<T>(q)
                };
                let part = dot(low, even.t(), full::<f32>([BN, BM], 0.0));
                let part = dot(high, odd.t(), part);
                let scale = ss[i].load().cast::<f32>().reshape([BN, 1]);
                sums = fma(part, scale, sums);
            }
        }
        if shares > 1 {
            if !share.put(sums, parts, arrived) {
                return;
            }
            sums = share.all([BN, BM], parts);
        }
        c.tile([row, column], [BM, BN]).store(sums.t().cast::<T>());
    }

    /// Weights as numbers of `T`, rounded once.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(1), 128), cdiv(out.dim(0), 64)],
             instances(T = [bf16]))]
    pub fn dequantize<T: Float>(
        #[stride(_, 1)] codes: Tensor<u8, 2>,
        #[stride(_, 1)] scales: Tensor<T, 2>,
        #[stride(_, 1)] zeros: Option<Tensor<u8, 2>>,
        out: TensorMut<T, 2>,
        group: i32,
    ) {
        let (row, column) = (block_id(1) * 64, block_id(0) * 128);
        // Half of the tile lies in one group.
        for half in unroll(0..2) {
            let at = column + half * 64;
            let q = codes.tile([row, at / 2], [64, 32]).load();
            let (low, high) = if let Some(zeros) = zeros {
                let zero = zeros.tile([at / group, row], [1, 64]).load();
                shifted::<T>(q, zero.reshape([64, 1]))
            } else {
                centred::<T>(q)
            };
            let scale = scales.tile([at / group, row], [1, 64]).load().cast::<f32>();
            let scale = scale.reshape([64, 1]).expand(2);
            let x = join(low, high).cast::<f32>() * scale;
            out.tile([row, at], [64, 64]).store(x.reshape([64, 64]).cast::<T>());
        }
    }

    /// Codes, scales and zero points of weights. A scale is at least `least`, whose reciprocal is finite.
    #[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(1), G), cdiv(x.dim(0), 32)],
             instances(T = [bf16], G = [64, 128]))]
    pub fn quantize<T: Float, const G: i32>(
        #[stride(_, 1)] x: Tensor<T, 2>,
        codes: TensorMut<u8, 2>,
        #[stride(_, 1)] scales: TensorMut<T, 2>,
        #[stride(_, 1)] zeros: Option<TensorMut<u8, 2>>,
        least: f32,
    ) {
        let (group, row) = (block_id(0), block_id(1) * 32);
        let x = x.tile([row, group * G], [32, G]).load().cast::<f32>();
        let (low, high) = (minimum(x.min(1), 0.0), maximum(x.max(1), 0.0));
        let (range, steps) =
            if zeros.is_some() { (high - low, 15.0) } else { (maximum(high, -low), 7.0) };
        let scale = select(range.gt(0.0), maximum(range / steps, least), 1.0).cast::<T>();
        scales.tile([group, row], [1, 32]).store(scale.expand(0));
        let scale = scale.cast::<f32>();
        let mut zero = full::<f32>([32], 8.0);
        if let Some(zeros) = zeros {
            zero = (-low / scale).round_ties_even().clamp(0.0, 15.0);
            zeros.tile([group, row], [1, 32]).store(zero.cast::<u8>().expand(0));
        }
        let code = (x / scale.expand(1)).round_ties_even() + zero.expand(1);
        let (low, high) = code.clamp(0.0, 15.0).cast::<i32>().reshape([32, G / 2, 2]).split();
        codes.tile([row, group * (G / 2)], [32, G / 2]).store((low | (high << 4)).cast::<u8>());
    }
}
