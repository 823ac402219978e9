//! The kernels.

/// Choices of the greatest scores.
#[kiln::kernel]
pub(super) mod choice {
    use crate::order::items::{LEAST, ordered};
    use kiln::prelude::*;

    pub(crate) const SOFTMAX: i32 = 0;
    pub(crate) const SOFTMAX_OF_CHOSEN: i32 = 1;
    pub(crate) const SIGMOID: i32 = 2;
    pub(crate) const SIGMOID_OF_CHOSEN: i32 = 3;

    /// The logistic function.
    fn sigmoid(x: Tile<f32>) -> Tile<f32> {
        (1.0 + (-x).exp()).recip()
    }

    /// The powers of each row below its maximum, and their sum.
    fn powers(x: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
        let powers = (x - x.max(1).expand(1)).exp();
        (powers, powers.sum(1).expand(1))
    }

    /// The least positive number that is not subnormal.
    const TINY: f32 = 1.175_494_4e-38;

    /// Each row divided by its sum, which is 0 only if all of it is.
    fn shares(x: Tile<f32>) -> Tile<f32> {
        x / maximum(x.sum(1).expand(1), TINY)
    }

    /// `R` rows a block, of up to `E` scores.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(scores.dim(0), R),
             instances(T = [bf16, f16, f32], (R, E, K) = [(16, 64, 8), (4, 256, 8), (4, 512, 16)]))]
    pub fn choose<T: Float, const R: i32, const E: i32, const K: i32>(
        scores: Tensor<T, 2>,
        bias: Option<Tensor<f32, 1>>,
        rule: i32,
        scale: f32,
        weights: TensorMut<f32, 2>,
        indices: TensorMut<i32, 2>,
    ) {
        let row = block_id(0) * R;
        let inside = arange(0, E).lt(scores.dim(1)).expand(0);
        let x = scores.tile([row, 0], [R, E]).load().cast::<f32>();
        let x = select(inside, x, f32::NEG_INFINITY);
        let (all, sum) = powers(x);
        let by = if let Some(bias) = bias {
            let weight = if rule <= SOFTMAX_OF_CHOSEN { all / sum } else { sigmoid(x) };
            weight + bias.tile([0], [E]).load().expand(0)
        } else {
            x
        };
        let (_, chosen) = select(inside, ordered(by), LEAST).top_k(K, 1);
        let is_asked = arange(0, K).lt(indices.dim(1)).expand(0);
        let x = select(is_asked, x.gather(1, chosen), f32::NEG_INFINITY);
        let weight = if rule == SOFTMAX {
            select(is_asked, all.gather(1, chosen), 0.0) / sum
        } else if rule == SOFTMAX_OF_CHOSEN {
            let (some, sum) = powers(x);
            some / sum
        } else if rule == SIGMOID {
            sigmoid(x)
        } else {
            shares(sigmoid(x))
        };
        weights.tile([row, 0], [R, K]).store(weight * scale);
        indices.tile([row, 0], [R, K]).store(chosen);
    }

    /// The gradient of `R` rows of up to `E` scores.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(scores.dim(0), R), instances(T = [bf16, f16, f32], (R, E) = [(8, 128), (4, 512)]))]
    pub fn gradient<T: Float, const R: i32, const E: i32>(
        scores: Tensor<T, 2>,
        indices: Tensor<i32, 2>,
        grad_weights: Tensor<f32, 2>,
        rule: i32,
        scale: f32,
        grad_scores: TensorMut<T, 2>,
    ) {
        let row = block_id(0) * R;
        let x = scores.tile([row, 0], [R, E]).load().cast::<f32>();
        let x = select(arange(0, E).lt(scores.dim(1)).expand(0), x, f32::NEG_INFINITY);
        let of_k = arange(0, 16).lt(indices.dim(1)).expand(0);
        let chosen = select(of_k, indices.tile([row, 0], [R, 16]).load(), -1);
        let is_chosen = chosen.ge(0) & chosen.lt(scores.dim(1));
        let of_chosen = select(is_chosen, x.gather(1, chosen), f32::NEG_INFINITY);
        let grad = grad_weights.tile([row, 0], [R, 16]).load();
        let grad = select(is_chosen, grad * scale, 0.0);

        // What the sum of weights takes away, and the share of each weight that its own score changes.
        let (all, sum) = powers(x);
        let (share, slope) = if rule == SOFTMAX {
            let share = select(is_chosen, all.gather(1, chosen), 0.0) / sum;
            (share, share)
        } else if rule == SOFTMAX_OF_CHOSEN {
            let (some, sum) = powers(of_chosen);
            let share = some / sum;
            (share, share)
        } else {
            let weight = sigmoid(of_chosen);
            if rule == SIGMOID {
                (zeros([R, 16]), weight * (1.0 - weight))
            } else {
                let share = shares(weight);
                (share, share * (1.0 - weight))
            }
        };
        let common = (share * grad).sum(1).expand(1);
        let own = if rule == SOFTMAX { slope * grad } else { slope * (grad - common) };
        let own = select(is_chosen, own, 0.0);
        let dense = shared::<f32>([R, E]);
        dense.store(zeros([R, E]));
        sync();
        dense.atomic_add([arange(0, R).expand(1).broadcast([R, 16]), chosen], own);
        sync();
        let mut result = dense.load();
        if rule == SOFTMAX {
            result -= all / sum * common;
        }
        grad_scores.tile([row, 0], [R, E]).store(result.cast::<T>());
    }
}
