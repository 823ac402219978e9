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

#[path = "support/mod.rs"]
mod support;

/// One block a row; the row fits a tile of `N`.
#[kernel(target = sm_80, warps = W, grid = x.dim(0),
         instances(T = [bf16, f32], (N, W) = [(256, 1), (1024, 4), (4096, 4), (8192, 8), (16384, 16)]))]
pub fn softmax<T: Float, const N: i32, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = block_id(0);
    let inside = arange(0, N).expand(0).lt(x.dim(1));
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>();
    let v = select(inside, v, f32::NEG_INFINITY);
    let p = (v - v.max(1).expand(1)).exp();
    let scale = 1.0 / p.sum(1); // one division a row
    out.tile([row, 0], [1, N]).store((p * scale.expand(1)).cast::<T>());
}

/// One block a row of any width, `N` elements at a time: the sum is rescaled when the maximum grows.
#[kernel(target = sm_80, warps = 8, grid = x.dim(0), instances(T = [bf16, f32], N = [8192]))]
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

/// The launch for rows of this width.
fn launch<'a>(x: &'a DeviceTensor<bf16, 2>, out: &'a mut DeviceTensor<bf16, 2>) -> Launch<'a> {
    match x.shape()[1] {
        0..=256 => softmax::<bf16, 256, 1>(softmax::Args { x, out }),
        257..=1024 => softmax::<bf16, 1024, 4>(softmax::Args { x, out }),
        1025..=4096 => softmax::<bf16, 4096, 4>(softmax::Args { x, out }),
        4097..=8192 => softmax::<bf16, 8192, 8>(softmax::Args { x, out }),
        8193..=16384 => softmax::<bf16, 16384, 16>(softmax::Args { x, out }),
        _ => softmax_wide::<bf16, 8192>(softmax_wide::Args { x, out }),
    }
}

fn main() -> Result<()> {
    let device = Device::best_for(softmax::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match support::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => vec![[4, 100], [4, 1000], [3, 4096], [2, 20_000]],
        None => vec![[65536, 8192], [32768, 4096], [8192, 32768], [1000, 1001]],
    };
    let mut table = support::Table::new(&["rows", "columns", "max |error|", "ms", "GB/s"]);
    let progress = support::progress(sizes.len(), "softmax");
    for [rows, columns] in sizes {
        let host: Vec<bf16> =
            support::random(rows * columns, 3).iter().map(|x| bf16::from_f32(x * 8.0)).collect();
        let x = stream.upload(&host, [rows, columns])?;
        let mut out = stream.full([rows, columns], bf16::NAN)?;
        launch(&x, &mut out).launch(&stream)?;
        let got = out.to_vec(&stream)?;
        let worst = worst_error(&host, &got, columns);
        let ms = support::median_ms(&stream, || launch(&x, &mut out).launch(&stream))?;
        let bytes = (rows * columns * 4) as f64;
        table.row(&[
            rows.to_string(),
            columns.to_string(),
            format!("{worst:.1e}"),
            ms.map_or("-".to_owned(), |ms| format!("{ms:.4}")),
            ms.map_or("-".to_owned(), |ms| format!("{:.0}", bytes / ms * 1e-6)),
        ]);
        // A probability is at most 1, and bf16 keeps 8 bits of it: half a unit in the last place is 2^-9.
        assert!(worst < 4e-3, "softmax of {rows}x{columns}: error {worst}");
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}

/// The largest difference from a softmax in f64, over at most 64 rows, the last one among them.
fn worst_error(x: &[bf16], got: &[bf16], columns: usize) -> f64 {
    let rows = x.len() / columns;
    let mut worst = 0.0f64;
    for i in 0..rows.min(64) {
        let row = if i == 0 { rows - 1 } else { i * rows / 64 % rows };
        let values: Vec<f64> = x[row * columns..][..columns].iter().map(|v| v.to_f64()).collect();
        let top = values.iter().copied().fold(f64::MIN, f64::max);
        let total: f64 = values.iter().map(|v| (v - top).exp()).sum();
        for (value, got) in values.iter().zip(&got[row * columns..]) {
            let difference = ((value - top).exp() / total - got.to_f64()).abs();
            // A NaN must not pass: it is never smaller than anything.
            worst = if difference <= worst { worst } else { difference };
        }
    }
    worst
}
