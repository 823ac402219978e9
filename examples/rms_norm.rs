//! RMSNorm: out = x / sqrt(mean(x²) + eps) · weight, over rows of any width.
//!
//! `cargo run --release --example rms_norm [-- ROWS COLUMNS]`

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
         instances(T = [bf16, f16], (N, W) = [(1024, 4), (4096, 4), (8192, 8), (16384, 16)]))]
pub fn rms_norm<T: Float, const N: i32, const W: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    eps: f32,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>(); // zero outside the row
    let mean = (v * v).sum(1) / (x.dim(1) as f32);
    let scale = (mean + eps).rsqrt().expand(1);
    let w = weight.tile([0], [N]).load().cast::<f32>().expand(0);
    out.tile([row, 0], [1, N]).store((v * scale * w).cast::<T>());
}

/// One block a row of any width, `N` elements at a time, which it reads twice.
#[kernel(target = sm_80, warps = 8, grid = x.dim(0), instances(T = [bf16, f16], N = [8192]))]
pub fn rms_norm_wide<T: Float, const N: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 1>,
    eps: f32,
    out: TensorMut<T, 2>,
) {
    let row = block_id(0);
    let mut squares = zeros::<f32>([1, 1]);
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        squares += (v * v).sum(1).expand(1);
    }
    let scale = (squares / (x.dim(1) as f32) + eps).rsqrt();
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        let w = weight.tile([at], [N]).load().cast::<f32>().expand(0);
        out.tile([row, at], [1, N]).store((v * scale * w).cast::<T>());
    }
}

/// The element types that the kernels have instances of.
trait RmsNorm: Element + Float {
    /// The launch for rows of this width.
    fn launch<'a>(
        x: &'a DeviceTensor<Self, 2>,
        weight: &'a DeviceTensor<Self, 1>,
        eps: f32,
        out: &'a mut DeviceTensor<Self, 2>,
    ) -> Launch<'a>;
}

macro_rules! rms_norm_of {
    ($($ty:ty),*) => {$(
        impl RmsNorm for $ty {
            fn launch<'a>(
                x: &'a DeviceTensor<$ty, 2>,
                weight: &'a DeviceTensor<$ty, 1>,
                eps: f32,
                out: &'a mut DeviceTensor<$ty, 2>,
            ) -> Launch<'a> {
                match x.shape()[1] {
                    0..=1024 => rms_norm::<$ty, 1024, 4>(rms_norm::Args { x, weight, eps, out }),
                    1025..=4096 => rms_norm::<$ty, 4096, 4>(rms_norm::Args { x, weight, eps, out }),
                    4097..=8192 => rms_norm::<$ty, 8192, 8>(rms_norm::Args { x, weight, eps, out }),
                    8193..=16384 => rms_norm::<$ty, 16384, 16>(rms_norm::Args { x, weight, eps, out }),
                    _ => rms_norm_wide::<$ty, 8192>(rms_norm_wide::Args { x, weight, eps, out }),
                }
            }
        }
    )*};
}

rms_norm_of!(bf16, f16);

fn main() -> Result<()> {
    let device = Device::best_for(rms_norm::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => {
            vec![[4, 1000], [2, 4096], [2, 8000], [1, 16384], [2, 20_000]]
        }
        None => vec![[65536, 8192], [32768, 4096], [8192, 16384], [8192, 32768], [1000, 1001]],
    };
    let mut table = rows::table();
    let progress = report::progress(2 * sizes.len(), "rms_norm");
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

fn check<T: RmsNorm>(stream: &Stream, size: [usize; 2], table: &mut report::Table) -> Result<()> {
    let eps = 1e-5;
    let x = rows::numbers::<T>(size[0] * size[1], 5, 1.0);
    let weight_host = rows::numbers::<T>(size[1], 6, 1.0);
    let weight = stream.upload(&weight_host, [size[1]])?;
    let launch = |x: &_, out: &mut _| T::launch(x, &weight, eps, out).launch(stream);
    rows::run(table, stream, &x, size, launch, |row| {
        let mean = row.iter().map(|v| v * v).sum::<f64>() / row.len() as f64;
        let scale = 1.0 / (mean + f64::from(eps)).sqrt();
        row.iter().zip(&weight_host).map(|(v, w)| v * scale * w.cast::<f64>()).collect()
    })
}
