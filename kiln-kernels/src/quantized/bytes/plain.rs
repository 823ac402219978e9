//! Kernels for few rows, and for GPUs without `wgmma`: the compiler pipelines the copies.

/// Products with the weights on the left, of which an instruction takes 16 rows, where it takes as few as 8 of the right operand. A step is
/// 128 numbers along `k`.
#[kiln::kernel]
pub(crate) mod pipelined {
    use crate::shares::items::Share;
    use kiln::prelude::*;

    /// Numbers of FP8, as f16 has all of them.
    fn halves(x: Tile<e4m3>) -> Tile<f16> {
        if target(sm_80) {
            // Of an f16 with the same bits of exponent and fraction, the exponent is 8 less.
            let bits = x.bitcast::<u8>().cast::<u16>();
            let number = ((bits & 128) << 8 | (bits & 127) << 7).bitcast::<f16>();
            select((bits & 127).eq(127), f16::of(f32::NAN), number * f16::of(256.0))
        } else {
            x.cast::<f16>()
        }
    }

    /// 64 numbers along `k`, in the order in which a thread needs 16 contiguous ones of each row.
    fn operand(numbers: Tile<e4m3>) -> Tile<f16> {
        let rows = numbers.dim(0);
        let x = halves(numbers).reshape([rows, 4, 8, 2]).permute([0, 2, 1, 3]);
        x.reshape([rows, 64])
    }

    /// The scales of a step for each row of `a`, if blocks have scales.
    fn scales<const BM: i32>(
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        [row, column, step]: [i32; 3],
        blocks: bool,
    ) -> Tile<f32> {
        let mut scales = full::<f32>([BM], 1.0);
        if blocks {
            let of_b = b_scales.tile([column / 128, step], [1, 1]).load().item();
            scales = a_scales.tile([row, step], [BM, 1]).load().reshape([BM]) * of_b;
        }
        scales
    }

    /// Sums, of rows of `b`, times the scales of their rows and columns.
    fn scaled<S: Cast, const BM: i32>(
        sums: Tile<S>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        [row, column]: [i32; 2],
    ) -> Tile<f32> {
        let of_a = a_scales.tile([row, 0], [BM, 1]).load().reshape([1, BM]);
        sums.cast::<f32>() * b_scales.tile([column, 0], [128, 1]).load() * of_a
    }

    /// FP8 numbers become f16 in registers.
    #[kernel(target = [sm_80, sm_89], warps = 8, grid = [cdiv(b.dim(0), 128), shares, cdiv(a.dim(0), BM)],
             instances(R = [bf16], BM = [8, 32]))]
    pub fn float8<R: Float, const BM: i32>(
        #[stride(_, 1)] a: Tensor<e4m3, 2>,
        #[stride(_, 1)] b: Tensor<e4m3, 2>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        c: TensorMut<R, 2>,
        #[stride(_, 128 * BM, BM, 1)] parts: TensorMut<f32, 4>,
        arrived: TensorMut<i32, 1>,
        shares: i32,
        blocks: bool,
    ) {
        let (column, row) = (block_id(0) * 128, block_id(2) * BM);
        let tile = block_id(2) * num_blocks(0) + block_id(0);
        let share = Share { tile, at: block_id(1), shares };
        let (from, to) = share.steps(cdiv(b.dim(1), 128));
        let (ws, xs) = (shared::<e4m3>([128, 128]), shared::<e4m3>([BM, 128]));
        let mut sums = full::<f32>([128, BM], 0.0);
        let mut next = scales::<BM>(a_scales, b_scales, [row, column, from], blocks);
        for step in pipeline(from..to, 3) {
            copy_async(b.tile([column, step * 128], [128, 128]), ws);
            copy_async(a.tile([row, step * 128], [BM, 128]), xs);
            let scale = next;
            next = scales::<BM>(a_scales, b_scales, [row, column, step + 1], blocks);
            let mut part = full::<f32>([128, BM], 0.0);
            for half in unroll(0..2) {
                let w = operand(ws.tile([0, half * 64], [128, 64]).load());
                let x = operand(xs.tile([0, half * 64], [BM, 64]).load());
                part = dot(w, x.t(), part);
            }
            sums = fma(part, scale.expand(0), sums);
        }
        if shares > 1 {
            if !share.put(sums, parts, arrived) {
                return;
            }
            sums = share.all([128, BM], parts);
        }
        if !blocks {
            sums = scaled::<f32, BM>(sums, a_scales, b_scales, [row, column]);
        }
        c.tile([row, column], [BM, 128]).store(sums.t().cast::<R>());
    }

    /// Sums of integers, exact but for the wrapping of i32. With `SCALED`, they are multiplied by scales of rows.
    #[kernel(target = sm_80, warps = 8, grid = [cdiv(b.dim(0), 128), shares, cdiv(a.dim(0), BM)],
             instances((R, SCALED, BM) = [
                 (bf16, true, 8), (bf16, true, 32), (f16, true, 32), (f32, true, 32), (i32, false, 8), (i32, false, 32),
             ]))]
    pub fn int8<R: Cast, const SCALED: bool, const BM: i32>(
        #[stride(_, 1)] a: Tensor<i8, 2>,
        #[stride(_, 1)] b: Tensor<i8, 2>,
        a_scales: Tensor<f32, 2>,
        b_scales: Tensor<f32, 2>,
        c: TensorMut<R, 2>,
        #[stride(_, 128 * BM, BM, 1)] parts: TensorMut<i32, 4>,
        arrived: TensorMut<i32, 1>,
        shares: i32,
    ) {
        let (column, row) = (block_id(0) * 128, block_id(2) * BM);
        let tile = block_id(2) * num_blocks(0) + block_id(0);
        let share = Share { tile, at: block_id(1), shares };
        let (from, to) = share.steps(cdiv(b.dim(1), 128));
        let (ws, xs) = (shared::<i8>([128, 128]), shared::<i8>([BM, 128]));
        let mut sums = full::<i32>([128, BM], 0);
        for step in pipeline(from..to, 3) {
            copy_async(b.tile([column, step * 128], [128, 128]), ws);
            copy_async(a.tile([row, step * 128], [BM, 128]), xs);
            sums = dot(ws, xs.t(), sums);
        }
        if shares > 1 {
            if !share.put(sums, parts, arrived) {
                return;
            }
            sums = share.all([128, BM], parts);
        }
        let window = c.tile([row, column], [BM, 128]);
        if SCALED {
            let y = scaled::<i32, BM>(sums, a_scales, b_scales, [row, column]);
            window.store(y.t().cast::<R>());
        } else {
            window.store(sums.t().cast::<R>());
        }
    }
}
