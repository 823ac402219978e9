//! The kernels of softmax.

use kiln::prelude::*;

use crate::rows::running::grown;

/// `R` rows a block, each of which fits `N` columns.
#[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), R),
         instances(T = [bf16, f16, f32], LOG = [false, true],
                   (R, N, W) = [(32, 64, 4), (8, 256, 4), (4, 1024, 4), (2, 2048, 4), (1, 4096, 4), (1, 8192, 8), (1, 16384, 16)]))]
pub(super) fn softmax<T: Float, const LOG: bool, const R: i32, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    y: TensorMut<T, 2>,
) {
    let row = block_id(0) * R;
    let inside = arange(0, N).lt(x.dim(1)).expand(0);
    let v = x.tile([row, 0], [R, N]).load().cast::<f32>();
    let v = select(inside, v, f32::NEG_INFINITY);
    let shifted = v - v.max(1).expand(1);
    let powers = shifted.exp();
    let sum = powers.sum(1);
    let result = if LOG { shifted - sum.ln().expand(1) } else { powers * sum.recip().expand(1) };
    y.tile([row, 0], [R, N]).store(result.cast::<T>());
}

/// One block a row of any width, which it reads twice, `N` columns at a time.
///
/// The first pass keeps a maximum and a sum for every `G` adjacent columns of the tile, which one thread holds: it needs no barrier. Only
/// its last tile is compared with the number of columns.
#[kernel(target = sm_80, warps = 8, grid = x.dim(0),
         instances((T, G, N) = [(bf16, 8, 8192), (f16, 8, 8192), (f32, 4, 4096)], LOG = [false, true]))]
pub(super) fn wide<T: Float, const G: i32, const N: i32, const LOG: bool>(
    x: Tensor<T, 2>,
    y: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let mut tops = full::<f32>([N / G], f32::MIN);
    let mut sums = zeros::<f32>([N / G]);
    let whole = x.dim(1) / N * N;
    for at in range(0, whole, N) {
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        (tops, sums) = grown(tops, sums, v.reshape([N / G, G]));
    }
    if whole < x.dim(1) {
        let inside = (whole + arange(0, N)).lt(x.dim(1)).expand(0);
        let v = x.tile([row, whole], [1, N]).load().cast::<f32>();
        let v = select(inside, v, f32::NEG_INFINITY);
        (tops, sums) = grown(tops, sums, v.reshape([N / G, G]));
    }
    let top = tops.max(0);
    let sum = (sums * (tops - top).exp_approx()).sum(0);
    let (scale, ln) = (sum.recip(), sum.ln());
    for at in range(0, x.dim(1), N) {
        let shifted = x.tile([row, at], [1, N]).load().cast::<f32>() - top;
        let result = if LOG { shifted - ln } else { shifted.exp() * scale };
        y.tile([row, at], [1, N]).store(result.cast::<T>());
    }
}

/// `R` rows a block, each of which fits `N` columns.
#[kernel(target = sm_80, warps = W, grid = cdiv(y.dim(0), R),
         instances(T = [bf16, f16, f32], LOG = [false, true],
                   (R, N, W) = [(32, 64, 4), (8, 256, 4), (4, 1024, 4), (2, 2048, 4), (1, 4096, 4), (1, 8192, 8)]))]
pub(super) fn softmax_gradient<
    T: Float,
    const LOG: bool,
    const R: i32,
    const N: i32,
    const W: i32,
>(
    y: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
) {
    let row = block_id(0) * R;
    let (y, dy) = (y.tile([row, 0], [R, N]).load(), dy.tile([row, 0], [R, N]).load());
    let (y, dy) = (y.cast::<f32>(), dy.cast::<f32>()); // zero outside the row
    let result =
        if LOG { dy - y.exp() * dy.sum(1).expand(1) } else { y * (dy - (y * dy).sum(1).expand(1)) };
    dx.tile([row, 0], [R, N]).store(result.cast::<T>());
}

/// One block a row of any width, which it reads twice, `N` columns at a time.
#[kernel(target = sm_80, warps = 8, grid = y.dim(0), instances(T = [bf16, f16, f32], LOG = [false, true], N = [4096]))]
pub(super) fn wide_gradient<T: Float, const LOG: bool, const N: i32>(
    y: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let mut sums = zeros::<f32>([1, N]);
    for at in range(0, y.dim(1), N) {
        let g = dy.tile([row, at], [1, N]).load().cast::<f32>();
        if LOG {
            sums += g;
        } else {
            sums += g * y.tile([row, at], [1, N]).load().cast::<f32>();
        }
    }
    let sum = sums.sum(1).expand(1);
    for at in range(0, y.dim(1), N) {
        let g = dy.tile([row, at], [1, N]).load().cast::<f32>();
        let v = y.tile([row, at], [1, N]).load().cast::<f32>();
        let result = if LOG { g - v.exp() * sum } else { v * (g - sum) };
        dx.tile([row, at], [1, N]).store(result.cast::<T>());
    }
}
