//! The kernels of norms.

use kiln::prelude::*;

/// `R` rows a block, each of which fits `N` columns. Layer norm is `CENTRED`, RMS norm is not.
///
/// Of `x + residual` it is the rounded sum that is stored and normalised. Weight and bias are loaded before it is stored: `ptxas` moves no load
/// of global memory over a store.
#[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), R),
         instances(T = [bf16, f16, f32], CENTRED = [false, true],
                   (R, N, W) = [(32, 64, 4), (8, 256, 4), (4, 1024, 4), (1, 4096, 4), (1, 8192, 8), (1, 16384, 16)]))]
pub(super) fn norm<T: Float, const CENTRED: bool, const R: i32, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    residual: Option<Tensor<T, 2>>,
    weight: Tensor<T, 1>,
    bias: Option<Tensor<T, 1>>,
    eps: f32,
    sum: Option<TensorMut<T, 2>>,
    y: TensorMut<T, 2>,
) {
    let row = block_id(0) * R;
    let count = x.dim(1) as f32;
    let mut v = x.tile([row, 0], [R, N]).load(); // zero outside the row
    if let Some(residual) = residual {
        let other = residual.tile([row, 0], [R, N]).load();
        v = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
    }
    let w = weight.tile([0], [N]).load().cast::<f32>().expand(0);
    let mut b = zeros::<f32>([1, N]);
    if let Some(bias) = bias {
        b = bias.tile([0], [N]).load().cast::<f32>().expand(0);
    }
    if let Some(sum) = sum {
        sum.tile([row, 0], [R, N]).store(v);
    }
    let mut v = v.cast::<f32>();
    if CENTRED {
        let inside = arange(0, N).lt(x.dim(1)).expand(0);
        let mean = (v.sum(1) / count).expand(1);
        v = select(inside, v - mean, 0.0);
    }
    let variance = (v * v).sum(1) / count;
    let scale = (variance + eps).rsqrt().expand(1);
    y.tile([row, 0], [R, N]).store((v * scale * w + b).cast::<T>());
}

/// One block a row of any width, which it reads twice, `N` columns at a time. It keeps a sum for every `G` adjacent columns of the tile, which one
/// thread holds: the loop needs no barrier.
///
/// The sums of layer norm are those of distances from the mean of the first `N` columns. The variance is their mean square less the square of
/// their mean, which is at most `columns / N` times the variance: little cancels.
#[kernel(target = sm_80, warps = 8, grid = x.dim(0),
         instances((T, G) = [(bf16, 8), (f16, 8), (f32, 4)], CENTRED = [false, true], N = [8192]))]
pub(super) fn wide_norm<T: Float, const G: i32, const CENTRED: bool, const N: i32>(
    x: Tensor<T, 2>,
    residual: Option<Tensor<T, 2>>,
    weight: Tensor<T, 1>,
    bias: Option<Tensor<T, 1>>,
    eps: f32,
    sum: Option<TensorMut<T, 2>>,
    y: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let count = x.dim(1) as f32;
    let mut near = zeros::<f32>([1]);
    let mut distances = zeros::<f32>([N / G]);
    let mut squares = zeros::<f32>([N / G]);
    for at in range(0, x.dim(1), N) {
        let mut v = x.tile([row, at], [1, N]).load();
        if let Some(residual) = residual {
            let other = residual.tile([row, at], [1, N]).load();
            v = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
        }
        if let Some(sum) = sum {
            sum.tile([row, at], [1, N]).store(v);
        }
        let mut v = v.cast::<f32>();
        if CENTRED {
            if at == 0 {
                near = v.sum(1) / minimum(full([1], count), N as f32);
            }
            let inside = (at + arange(0, N)).lt(x.dim(1)).expand(0);
            v = select(inside, v - near.expand(1), 0.0);
        }
        let v = v.reshape([N / G, G]);
        if CENTRED {
            distances += v.sum(1);
        }
        squares += (v * v).sum(1);
    }
    let distance = distances.sum(0) / count;
    let scale = (squares.sum(0) / count - distance * distance + eps).rsqrt();
    let mean = near.expand(1) + distance;
    for at in range(0, x.dim(1), N) {
        let v = match sum {
            Some(sum) => sum.tile([row, at], [1, N]).load(),
            None => x.tile([row, at], [1, N]).load(),
        };
        let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
        let mut result = (v.cast::<f32>() - mean) * scale * w;
        if let Some(bias) = bias {
            result += bias.tile([at], [N]).load().cast::<f32>().expand(0);
        }
        y.tile([row, at], [1, N]).store(result.cast::<T>());
    }
}
