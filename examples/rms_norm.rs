//! RMSNorm: out = x / sqrt(mean(x²) + eps) · weight, over rows of up to 16384 elements.
//!
//! `cargo run --release --example rms_norm [-- ROWS COLUMNS]`

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

/// The launch for rows of this width.
fn launch<'a>(
    x: &'a DeviceTensor<bf16, 2>,
    weight: &'a DeviceTensor<bf16, 1>,
    eps: f32,
    out: &'a mut DeviceTensor<bf16, 2>,
) -> Option<Launch<'a>> {
    Some(match x.shape()[1] {
        0..=1024 => rms_norm::<bf16, 1024, 4>(rms_norm::Args { x, weight, eps, out }),
        1025..=4096 => rms_norm::<bf16, 4096, 4>(rms_norm::Args { x, weight, eps, out }),
        4097..=8192 => rms_norm::<bf16, 8192, 8>(rms_norm::Args { x, weight, eps, out }),
        8193..=16384 => rms_norm::<bf16, 16384, 16>(rms_norm::Args { x, weight, eps, out }),
        _ => return None,
    })
}

fn main() -> Result<()> {
    let device = Device::best_for(rms_norm::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match support::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => vec![[4, 1000], [3, 4096], [2, 8192]],
        None => vec![[65536, 8192], [32768, 4096], [1000, 1001]],
    };
    let eps = 1e-5;
    let mut table = support::Table::new(&["rows", "columns", "rel. error", "ms", "GB/s"]);
    let progress = support::progress(sizes.len(), "rms_norm");
    for [rows, columns] in sizes {
        let bf = |seed, len: usize| -> Vec<bf16> {
            support::random(len, seed).into_iter().map(bf16::from_f32).collect()
        };
        let (x_host, weight_host) = (bf(5, rows * columns), bf(6, columns));
        let x = stream.upload(&x_host, [rows, columns])?;
        let weight = stream.upload(&weight_host, [columns])?;
        let mut out = stream.full([rows, columns], bf16::NAN)?;
        let Some(first) = launch(&x, &weight, eps, &mut out) else {
            println!("rows of {columns} elements are wider than the largest instance, 16384");
            continue;
        };
        first.launch(&stream)?;
        let error = relative_error(&x_host, &weight_host, eps, &out.to_vec(&stream)?);
        let ms = support::median_ms(&stream, || {
            launch(&x, &weight, eps, &mut out).map_or(Ok(()), |launch| launch.launch(&stream))
        })?;
        let bytes = (rows * columns * 4) as f64;
        table.row(&[
            rows.to_string(),
            columns.to_string(),
            format!("{error:.1e}"),
            ms.map_or("-".to_owned(), |ms| format!("{ms:.4}")),
            ms.map_or("-".to_owned(), |ms| format!("{:.0}", bytes / ms * 1e-6)),
        ]);
        // Rounding the result to bf16 costs up to 2^-9 of each value.
        assert!(error < 4e-3, "rms_norm of {rows}x{columns}: relative error {error}");
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}

/// The norm of the difference from an f64 reference over the norm of the reference, over at most 64 rows.
fn relative_error(x: &[bf16], weight: &[bf16], eps: f32, got: &[bf16]) -> f64 {
    let columns = weight.len();
    let rows = x.len() / columns;
    let (mut difference, mut norm) = (0.0, 0.0);
    for i in 0..rows.min(64) {
        let row = if i == 0 { rows - 1 } else { i * rows / 64 % rows };
        let values = &x[row * columns..][..columns];
        let mean = values.iter().map(|v| v.to_f64().powi(2)).sum::<f64>() / columns as f64;
        let scale = 1.0 / (mean + f64::from(eps)).sqrt();
        for ((v, w), got) in values.iter().zip(weight).zip(&got[row * columns..]) {
            let want = v.to_f64() * scale * w.to_f64();
            difference += (got.to_f64() - want).powi(2);
            norm += want.powi(2);
        }
    }
    (difference / norm).sqrt()
}
