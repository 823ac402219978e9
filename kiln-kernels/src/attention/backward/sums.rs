//! What the gradients of all keys need of each query, and what they leave of it.

#[kiln::kernel]
pub(crate) mod of_results {
    use super::super::super::seen::items::{LN_2, part};
    use super::super::weights::items::{ROWS, rows_of_block};
    use kiln::prelude::*;

    /// Queries of a block.
    pub(crate) const R: i32 = 64;

    /// What a block computes.
    #[derive(Clone, Copy)]
    struct Task {
        plane: i32,
        head: i32,
        /// Its first row among the sums.
        start: i32,
        /// Its first query in the sequence, and where that begins and ends.
        row: i32,
        from: i32,
        to: i32,
    }

    impl Task {
        /// Of tensors with so many queries, of `heads` heads with so many blocks each.
        fn new(
            offsets: Tensor<i32, 1>,
            queries: i32,
            heads: i32,
            blocks: i32,
            longest: i32,
        ) -> Task {
            let start = R * (block_id(0) % blocks);
            let (mut row, mut rows) = (start, (0, queries));
            if offsets.dim(0) > 0 {
                let (sequence, at) = rows_of_block::<ROWS>(offsets, queries, start / ROWS);
                row = at + start % ROWS;
                rows = part(offsets, sequence, queries);
            }
            let (from, to) = (rows.0, rows.1.min(rows.0 + longest));
            let (head, plane) = (block_id(0) / blocks % heads, block_id(0) / blocks / heads);
            Task { plane, head, start, row, from, to }
        }
    }

    /// One block computes `R` queries of one head: the logarithms of their totals to the base 2, and the sums `out · d_out`.
    ///
    /// `sums` is `[2, batch, heads, R * blocks]`. The queries of each sequence begin at a multiple of `ROWS`; what is there after them
    /// gives weights of 0. Rows of `dq`, `[batch, heads, R * blocks, dim]`, become zeros; it may have no elements.
    #[kernel(target = sm_80, warps = 4, grid = blocks * out.dim(2) * out.dim(0),
             instances(T = [bf16, f16]))]
    pub fn prepare<T: Float>(
        out: Tensor<T, 4>,
        d_out: Tensor<T, 4>,
        lse: Tensor<f32, 3>,
        offsets: Tensor<i32, 1>,
        sums: TensorMut<f32, 4>,
        dq: TensorMut<f32, 4>,
        blocks: i32,
        longest: i32,
    ) {
        let task = Task::new(offsets, out.dim(1), out.dim(2), blocks, longest);
        let (plane, head, start, row) = (task.plane, task.head, task.start, task.row);
        let (from, to) = (task.from, task.to);
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
        for column in range(0, dq.dim(3), 64) {
            dq.tile([plane, head, start, column], [1, 1, R, 64]).store(zeros([1, 1, R, 64]));
        }
    }

    /// One block multiplies the sums of `R` queries of one head by `factor`, and rounds them. `sums` is the `dq` of `prepare`.
    #[kernel(target = sm_80, warps = 4, grid = blocks * dq.dim(2) * dq.dim(0),
             instances(T = [bf16, f16]))]
    pub fn finish<T: Float>(
        sums: Tensor<f32, 4>,
        offsets: Tensor<i32, 1>,
        dq: TensorMut<T, 4>,
        blocks: i32,
        longest: i32,
        factor: f32,
    ) {
        let task = Task::new(offsets, dq.dim(1), dq.dim(2), blocks, longest);
        let (plane, head) = (task.plane, task.head);
        let dq = dq.slice((.., task.from..task.to, .., ..));
        for column in range(0, dq.dim(3), 64) {
            let sums = sums.tile([plane, head, task.start, column], [1, 1, R, 64]).load();
            let result = (sums * factor).cast::<T>().reshape([1, R, 1, 64]);
            dq.tile([plane, task.row, head, column], [1, R, 1, 64]).store(result);
        }
    }
}
