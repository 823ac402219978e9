//! RMSNorm, out = x / sqrt(mean(x²) + eps) · weight over the rows of a matrix, and its gradients.
//!
//! With r = 1 / sqrt(mean(x²) + eps) of a row and u = x · r, the gradients from g, that of the result, are
//!
//! * of x: r · (g · weight - u · mean(g · weight · u)), row by row;
//! * of the weight: the sum of g · u over all rows. Each block adds up its own rows, and a second kernel the blocks.
//!
//! Elements are of type `T`, and all sums of type `A`.

use kiln::prelude::*;

/// One block a row; the row fits a tile of `N`.
#[kernel(target = sm_80, warps = W, grid = x.dim(0),
         instances((T, A) = [(f32, f32), (f64, f64), (f16, f32), (bf16, f32)], (N, W) = [(1024, 4), (8192, 16)]))]
fn forward<T: Float, A: Float, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    eps: A,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, N]).load().cast::<A>(); // zero outside the row
    let mean = (v * v).sum(1) / A::of(x.dim(1) as f32);
    let scale = (mean + eps).rsqrt().expand(1);
    let w = weight.tile([0], [N]).load().cast::<A>().expand(0);
    out.tile([row, 0], [1, N]).store((v * scale * w).cast::<T>());
}

/// One block a row of any width, `N` elements at a time, which it reads twice.
#[kernel(target = sm_80, warps = 8, grid = x.dim(0),
         instances((T, A) = [(f32, f32), (f64, f64), (f16, f32), (bf16, f32)], N = [4096]))]
fn forward_wide<T: Float, A: Float, const N: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    eps: A,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let mut squares = zeros::<A>([1, N]);
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<A>();
        squares += v * v;
    }
    let scale = (squares.sum(1) / A::of(x.dim(1) as f32) + eps).rsqrt().expand(1);
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<A>();
        let w = weight.tile([at], [N]).load().cast::<A>().expand(0);
        out.tile([row, at], [1, N]).store((v * scale * w).cast::<T>());
    }
}

/// Both gradients, that of the weight as one sum for each block: as many blocks as `sums` has rows share the rows of `x`,
/// which fit a tile of `N`.
#[kernel(target = sm_80, warps = W, grid = sums.dim(0),
         instances((T, A) = [(f32, f32), (f64, f64), (f16, f32), (bf16, f32)], (N, W) = [(1024, 4), (8192, 16)]))]
fn backward<T: Float, A: Float, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    grad: Tensor<T, 2>,
    eps: A,
    grad_x: TensorMut<T, 2>,
    sums: TensorMut<A, 2>,
) {
    let count = A::of(x.dim(1) as f32);
    let w = weight.tile([0], [N]).load().cast::<A>().expand(0);
    let mut sum = zeros::<A>([1, N]);
    for row in range(block_id(0), x.dim(0), num_blocks(0)) {
        let v = x.tile([row, 0], [1, N]).load().cast::<A>();
        let g = grad.tile([row, 0], [1, N]).load().cast::<A>();
        let scale = ((v * v).sum(1) / count + eps).rsqrt().expand(1);
        let unit = v * scale;
        let weighted = g * w;
        let along = ((weighted * unit).sum(1) / count).expand(1);
        grad_x.tile([row, 0], [1, N]).store((scale * (weighted - unit * along)).cast::<T>());
        sum += g * unit;
    }
    sums.tile([block_id(0), 0], [1, N]).store(sum);
}

/// Like [`backward`], for rows of any width, `N` elements at a time; a block's sums are in memory.
#[kernel(target = sm_80, warps = 8, grid = sums.dim(0),
         instances((T, A) = [(f32, f32), (f64, f64), (f16, f32), (bf16, f32)], N = [4096]))]
fn backward_wide<T: Float, A: Float, const N: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    grad: Tensor<T, 2>,
    eps: A,
    grad_x: TensorMut<T, 2>,
    sums: TensorMut<A, 2>,
) {
    let count = A::of(x.dim(1) as f32);
    for at in range(0, x.dim(1), N) {
        sums.tile([block_id(0), at], [1, N]).store(zeros::<A>([1, N]));
    }
    for row in range(block_id(0), x.dim(0), num_blocks(0)) {
        let mut squares = zeros::<A>([1, N]);
        let mut products = zeros::<A>([1, N]);
        for at in range(0, x.dim(1), N) {
            let v = x.tile([row, at], [1, N]).load().cast::<A>();
            let g = grad.tile([row, at], [1, N]).load().cast::<A>();
            let w = weight.tile([at], [N]).load().cast::<A>().expand(0);
            squares += v * v;
            products += g * w * v;
        }
        let scale = (squares.sum(1) / count + eps).rsqrt().expand(1);
        let along = products.sum(1).expand(1) * scale / count;
        for at in range(0, x.dim(1), N) {
            let unit = x.tile([row, at], [1, N]).load().cast::<A>() * scale;
            let g = grad.tile([row, at], [1, N]).load().cast::<A>();
            let w = weight.tile([at], [N]).load().cast::<A>().expand(0);
            grad_x.tile([row, at], [1, N]).store((scale * (g * w - unit * along)).cast::<T>());
            let sum = sums.tile([block_id(0), at], [1, N]);
            sum.store(sum.load() + g * unit);
        }
    }
}

/// The sum of each column, 64 columns a block.
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 64),
         instances((T, A) = [(f32, f32), (f64, f64), (f16, f32), (bf16, f32)]))]
fn sum_columns<T: Float, A: Float>(sums: Tensor<A, 2>, out: TensorMut<T, 1>) {
    let at = block_id(0) * 64;
    let mut sum = zeros::<A>([32, 64]);
    for row in range(0, sums.dim(0), 32) {
        sum += sums.tile([row, at], [32, 64]).load();
    }
    out.tile([at], [64]).store(sum.sum(0).cast::<T>());
}

/// The element types that there are instances of.
pub(crate) trait Number: Element + Float {
    /// The type of sums.
    type Sum: Element + Float;

    /// The number nearest to `value`.
    fn sum_of(value: f64) -> Self::Sum;

    /// The launch that writes `out`.
    fn forward<'a>(
        x: &'a DeviceTensor<Self, 2>,
        weight: &'a DeviceTensor<Self, 1>,
        eps: Self::Sum,
        out: &'a mut DeviceTensor<Self, 2>,
    ) -> Launch<'a>;

    /// The launch that writes the gradient of `x`, and each block's part of the weight's gradient: a row of `sums`.
    fn backward<'a>(
        x: &'a DeviceTensor<Self, 2>,
        weight: &'a DeviceTensor<Self, 1>,
        grad: &'a DeviceTensor<Self, 2>,
        eps: Self::Sum,
        grad_x: &'a mut DeviceTensor<Self, 2>,
        sums: &'a mut DeviceTensor<Self::Sum, 2>,
    ) -> Launch<'a>;

    /// The launch that adds the rows of `sums`.
    fn sum_columns<'a>(
        sums: &'a DeviceTensor<Self::Sum, 2>,
        out: &'a mut DeviceTensor<Self, 1>,
    ) -> Launch<'a>;
}

macro_rules! number {
    ($($type:ty, $sum:ty, $value:ident => $nearest:expr;)*) => {$(
        impl Number for $type {
            type Sum = $sum;

            fn sum_of($value: f64) -> $sum {
                $nearest
            }

            fn forward<'a>(
                x: &'a DeviceTensor<$type, 2>,
                weight: &'a DeviceTensor<$type, 1>,
                eps: $sum,
                out: &'a mut DeviceTensor<$type, 2>,
            ) -> Launch<'a> {
                match x.shape()[1] {
                    0..=1024 => forward::<$type, $sum, 1024, 4>(forward::Args { x, weight, eps, out }),
                    1025..=8192 => forward::<$type, $sum, 8192, 16>(forward::Args { x, weight, eps, out }),
                    _ => forward_wide::<$type, $sum, 4096>(forward_wide::Args { x, weight, eps, out }),
                }
            }

            fn backward<'a>(
                x: &'a DeviceTensor<$type, 2>,
                weight: &'a DeviceTensor<$type, 1>,
                grad: &'a DeviceTensor<$type, 2>,
                eps: $sum,
                grad_x: &'a mut DeviceTensor<$type, 2>,
                sums: &'a mut DeviceTensor<$sum, 2>,
            ) -> Launch<'a> {
                match x.shape()[1] {
                    0..=1024 => {
                        backward::<$type, $sum, 1024, 4>(backward::Args { x, weight, grad, eps, grad_x, sums })
                    }
                    1025..=8192 => {
                        backward::<$type, $sum, 8192, 16>(backward::Args { x, weight, grad, eps, grad_x, sums })
                    }
                    _ => backward_wide::<$type, $sum, 4096>(backward_wide::Args { x, weight, grad, eps, grad_x, sums }),
                }
            }

            fn sum_columns<'a>(
                sums: &'a DeviceTensor<$sum, 2>,
                out: &'a mut DeviceTensor<$type, 1>,
            ) -> Launch<'a> {
                sum_columns::<$type, $sum>(sum_columns::Args { sums, out })
            }
        }
    )*};
}

number! {
    f32, f32, value => value as f32;
    f64, f64, value => value;
    f16, f32, value => value as f32;
    bf16, f32, value => value as f32;
}
