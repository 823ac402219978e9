//! The kernels of norms.

pub(super) use kernels::{AddedArgs, long_norm, norm, wide_norm};

#[kiln::kernel]
mod kernels {
    use kiln::prelude::*;

    /// What is added to rows before they are normalised, and where the sum goes.
    #[derive(Clone, Copy)]
    pub(in crate::rows) struct Added<T> {
        residual: Tensor<T, 2>,
        sum: TensorMut<T, 2>,
    }

    /// `R` rows a block, each of which fits `N` columns. Layer norm is `CENTRED`, RMS norm is not.
    ///
    /// Of `x + residual` it is the rounded sum that is stored and normalised. Weight and bias are loaded before it is stored, because `ptxas`
    /// moves no load of global memory over a store; where nothing is stored they are loaded late, and take no registers before.
    #[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), R),
             instances(T = [bf16, f16, f32], CENTRED = [false, true],
                       (R, N, W) = [(32, 64, 4), (8, 256, 4), (4, 1024, 4), (2, 2048, 4), (1, 4096, 4), (1, 8192, 8)]))]
    pub fn norm<T: Float, const CENTRED: bool, const R: i32, const N: i32, const W: i32>(
        x: Tensor<T, 2>,
        added: Option<Added<T>>,
        weight: Tensor<T, 1>,
        bias: Option<Tensor<T, 1>>,
        eps: f32,
        y: TensorMut<T, 2>,
    ) {
        let row = block_id(0) * R;
        let count = x.dim(1) as f32;
        let mut v = x.tile([row, 0], [R, N]).load(); // zero outside the row
        if let Some(added) = added {
            let other = added.residual.tile([row, 0], [R, N]).load();
            v = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
        }
        let (mut w, mut b) = (zeros::<T>([N]), zeros::<T>([N]));
        if added.is_some() {
            w = weight.tile([0], [N]).load();
            if let Some(bias) = bias {
                b = bias.tile([0], [N]).load();
            }
        }
        if let Some(added) = added {
            added.sum.tile([row, 0], [R, N]).store(v);
        }
        let mut v = v.cast::<f32>();
        if CENTRED {
            let inside = arange(0, N).lt(x.dim(1)).expand(0);
            let mean = (v.sum(1) / count).expand(1);
            v = select(inside, v - mean, 0.0);
        }
        let variance = (v * v).sum(1) / count;
        let scale = (variance + eps).rsqrt().expand(1);
        if added.is_none() {
            w = weight.tile([0], [N]).load();
            if let Some(bias) = bias {
                b = bias.tile([0], [N]).load();
            }
        }
        let (w, b) = (w.cast::<f32>().expand(0), b.cast::<f32>().expand(0));
        y.tile([row, 0], [R, N]).store((v * scale * w + b).cast::<T>());
    }

    /// One block a row of up to `P` parts of `N` columns, which stays in shared memory.
    ///
    /// All parts are in flight at once, unless they are sums, of which a part is loaded while the one before it is stored. Weight and bias
    /// of a part are loaded before the part ahead of it is stored.
    #[kernel(target = sm_80, warps = W, grid = x.dim(0),
             instances((T, N, P, W) = [(bf16, 4096, 4, 8), (bf16, 8192, 4, 16), (bf16, 16384, 4, 32),
                                       (f16, 4096, 4, 8), (f16, 8192, 4, 16), (f16, 16384, 4, 32),
                                       (f32, 4096, 4, 8), (f32, 8192, 4, 16)],
                       CENTRED = [false, true]))]
    pub fn long_norm<T: Float, const N: i32, const P: i32, const W: i32, const CENTRED: bool>(
        x: Tensor<T, 2>,
        added: Option<Added<T>>,
        weight: Tensor<T, 1>,
        bias: Option<Tensor<T, 1>>,
        eps: f32,
        y: TensorMut<T, 2>,
    ) {
        let row = block_id(0);
        let count = x.dim(1) as f32;
        let parts = shared::<T>([P, 1, N]);
        if let Some(added) = added {
            let mut v = x.tile([row, 0], [1, N]).load(); // zero outside the row
            let mut other = added.residual.tile([row, 0], [1, N]).load();
            for i in unroll(0..P) {
                let sum = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
                if i + 1 < P {
                    v = x.tile([row, (i + 1) * N], [1, N]).load();
                    other = added.residual.tile([row, (i + 1) * N], [1, N]).load();
                }
                parts[i].store(sum);
                added.sum.tile([row, i * N], [1, N]).store(sum);
            }
            sync();
        } else {
            for i in unroll(0..P) {
                copy_async(x.tile([row, i * N], [1, N]), parts[i]); // zero outside the row
                copy_async_commit();
            }
        }
        let mut w = weight.tile([0], [N]).load();
        let mut b = zeros::<T>([N]);
        if let Some(bias) = bias {
            b = bias.tile([0], [N]).load();
        }
        let mut sums = zeros::<f32>([1, N]);
        for i in unroll(0..P) {
            if added.is_none() {
                copy_async_wait(P - 1 - i); // the first i + 1 parts are there
                sync();
            }
            let v = parts[i].load().cast::<f32>();
            sums += if CENTRED { v } else { v * v };
        }
        let mut mean = zeros::<f32>([1, 1]);
        if CENTRED {
            mean = (sums.sum(1) / count).expand(1);
            sums = zeros::<f32>([1, N]);
            for i in unroll(0..P) {
                let inside = (i * N + arange(0, N)).lt(x.dim(1)).expand(0);
                let centred = select(inside, parts[i].load().cast::<f32>() - mean, 0.0);
                sums += centred * centred;
            }
        }
        let scale = (sums.sum(1) / count + eps).rsqrt().expand(1);
        for i in unroll(0..P) {
            let centred = parts[i].load().cast::<f32>() - mean;
            let result = centred * scale * w.cast::<f32>().expand(0) + b.cast::<f32>().expand(0);
            if i + 1 < P {
                w = weight.tile([(i + 1) * N], [N]).load();
                if let Some(bias) = bias {
                    b = bias.tile([(i + 1) * N], [N]).load();
                }
            }
            y.tile([row, i * N], [1, N]).store(result.cast::<T>());
        }
    }

    /// One block a row of any width, which it reads twice, `N` columns at a time. It keeps a sum for every `G` adjacent columns of the
    /// tile, which one thread holds: the loop needs no barrier.
    ///
    /// The sums of layer norm are those of distances from the mean of the first `N` columns. The variance is their mean square less the
    /// square of their mean, which is at most `columns / N` times the variance: little cancels.
    #[kernel(target = sm_80, warps = 8, grid = x.dim(0),
             instances((T, G, N) = [(bf16, 8, 8192), (f16, 8, 8192), (f32, 4, 4096)], CENTRED = [false, true]))]
    pub fn wide_norm<T: Float, const G: i32, const N: i32, const CENTRED: bool>(
        x: Tensor<T, 2>,
        added: Option<Added<T>>,
        weight: Tensor<T, 1>,
        bias: Option<Tensor<T, 1>>,
        eps: f32,
        y: TensorMut<T, 2>,
    ) {
        let row = block_id(0);
        let count = x.dim(1) as f32;
        let mut near = zeros::<f32>([1]);
        let mut distances = zeros::<f32>([N / G]);
        let mut squares = zeros::<f32>([N / G]);
        for at in range(0, x.dim(1), N) {
            let mut v = x.tile([row, at], [1, N]).load();
            if let Some(added) = added {
                let other = added.residual.tile([row, at], [1, N]).load();
                v = (v.cast::<f32>() + other.cast::<f32>()).cast::<T>();
                added.sum.tile([row, at], [1, N]).store(v);
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
            let v = match added {
                Some(added) => added.sum.tile([row, at], [1, N]).load(),
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
}
