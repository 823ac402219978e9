//! Layer norm: out = (x - mean) / sqrt(variance + eps) · weight + bias, over rows of any width.
//!
//! `cargo run --release --example layer_norm [-- ROWS COLUMNS]`

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/report.rs"]
mod report;
#[path = "support/rows.rs"]
mod rows;

/// One block a row; the row fits a tile of `N`.
#[kernel(target = sm_80, warps = W, grid = x.dim(0),
         instances(T = [bf16, f16], (N, W) = [(1024, 4), (4096, 4), (8192, 8)]))]
pub fn layer_norm<T: Float, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    bias: Tensor<T, 1>,
    eps: f32,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let count = x.dim(1) as f32;
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>(); // zero outside the row
    let mean = (v.sum(1) / count).expand(1);
    let inside = arange(0, N).lt(x.dim(1)).expand(0);
    let centred = select(inside, v - mean, 0.0);
    let variance = (centred * centred).sum(1) / count;
    let scale = (variance + eps).rsqrt().expand(1);
    let w = weight.tile([0], [N]).load().cast::<f32>().expand(0);
    let b = bias.tile([0], [N]).load().cast::<f32>().expand(0);
    out.tile([row, 0], [1, N]).store((centred * scale * w + b).cast::<T>());
}

/// One block a row of up to `P` parts of `N`, which stays in shared memory: all parts are in flight at once, and each pass
/// reads them there. Weight and bias of a part are loaded before the part ahead of it is stored: `ptxas` moves no load of
/// global memory over a store.
#[kernel(target = sm_80, warps = W, grid = x.dim(0),
         instances(T = [bf16, f16], (N, P, W) = [(4096, 4, 8), (4096, 8, 8), (8192, 8, 16)]))]
pub fn layer_norm_long<T: Float, const N: i32, const P: i32, const W: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    bias: Tensor<T, 1>,
    eps: f32,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let count = x.dim(1) as f32;
    let parts = shared::<T>([P, 1, N]);
    for i in unroll(0..P) {
        copy_async(x.tile([row, i * N], [1, N]), parts[i]); // zero outside the row
        copy_async_commit();
    }
    let mut w = weight.tile([0], [N]).load();
    let mut b = bias.tile([0], [N]).load();
    let mut sums = zeros::<f32>([1, N]);
    for i in unroll(0..P) {
        copy_async_wait(P - 1 - i); // the first i + 1 parts are there
        sync();
        sums += parts[i].load().cast::<f32>();
    }
    let mean = (sums.sum(1) / count).expand(1);
    let mut squares = zeros::<f32>([1, N]);
    for i in unroll(0..P) {
        let inside = (i * N + arange(0, N)).lt(x.dim(1)).expand(0);
        let centred = select(inside, parts[i].load().cast::<f32>() - mean, 0.0);
        squares += centred * centred;
    }
    let scale = (squares.sum(1) / count + eps).rsqrt().expand(1);
    for i in unroll(0..P) {
        let centred = parts[i].load().cast::<f32>() - mean;
        let result = centred * scale * w.cast::<f32>().expand(0) + b.cast::<f32>().expand(0);
        if i + 1 < P {
            w = weight.tile([(i + 1) * N], [N]).load();
            b = bias.tile([(i + 1) * N], [N]).load();
        }
        out.tile([row, i * N], [1, N]).store(result.cast::<T>());
    }
}

/// One block a row of any width, `N` elements at a time, which it reads twice. The first pass sums distances from the
/// row's first element: squares of the values themselves would cancel where the mean is large.
#[kernel(target = sm_80, warps = 16, grid = x.dim(0), instances(T = [bf16, f16], N = [16384]))]
pub fn layer_norm_wide<T: Float, const N: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    bias: Tensor<T, 1>,
    eps: f32,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let count = x.dim(1) as f32;
    let first = x.tile([row, 0], [1, 1]).load().cast::<f32>();
    let mut sum = zeros::<f32>([1, 1]);
    let mut squares = zeros::<f32>([1, 1]);
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        let inside = (at + arange(0, N)).lt(x.dim(1)).expand(0);
        let distance = select(inside, v - first, 0.0);
        sum += distance.sum(1).expand(1);
        squares += (distance * distance).sum(1).expand(1);
    }
    let distance = sum / count;
    let scale = (squares / count - distance * distance + eps).rsqrt();
    let mean = first + distance;
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
        let b = bias.tile([at], [N]).load().cast::<f32>().expand(0);
        out.tile([row, at], [1, N]).store(((v - mean) * scale * w + b).cast::<T>());
    }
}

/// The element types that the kernels have instances of.
trait LayerNorm: Element + Float {
    /// The launch for rows of this width.
    fn launch<'a>(
        x: &'a DeviceTensor<Self, 2>,
        weight: &'a DeviceTensor<Self, 1>,
        bias: &'a DeviceTensor<Self, 1>,
        eps: f32,
        out: &'a mut DeviceTensor<Self, 2>,
    ) -> Launch<'a>;
}

macro_rules! layer_norm_of {
    ($($ty:ty),*) => {$(
        impl LayerNorm for $ty {
            fn launch<'a>(
                x: &'a DeviceTensor<$ty, 2>,
                weight: &'a DeviceTensor<$ty, 1>,
                bias: &'a DeviceTensor<$ty, 1>,
                eps: f32,
                out: &'a mut DeviceTensor<$ty, 2>,
            ) -> Launch<'a> {
                match x.shape()[1] {
                    0..=1024 => layer_norm::<$ty, 1024, 4>(layer_norm::Args { x, weight, bias, eps, out }),
                    1025..=4096 => layer_norm::<$ty, 4096, 4>(layer_norm::Args { x, weight, bias, eps, out }),
                    4097..=8192 => layer_norm::<$ty, 8192, 8>(layer_norm::Args { x, weight, bias, eps, out }),
                    8193..=16384 => layer_norm_long::<$ty, 4096, 4, 8>(layer_norm_long::Args { x, weight, bias, eps, out }),
                    16385..=32768 => layer_norm_long::<$ty, 4096, 8, 8>(layer_norm_long::Args { x, weight, bias, eps, out }),
                    32769..=65536 => layer_norm_long::<$ty, 8192, 8, 16>(layer_norm_long::Args { x, weight, bias, eps, out }),
                    _ => layer_norm_wide::<$ty, 16384>(layer_norm_wide::Args { x, weight, bias, eps, out }),
                }
            }
        }
    )*};
}

layer_norm_of!(bf16, f16);

fn main() -> Result<()> {
    let device = Device::best_for(layer_norm::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => {
            vec![[4, 1000], [2, 4096], [2, 8000], [1, 16384], [2, 20_000], [1, 40_000], [1, 70_000]]
        }
        None => vec![
            [65536, 8192],
            [8192, 8192],
            [16384, 16384],
            [8192, 32768],
            [4096, 65536],
            [1000, 1001],
        ],
    };
    let mut table = rows::table();
    let progress = report::progress(2 * sizes.len(), "layer_norm");
    for size in sizes {
        check::<bf16>(&stream, size, &mut table)?;
        progress.inc(1);
        check::<f16>(&stream, size, &mut table)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}

fn check<T: LayerNorm>(stream: &Stream, size: [usize; 2], table: &mut report::Table) -> Result<()> {
    let eps = 1e-5;
    // Around 1, so that a variance that cancels shows.
    let x: Vec<T> = rows::numbers::<T>(size[0] * size[1], 5, 1.0)
        .into_iter()
        .map(|v| T::of(v.cast::<f32>() + 1.0))
        .collect();
    let weight_host = rows::numbers::<T>(size[1], 6, 1.0);
    let bias_host = rows::numbers::<T>(size[1], 7, 1.0);
    let weight = stream.upload(&weight_host, [size[1]])?;
    let bias = stream.upload(&bias_host, [size[1]])?;
    let launch = |x: &_, out: &mut _| T::launch(x, &weight, &bias, eps, out).launch(stream);
    rows::run(table, stream, &x, size, launch, |row| {
        let count = row.len() as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        let scale = 1.0 / (variance + f64::from(eps)).sqrt();
        let affine = weight_host.iter().zip(&bias_host);
        row.iter()
            .zip(affine)
            .map(|(v, (w, b))| (v - mean) * scale * w.cast::<f64>() + b.cast::<f64>())
            .collect()
    })
}
