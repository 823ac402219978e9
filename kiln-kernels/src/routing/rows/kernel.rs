//! The kernels.

/// Rows of tokens and of experts. A row of -1 is read as zeros and not written.
#[kiln::kernel]
pub(super) mod moves {
    use kiln::prelude::*;

    /// How many choices are in flight at once.
    const K: i32 = 8;

    /// The rows of a token's next `K` choices; -1 for none.
    fn next(rows: Tensor<i32, 2>, token: i32, first: i32) -> Array<i32> {
        array(K, |i| {
            let row = rows.tile([token, first + i], [1, 1]).load().item();
            if first + i < rows.dim(1) { row } else { -1 }
        })
    }

    /// The weight of a choice; 0 for one without a row, whose row is read as zeros.
    fn weight_of(weights: Tensor<f32, 2>, token: i32, choice: i32, row: i32) -> f32 {
        let weight = weights.tile([token, choice], [1, 1]).load().item();
        if row < 0 { 0.0 } else { weight }
    }

    /// A block copies `C` columns of a token.
    #[kernel(target = sm_80, warps = W, grid = [rows.dim(0), cdiv(x.dim(1), C)],
             instances(T = [bf16, f16, f32], (C, W) = [(2048, 4), (256, 1)]))]
    pub fn to_experts<T: Float, const C: i32, const W: i32>(
        rows: Tensor<i32, 2>,
        x: Tensor<T, 2>,
        weights: Option<Tensor<f32, 2>>,
        out: TensorMut<T, 2>,
    ) {
        let (token, column) = (block_id(0), block_id(1) * C);
        let x = x.tile([token, column], [1, C]).load();
        for first in range(0, rows.dim(1), K) {
            let to = next(rows, token, first);
            for i in unroll(0..K) {
                let value = if let Some(weights) = weights {
                    let weight = weight_of(weights, token, first + i, to[i]);
                    (x.cast::<f32>() * weight).cast::<T>()
                } else {
                    x
                };
                out.tile([to[i], column], [1, C]).store(value);
            }
        }
    }

    /// A block adds `C` columns of a token's choices.
    #[kernel(target = sm_80, warps = W, grid = [rows.dim(0), cdiv(out.dim(1), C)],
             instances(T = [bf16, f16, f32], (C, W) = [(2048, 4), (256, 1)]))]
    pub fn from_experts<T: Float, const C: i32, const W: i32>(
        rows: Tensor<i32, 2>,
        x: Tensor<T, 2>,
        weights: Option<Tensor<f32, 2>>,
        out: TensorMut<T, 2>,
    ) {
        let (token, column) = (block_id(0), block_id(1) * C);
        let mut sum = zeros::<f32>([1, C]);
        for first in range(0, rows.dim(1), K) {
            let from = next(rows, token, first);
            let parts = array(K, |i| x.tile([from[i], column], [1, C]).load());
            for i in unroll(0..K) {
                let part = parts[i].cast::<f32>();
                sum += if let Some(weights) = weights {
                    part * weight_of(weights, token, first + i, from[i])
                } else {
                    part
                };
            }
        }
        out.tile([token, column], [1, C]).store(sum.cast::<T>());
    }

    /// Columns that a block of `gradients` has in registers.
    const C: i32 = 1024;

    /// A block computes the gradients of a token's choices.
    #[kernel(target = sm_80, warps = 4, grid = rows.dim(0), instances(T = [bf16, f16, f32]))]
    pub fn gradients<T: Float>(
        rows: Tensor<i32, 2>,
        x: Tensor<T, 2>,
        weights: Tensor<f32, 2>,
        grad: Tensor<T, 2>,
        grad_x: TensorMut<T, 2>,
        grad_weights: TensorMut<f32, 2>,
    ) {
        let token = block_id(0);
        for first in range(0, rows.dim(1), K) {
            let of = next(rows, token, first);
            let scales = array(K, |i| weight_of(weights, token, first + i, of[i]));
            let mut sums = array(K, |_| zeros::<f32>([1, C]));
            for column in range(0, grad.dim(1), C) {
                let grad = grad.tile([token, column], [1, C]).load().cast::<f32>();
                let parts = array(K, |i| x.tile([of[i], column], [1, C]).load());
                for i in unroll(0..K) {
                    sums[i] += grad * parts[i].cast::<f32>();
                    grad_x.tile([of[i], column], [1, C]).store((grad * scales[i]).cast::<T>());
                }
            }
            for i in unroll(0..K) {
                grad_weights.tile([token, first + i], [1, 1]).store(sums[i].sum(1).expand(1));
            }
        }
    }

    /// Zeros in rows without a choice, of eight rows.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(sources.dim(0), K), instances(T = [bf16, f16, f32]))]
    pub fn clear<T: Float>(sources: Tensor<i32, 1>, out: TensorMut<T, 2>) {
        let first = block_id(0) * K;
        let of = array(K, |i| sources.tile([first + i], [1]).load().item());
        for i in unroll(0..K) {
            if of[i] < 0 {
                for column in range(0, out.dim(1), C) {
                    out.tile([first + i, column], [1, C]).store(zeros([1, C]));
                }
            }
        }
    }
}
