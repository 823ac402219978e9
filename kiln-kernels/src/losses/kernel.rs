//! The kernels that replace logits by the gradient of their loss.
//!
//! With `m` for the maximum of a row and `e` for the smoothing, its loss is
//! `ln Σ exp(x - m) + (1 - e) · (m - x[target]) + e · (m - mean(x))`, as of [`cross_entropy`](crate::rows::cross_entropy).

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

    impl Labels {
        /// The targets of `R` rows.
        fn targets<const R: i32>(&self, row: i32) -> Tile<i32> {
            self.targets.tile([row], [R]).load()
        }

        /// Stores the losses of `R` rows: `ln` is the logarithm of the sum of powers below `top`.
        fn store<const R: i32>(
            &self,
            row: i32,
            classes: i32,
            (top, ln): (Tile<f32>, Tile<f32>),
            chosen: Tile<f32>,
            mean: Tile<f32>,
        ) {
            let target = self.targets::<R>(row);
            let mut result = ln + (1.0 - self.smoothing) * (top - chosen);
            if self.smoothing > 0.0 {
                result += self.smoothing * (top - mean);
            }
            let known = target.ge(0) & target.lt(classes);
            let result = select(known, result, f32::NAN);
            let result = select(target.eq(self.ignore), 0.0, result);
            self.loss.tile([row], [R]).store(result);
        }

        /// The gradients of `R` rows and `N` classes from `at` on.
        fn gradients<const R: i32, const N: i32>(
            &self,
            (row, at): (i32, i32),
            classes: i32,
            x: Tile<f32>,
            (top, ln): (Tile<f32>, Tile<f32>),
        ) -> Tile<f32> {
            let target = self.targets::<R>(row);
            let known = target.ge(0) & target.lt(classes);
            let by = self.loss_gradient.tile([row], [R]).load();
            let by = select(known, by, f32::NAN).expand(1);
            let rest = self.smoothing / (classes as f32);
            let is_target = (at + arange(0, N)).expand(0).eq(target.expand(1));
            let label = select(is_target, full([1, 1], 1.0 - self.smoothing + rest), rest);
            let power = (x - top.expand(1) - ln.expand(1)).exp();
            select(target.eq(self.ignore).expand(1), 0.0, (power - label) * by)
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
        let class = arange(0, N).expand(0);
        let inside = class.lt(classes);
        let x = logits.tile([row, 0], [R, N]).load().cast::<f32>();
        let x = select(inside, x, f32::NEG_INFINITY);
        let top = x.max(1);
        let ln = (x - top.expand(1)).exp_approx().sum(1).ln();
        let target = labels.targets::<R>(row);
        let chosen = select(class.eq(target.expand(1)), x, 0.0).sum(1);
        let mut mean = zeros::<f32>([R]);
        if labels.smoothing > 0.0 {
            mean = select(inside, x, 0.0).sum(1) / (classes as f32);
        }
        labels.store::<R>(row, classes, (top, ln), chosen, mean);
        let result = labels.gradients::<R, N>((row, 0), classes, x, (top, ln));
        logits.tile([row, 0], [R, N]).store(result.cast::<T>());
    }

    /// One cluster of `C` blocks a row, which they keep in shared memory: every `C`-th of its parts of `N` classes. They tell each other
    /// maximum and sums.
    #[kernel(target = sm_90a, warps = 16, cluster = C, grid = C * logits.dim(0),
             instances(T = [bf16, f16], C = [1, 2, 4, 8], (G, N, P) = [(8, 8192, 4)]))]
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
        let target = labels.targets::<1>(row).item();
        let chosen = logits.tile([row, target], [1, 1]).load().cast::<f32>().reshape([1]);
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
            labels.store::<1>(row, classes, (top, ln), chosen, logit_sum / (classes as f32));
        }
        for i in unroll(0..P) {
            let at = first + i * (C * N);
            let x = parts[i].load().cast::<f32>();
            let result = labels.gradients::<1, N>((row, at), classes, x, (top, ln));
            logits.tile([row, at], [1, N]).store(result.cast::<T>());
        }
    }

    /// One block a row of any number of classes, which it reads twice.
    #[kernel(target = sm_90a, warps = 16, grid = logits.dim(0), instances(T = [bf16, f16], (G, N) = [(8, 8192)]))]
    pub fn wide<T: Float, const G: i32, const N: i32>(logits: TensorMut<T, 2>, labels: Labels) {
        let (row, classes) = (block_id(0), logits.dim(1));
        let target = labels.targets::<1>(row).item();
        let chosen = logits.tile([row, target], [1, 1]).load().cast::<f32>().reshape([1]);
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
        let mean = logit_sums.sum(0).expand(0) / (classes as f32);
        labels.store::<1>(row, classes, (top, ln), chosen, mean);
        for at in range(0, classes, N) {
            let x = logits.tile([row, at], [1, N]).load().cast::<f32>();
            let result = labels.gradients::<1, N>((row, at), classes, x, (top, ln));
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
