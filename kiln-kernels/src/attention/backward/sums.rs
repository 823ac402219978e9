//! What the gradients of all keys need of each query.

#[kiln::kernel]
pub(crate) mod of_results {
    use super::super::super::seen::items::{LN_2, part};
    use super::super::weights::items::{ROWS, rows_of_block};
    use kiln::prelude::*;

    /// Queries of a block.
    pub(crate) const R: i32 = 64;

    /// One block computes `R` queries of one head: the logarithms of their totals to the base 2, and the sums `out · d_out`.
    ///
    /// `sums` is `[2, batch, heads, R * blocks]`. The queries of each sequence begin at a multiple of `ROWS`; what is there after them
    /// gives weights of 0.
    #[kernel(target = sm_80, warps = 4, grid = blocks * out.dim(2) * out.dim(0),
             instances(T = [bf16, f16]))]
    pub fn prepare<T: Float>(
        out: Tensor<T, 4>,
        d_out: Tensor<T, 4>,
        lse: Tensor<f32, 3>,
        offsets: Tensor<i32, 1>,
        sums: TensorMut<f32, 4>,
        blocks: i32,
        longest: i32,
    ) {
        let start = R * (block_id(0) % blocks);
        let head = block_id(0) / blocks % out.dim(2);
        let plane = block_id(0) / blocks / out.dim(2);
        let (mut row, mut rows) = (start, (0, out.dim(1)));
        if offsets.dim(0) > 0 {
            let (sequence, at) = rows_of_block::<ROWS>(offsets, out.dim(1), start / ROWS);
            row = at + start % ROWS;
            rows = part(offsets, sequence, out.dim(1));
        }
        let (from, to) = (rows.0, rows.1.min(rows.0 + longest));
        let out = out.slice((.., from..to, .., ..));
        let d_out = d_out.slice((.., from..to, .., ..));
        let lse = lse.slice((.., .., from..to));
        let mut products = zeros::<f32>([R, 64]);
        for column in range(0, out.dim(3), 64) {
            let at = [plane, row, head, column];
            let of_result = |x: Tensor<T, 4>| x.tile(at, [1, R, 1, 64]).load().reshape([R, 64]);
            products += of_result(out).cast::<f32>() * of_result(d_out).cast::<f32>();
        }
        let delta = products.sum(1);
        let top = lse.tile([plane, head, row], [1, 1, R]).load().reshape([R]);
        // Weights are `exp2` of scores minus this. A query that sees no key has negative infinity.
        let weighs = (row + arange(0, R)).lt(to - from) & top.ne(f32::NEG_INFINITY);
        let top = select(weighs, top / LN_2, f32::INFINITY);
        sums.tile([0, plane, head, start], [1, 1, 1, R]).store(top.reshape([1, 1, 1, R]));
        sums.tile([1, plane, head, start], [1, 1, 1, R]).store(delta.reshape([1, 1, 1, R]));
    }
}
