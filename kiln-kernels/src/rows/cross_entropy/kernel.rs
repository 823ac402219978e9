//! The kernels of cross-entropy.

use kiln::prelude::*;

use crate::rows::running::grown;

/// `R` rows a block, each of which fits `N` classes.
///
/// With `m` for the maximum of a row and `e` for the smoothing, its loss is
/// `ln Σ exp(x - m) + (1 - e) · (m - x[target]) + e · (m - mean(x))`: all terms are distances from the maximum, so little cancels where the
/// target has it.
#[kernel(target = sm_80, warps = W, grid = cdiv(logits.dim(0), R),
         instances(T = [bf16, f16, f32], (R, N, W) = [(32, 64, 4), (8, 256, 4), (4, 1024, 4), (1, 4096, 4)]))]
pub(super) fn losses<T: Float, const R: i32, const N: i32, const W: i32>(
    logits: Tensor<T, 2>,
    targets: Tensor<i32, 1>,
    ignore: i32,
    smoothing: f32,
    loss: TensorMut<f32, 1>,
    log_sums: Option<TensorMut<f32, 1>>,
) {
    let row = block_id(0) * R;
    let classes = logits.dim(1);
    let target = targets.tile([row], [R]).load();
    let class = arange(0, N).expand(0);
    let inside = class.lt(classes);
    let x = logits.tile([row, 0], [R, N]).load().cast::<f32>();
    let x = select(inside, x, f32::NEG_INFINITY);
    let top = x.max(1);
    let ln = (x - top.expand(1)).exp_approx().sum(1).ln();
    let chosen = select(class.eq(target.expand(1)), x, 0.0).sum(1);
    let mut result = ln + (1.0 - smoothing) * (top - chosen);
    if smoothing > 0.0 {
        let mean = select(inside, x, 0.0).sum(1) / (classes as f32);
        result += smoothing * (top - mean);
    }
    let known = target.ge(0) & target.lt(classes);
    let ignored = target.eq(ignore);
    let result = select(ignored, 0.0, select(known, result, f32::NAN));
    loss.tile([row], [R]).store(result);
    if let Some(log_sums) = log_sums {
        log_sums.tile([row], [R]).store(select(ignored, 0.0, top + ln));
    }
}

/// One block a row of any number of classes, which it reads once, `N` classes at a time, unless the row is ignored.
///
/// It keeps a maximum and a sum for every `G` adjacent classes of the tile, which one thread holds: the loop needs no barrier. Only
/// the last tile is compared with the number of classes.
#[kernel(target = sm_80, warps = 8, grid = logits.dim(0),
         instances((T, G, N) = [(bf16, 8, 8192), (f16, 8, 8192), (f32, 4, 4096)]))]
pub(super) fn wide_losses<T: Float, const G: i32, const N: i32>(
    logits: Tensor<T, 2>,
    targets: Tensor<i32, 1>,
    ignore: i32,
    smoothing: f32,
    loss: TensorMut<f32, 1>,
    log_sums: Option<TensorMut<f32, 1>>,
) {
    let row = block_id(0);
    let classes = logits.dim(1);
    let target = targets.tile([row], [1]).load().item();
    let mut result = zeros::<f32>([1]);
    let mut log_sum = zeros::<f32>([1]);
    if target != ignore {
        let mut tops = full::<f32>([N / G], f32::MIN);
        let mut sums = zeros::<f32>([N / G]);
        let mut logit_sums = zeros::<f32>([N / G]);
        let whole = classes / N * N;
        for at in range(0, whole, N) {
            let x = logits.tile([row, at], [1, N]).load().cast::<f32>().reshape([N / G, G]);
            if smoothing > 0.0 {
                logit_sums += x.sum(1);
            }
            (tops, sums) = grown(tops, sums, x);
        }
        if whole < classes {
            let inside = (whole + arange(0, N)).lt(classes).expand(0);
            let x = logits.tile([row, whole], [1, N]).load().cast::<f32>(); // zero outside the row
            logit_sums += x.reshape([N / G, G]).sum(1);
            let x = select(inside, x, f32::NEG_INFINITY).reshape([N / G, G]);
            (tops, sums) = grown(tops, sums, x);
        }
        let top = tops.max(0).expand(0);
        let ln = (sums * (tops - top).exp_approx()).sum(0).expand(0).ln();
        let chosen = logits.tile([row, target], [1, 1]).load().cast::<f32>().reshape([1]);
        result = ln + (1.0 - smoothing) * (top - chosen);
        if smoothing > 0.0 {
            result += smoothing * (top - logit_sums.sum(0).expand(0) / (classes as f32));
        }
        if target < 0 || target >= classes {
            result = full([1], f32::NAN);
        }
        log_sum = top + ln;
    }
    loss.tile([row], [1]).store(result);
    if let Some(log_sums) = log_sums {
        log_sums.tile([row], [1]).store(log_sum);
    }
}

/// A tile of `R` rows and `N` classes a block; tiles of the same rows follow one another. Without `logits` it reads `gradient`.
///
/// The rounding of elements of 2 bytes, which are `HALF`, is far more than what approximate powers are off by.
#[kernel(target = sm_80, warps = 4, grid = cdiv(gradient.dim(0), R) * cdiv(gradient.dim(1), N),
         instances((T, HALF) = [(bf16, true), (f16, true), (f32, false)], (R, N) = [(32, 64), (8, 256), (4, 1024), (1, 4096)]))]
pub(super) fn logit_gradients<T: Float, const HALF: bool, const R: i32, const N: i32>(
    logits: Option<Tensor<T, 2>>,
    targets: Tensor<i32, 1>,
    log_sums: Tensor<f32, 1>,
    loss_gradient: Tensor<f32, 1>,
    ignore: i32,
    smoothing: f32,
    gradient: TensorMut<T, 2>,
) {
    let classes = gradient.dim(1);
    let tiles = cdiv(classes, N);
    let (row, at) = (block_id(0) / tiles * R, block_id(0) % tiles * N);
    let target = targets.tile([row], [R]).load();
    let log_sum = log_sums.tile([row], [R]).load().expand(1);
    let x = match logits {
        Some(logits) => logits.tile([row, at], [R, N]).load(),
        None => gradient.tile([row, at], [R, N]).load(),
    };
    let known = target.ge(0) & target.lt(classes);
    let by = select(known, loss_gradient.tile([row], [R]).load(), f32::NAN).expand(1);
    let rest = smoothing / (classes as f32);
    let chosen = (at + arange(0, N)).expand(0).eq(target.expand(1));
    let label = select(chosen, full([1, 1], 1.0 - smoothing + rest), rest);
    let shifted = x.cast::<f32>() - log_sum;
    let share = if HALF { shifted.exp_approx() } else { shifted.exp() };
    let result = (share - label) * by;
    let result = select(target.eq(ignore).expand(1), 0.0, result);
    gradient.tile([row, at], [R, N]).store(result.cast::<T>());
}
