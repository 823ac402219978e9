//! Softmax over rows of any width: rows that fit a tile in one pass, wider ones with a running maximum.
//!
//! `cargo run --release --example softmax [-- ROWS COLUMNS]`

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

// ANCHOR: kernel
/// One block a row; the row fits a tile of `N`.
#[kernel(target = sm_80, warps = W, grid = x.dim(0),
         instances(T = [bf16, f16, f32], (N, W) = [(256, 1), (1024, 4), (4096, 4), (8192, 8), (16384, 16)]))]
pub fn softmax<T: Float, const N: i32, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = block_id(0);
    let inside = arange(0, N).expand(0).lt(x.dim(1));
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>();
    let v = select(inside, v, f32::NEG_INFINITY);
    let p = (v - v.max(1).expand(1)).exp();
    let scale = 1.0 / p.sum(1); // one division a row
    out.tile([row, 0], [1, N]).store((p * scale.expand(1)).cast::<T>());
}
// ANCHOR_END: kernel

/// One block a row of any width, `N` elements at a time: the sum is rescaled when the maximum grows.
#[kernel(target = sm_80, warps = 8, grid = x.dim(0), instances(T = [bf16, f16, f32], N = [8192]))]
pub fn softmax_wide<T: Float, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = block_id(0);
    let mut top = full::<f32>([1, 1], f32::MIN);
    let mut total = zeros::<f32>([1, 1]);
    for at in range(0, x.dim(1), N) {
        let inside = (at + arange(0, N)).expand(0).lt(x.dim(1));
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        let v = select(inside, v, f32::NEG_INFINITY);
        let new = maximum(top, v.max(1).expand(1));
        total = total * (top - new).exp() + (v - new).exp().sum(1).expand(1);
        top = new;
    }
    let scale = 1.0 / total;
    for at in range(0, x.dim(1), N) {
        let v = x.tile([row, at], [1, N]).load().cast::<f32>();
        let p = (v - top).exp() * scale;
        out.tile([row, at], [1, N]).store(p.cast::<T>());
    }
}

/// The element types that the kernels have instances of.
trait Softmax: Element + Float {
    /// The launch for rows of this width.
    fn launch<'a>(x: &'a DeviceTensor<Self, 2>, out: &'a mut DeviceTensor<Self, 2>) -> Launch<'a>;
}

macro_rules! softmax_of {
    ($($ty:ty),*) => {$(
        impl Softmax for $ty {
            fn launch<'a>(x: &'a DeviceTensor<$ty, 2>, out: &'a mut DeviceTensor<$ty, 2>) -> Launch<'a> {
                match x.shape()[1] {
                    0..=256 => softmax::<$ty, 256, 1>(softmax::Args { x, out }),
                    257..=1024 => softmax::<$ty, 1024, 4>(softmax::Args { x, out }),
                    1025..=4096 => softmax::<$ty, 4096, 4>(softmax::Args { x, out }),
                    4097..=8192 => softmax::<$ty, 8192, 8>(softmax::Args { x, out }),
                    8193..=16384 => softmax::<$ty, 16384, 16>(softmax::Args { x, out }),
                    _ => softmax_wide::<$ty, 8192>(softmax_wide::Args { x, out }),
                }
            }
        }
    )*};
}

softmax_of!(bf16, f16, f32);

fn main() -> Result<()> {
    let device = Device::best_for(softmax::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => {
            vec![[3, 100], [3, 1000], [2, 4096], [2, 8000], [1, 16384], [2, 20_000]]
        }
        None => vec![
            [65536, 8192],
            [32768, 4096],
            [8192, 16384],
            [8192, 32768],
            [1000, 1001],
            [64, 200],
        ],
    };
    let mut table = rows::table();
    let progress = report::progress(3 * sizes.len(), "softmax");
    for size in sizes {
        check::<bf16>(&stream, size, &mut table)?;
        progress.inc(1);
        check::<f16>(&stream, size, &mut table)?;
        progress.inc(1);
        check::<f32>(&stream, size, &mut table)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}

fn check<T: Softmax>(stream: &Stream, size: [usize; 2], table: &mut report::Table) -> Result<()> {
    let x = rows::numbers::<T>(size[0] * size[1], 3, 8.0);
    let launch = |x: &_, out: &mut _| T::launch(x, out).launch(stream);
    rows::run(table, stream, &x, size, launch, |row| {
        let top = row.iter().copied().fold(f64::MIN, f64::max);
        let total: f64 = row.iter().map(|v| (v - top).exp()).sum();
        row.iter().map(|v| (v - top).exp() / total).collect()
    })
}
