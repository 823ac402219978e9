//! The kernels that replace logits by the gradient of their loss.
//!
//! With `m` for the maximum of a row and `e` for the smoothing, its loss is
//! `ln Σ exp(x - m) + (1 - e) · (m - x[target]) + e · (m - mean(x))`, as of [`cross_entropy`](crate::rows::cross_entropy).

#![expect(clippy::cast_precision_loss, reason = "a number of columns may be rounded")]

pub(super) use kernels::{LabelsArgs, last_words, short, spread, wide};

#[kiln::kernel]
mod kernels {
    use kiln::prelude::*;

    use crate::rows::{
        blocks::{meet, of_block, rank},
        running::grown,
    };

    /// What is known of rows before their logits.
    #[derive(Clone, Copy)]
    pub(in crate::losses) struct Labels {
        targets: Tensor<i32, 1>,
        loss_gradient: Tensor<f32, 1>,
        ignore: i32,
        smoothing: f32,
        loss: TensorMut<f32, 1>,
    }

    /// What is known of `R` rows before their logits.
    #[derive(Clone, Copy)]
    struct Known<const R: i32> {
        target: Tile<i32>,
        ignored: Tile<bool>,
        /// The gradient of the loss: NaN if the target is no class.
        by: Tile<f32>,
        /// The part of a target that each class has, and what the target has besides.
        rest: f32,
        main: f32,
    }

    impl<const R: i32> Known<R> {
        fn new(labels: Labels, row: i32, classes: i32) -> Known<R> {
            let target = labels.targets.tile([row], [R]).load();
            let by = labels.loss_gradient.tile([row], [R]).load();
            let by = select(target.ge(0) & target.lt(classes), by, f32::NAN);
            let (rest, main) = (labels.smoothing / (classes as f32), 1.0 - labels.smoothing);
            Known { target, ignored: target.eq(labels.ignore), by, rest, main }
        }

        /// Stores the losses: `ln` is the logarithm of the sum of powers below `top`, and `sum` that of all logits.
        fn store(
            self,
            labels: Labels,
            row: i32,
            classes: i32,
            (top, ln): (Tile<f32>, Tile<f32>),
            (chosen, sum): (Tile<f32>, Tile<f32>),
        ) {
            let mut result = ln + self.main * (top - chosen);
            if labels.smoothing > 0.0 {
                result += labels.smoothing * (top - sum / (classes as f32));
            }
            let known = self.target.ge(0) & self.target.lt(classes);
            let result = select(known, result, f32::NAN);
            labels.loss.tile([row], [R]).store(select(self.ignored, 0.0, result));
        }

        /// The gradients of `N` classes from `at` on: `log_sum` is the logarithm of the sum of powers.
        fn gradients<const N: i32>(self, at: i32, x: Tile<f32>, log_sum: Tile<f32>) -> Tile<f32> {
            let is_target = (at + arange(0, N)).expand(0).eq(self.target.expand(1));
            let label = select(is_target, full([1, 1], self.main + self.rest), self.rest);
            let power = (x - log_sum.expand(1)).exp_approx();
            select(self.ignored.expand(1), 0.0, (power - label) * self.by.expand(1))
        }
    }

    /// `R` rows a block, each of which fits `N` classes.
    #[kernel(target = sm_90a, warps = W, grid = cdiv(logits.dim(0), R),
             instances(T = [bf16, f16], (R, N, W) = [(4, 1024, 4), (1, 8192, 8)]))]
    pub fn short<T: Float, const R: i32, const N: i32, const W: i32>(
        logits: TensorMut<T, 2>,
        labels: Labels,
    ) {
        let (row, classes) = (block_id(0) * R, logits.dim(1));
        let known = Known::<R>::new(labels, row, classes);
        let class = arange(0, N).expand(0);
        let inside = class.lt(classes);
        let x = logits.tile([row, 0], [R, N]).load().cast::<f32>();
        let x = select(inside, x, f32::NEG_INFINITY);
        let top = x.max(1);
        let ln = (x - top.expand(1)).exp_approx().sum(1).ln();
        let chosen = select(class.eq(known.target.expand(1)), x, 0.0).sum(1);
        let mut sum = zeros::<f32>([R]);
        if labels.smoothing > 0.0 {
            sum = select(inside, x, 0.0).sum(1);
        }
        known.store(labels, row, classes, (top, ln), (chosen, sum));
        let result = known.gradients::<N>(0, x, top + ln);
        logits.tile([row, 0], [R, N]).store(result.cast::<T>());
    }

    /// One cluster of `C` blocks a row, which they keep in shared memory: every `C`-th of its parts of `N` classes. They tell each other
    /// maximum and sums.
    #[kernel(target = sm_90a, warps = 16, cluster = C, grid = C * logits.dim(0),
             instances(T = [bf16, f16], C = [1, 2, 4, 8], (G, N, P) = [(8, 4096, 8)]))]
    pub fn spread<T: Float, const C: i32, const G: i32, const N: i32, const P: i32>(
        logits: TensorMut<T, 2>,
        labels: Labels,
    ) {
        let (row, classes) = (block_id(0) / C, logits.dim(1));
        let first = rank::<C>() * N;
        let parts = shared::<T>([P, 1, N]);
        let of_blocks = shared::<f32>([4, 1]);
        for i in unroll(0..P) {
            copy_async(logits.tile([row, first + i * (C * N)], [1, N]), parts[i]);
            copy_async_commit();
        }
        let known = Known::<1>::new(labels, row, classes);
        let chosen =
            logits.tile([row, known.target.item()], [1, 1]).load().cast::<f32>().reshape([1]);
        let mut tops = full::<f32>([N / G], f32::MIN);
        let mut sums = zeros::<f32>([N / G]);
        let mut logit_sums = zeros::<f32>([N / G]);
        for i in unroll(0..P) {
            copy_async_wait(P - 1 - i); // the first i + 1 parts are there
            sync();
            let x = parts[i].load().cast::<f32>(); // zero outside the row
            if labels.smoothing > 0.0 {
                logit_sums += x.reshape([N / G, G]).sum(1);
            }
            let inside = (first + i * (C * N) + arange(0, N)).lt(classes).expand(0);
            let x = select(inside, x, f32::NEG_INFINITY).reshape([N / G, G]);
            (tops, sums) = grown(tops, sums, x);
        }
        let top = tops.max(0).expand(0);
        let sum = (sums * (tops - top).exp_approx()).sum(0).expand(0);
        of_blocks[0].store(top);
        of_blocks[1].store(sum);
        of_blocks[2].store(logit_sums.sum(0).expand(0));
        meet::<C>();
        let mut top = full::<f32>([1], f32::MIN);
        for other in unroll(0..C) {
            top = maximum(top, of_block::<C>(of_blocks, other)[0].load());
        }
        let (mut sum, mut logit_sum) = (zeros::<f32>([1]), zeros::<f32>([1]));
        for other in unroll(0..C) {
            let there = of_block::<C>(of_blocks, other);
            sum += there[1].load() * (there[0].load() - top).exp_approx();
            logit_sum += there[2].load();
        }
        let ln = sum.ln();
        if rank::<C>() == 0 {
            known.store(labels, row, classes, (top, ln), (chosen, logit_sum));
        }
        for i in range(0, P, 1) {
            let at = first + i * (C * N);
            let x = parts[i].load().cast::<f32>();
            let result = known.gradients::<N>(at, x, top + ln);
            logits.tile([row, at], [1, N]).store(result.cast::<T>());
        }
    }

    /// One block a row of any number of classes, which it reads twice.
    #[kernel(target = sm_90a, warps = 16, grid = logits.dim(0), instances(T = [bf16, f16], (G, N) = [(8, 8192)]))]
    pub fn wide<T: Float, const G: i32, const N: i32>(logits: TensorMut<T, 2>, labels: Labels) {
        let (row, classes) = (block_id(0), logits.dim(1));
        let known = Known::<1>::new(labels, row, classes);
        let chosen =
            logits.tile([row, known.target.item()], [1, 1]).load().cast::<f32>().reshape([1]);
        let mut tops = full::<f32>([N / G], f32::MIN);
        let mut sums = zeros::<f32>([N / G]);
        let mut logit_sums = zeros::<f32>([N / G]);
        for at in range(0, classes, N) {
            let x = logits.tile([row, at], [1, N]).load().cast::<f32>(); // zero outside the row
            if labels.smoothing > 0.0 {
                logit_sums += x.reshape([N / G, G]).sum(1);
            }
            let inside = (at + arange(0, N)).lt(classes).expand(0);
            let x = select(inside, x, f32::NEG_INFINITY).reshape([N / G, G]);
            (tops, sums) = grown(tops, sums, x);
        }
        let top = tops.max(0).expand(0);
        let ln = (sums * (tops - top).exp_approx()).sum(0).expand(0).ln();
        let logit_sum = logit_sums.sum(0).expand(0);
        known.store(labels, row, classes, (top, ln), (chosen, logit_sum));
        for at in range(0, classes, N) {
            let x = logits.tile([row, at], [1, N]).load().cast::<f32>();
            let result = known.gradients::<N>(at, x, top + ln);
            logits.tile([row, at], [1, N]).store(result.cast::<T>());
        }
    }

    /// Copies the rows of a matrix from `first` on; rows that it does not have are zeros.
    #[kernel(target = sm_90a, warps = 4, grid = cdiv(to.dim(1), N), instances(T = [bf16, f16], (R, N) = [(8, 128)]))]
    pub fn last_words<T: Float, const R: i32, const N: i32>(
        weight: Tensor<T, 2>,
        first: i32,
        to: TensorMut<T, 2>,
    ) {
        let at = block_id(0) * N;
        to.tile([0, at], [R, N]).store(weight.tile([first, at], [R, N]).load());
    }
}
