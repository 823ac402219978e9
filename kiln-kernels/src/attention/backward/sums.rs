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
        /// Of tensors with so many queries, of `heads` heads with so many blocks of `N` queries each.
        fn new<const N: i32>(
            offsets: Tensor<i32, 1>,
            queries: i32,
            heads: i32,
            blocks: i32,
            longest: i32,
        ) -> Task {
            let start = N * (block_id(0) % blocks);
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

    /// One block computes the logarithms to the base 2 of the totals of `ROWS` queries of one head.
    ///
    /// `sums` is `[2, batch, heads, ROWS * blocks]`: logarithms, and then what `prepare` computes. The queries of each sequence begin at a
    /// multiple of `ROWS`; what is there after them gives weights of 0. This is a kernel of its own because rows of `lse` need not begin at
    /// multiples of 16 bytes: copies of `prepare` would be of single elements as well.
    #[kernel(target = sm_80, warps = 1, grid = blocks * lse.dim(1) * lse.dim(0))]
    pub fn logarithms(
        lse: Tensor<f32, 3>,
        offsets: Tensor<i32, 1>,
        sums: TensorMut<f32, 4>,
        blocks: i32,
        longest: i32,
    ) {
        let task = Task::new::<ROWS>(offsets, lse.dim(2), lse.dim(1), blocks, longest);
        let (plane, head, row) = (task.plane, task.head, task.row);
        let lse = lse.slice((.., .., task.from..task.to));
        let top = lse.tile([plane, head, row], [1, 1, ROWS]).load().reshape([ROWS]);
        // Weights are `exp2` of scores minus this. A query that sees no key has negative infinity.
        let inside = (row + arange(0, ROWS)).lt(task.to - task.from);
        let top = select(inside & top.ne(f32::NEG_INFINITY), top / LN_2, f32::INFINITY);
        sums.tile([0, plane, head, task.start], [1, 1, 1, ROWS])
            .store(top.reshape([1, 1, 1, ROWS]));
    }

    /// One block computes the sums `out · d_out` of `R` queries of one head.
    ///
    /// `sums` has what `logarithms` computes before them. Rows of `dq`, `[batch, heads, R * blocks, dim]`, become zeros; it may have no
    /// elements.
    #[kernel(target = sm_80, warps = 4, grid = blocks * out.dim(2) * out.dim(0),
             instances(T = [bf16, f16]))]
    pub fn prepare<T: Float>(
        out: Tensor<T, 4>,
        d_out: Tensor<T, 4>,
        offsets: Tensor<i32, 1>,
        sums: TensorMut<f32, 4>,
        dq: TensorMut<f32, 4>,
        blocks: i32,
        longest: i32,
    ) {
        let task = Task::new::<R>(offsets, out.dim(1), out.dim(2), blocks, longest);
        let (plane, head, start) = (task.plane, task.head, task.start);
        let out = out.slice((.., task.from..task.to, .., ..));
        let d_out = d_out.slice((.., task.from..task.to, .., ..));
        let mut products = zeros::<f32>([R, 64]);
        for column in range(0, out.dim(3), 64) {
            let at = [plane, task.row, head, column];
            let of_result = |x: Tensor<T, 4>| x.tile(at, [1, R, 1, 64]).load().reshape([R, 64]);
            products += of_result(out).cast::<f32>() * of_result(d_out).cast::<f32>();
        }
        let delta = products.sum(1).reshape([1, 1, 1, R]);
        sums.tile([1, plane, head, start], [1, 1, 1, R]).store(delta);
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
        let task = Task::new::<R>(offsets, dq.dim(1), dq.dim(2), blocks, longest);
        let (plane, head) = (task.plane, task.head);
        let dq = dq.slice((.., task.from..task.to, .., ..));
        for column in range(0, dq.dim(3), 64) {
            let sums = sums.tile([plane, head, task.start, column], [1, 1, R, 64]).load();
            let result = (sums * factor).cast::<T>().reshape([1, R, 1, 64]);
            dq.tile([plane, task.row, head, column], [1, R, 1, 64]).store(result);
        }
    }
}
