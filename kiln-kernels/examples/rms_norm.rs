//! RMS norm, y = x / sqrt(mean(x²) + eps) · weight, over rows of any width.
//!
//! `cargo run --release -p kiln-gpu-kernels --example rms_norm [-- ROWS COLUMNS]`

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and has parts in common with others"
)]

use kiln::prelude::*;
use kiln_kernels::{
    Real,
    rows::{TARGETS, rms_norm},
};

#[path = "../../examples/support/report.rs"]
mod report;
#[path = "../../examples/support/rows.rs"]
mod rows;

fn main() -> Result<()> {
    let device = Device::best_for(TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<2>() {
        Some(size) => vec![size],
        None if device.is_emulator() => vec![[9, 100], [2, 4096], [2, 20_000]],
        None => vec![[65536, 8192], [32768, 4096], [8192, 16384], [8192, 32768], [1000, 1001]],
    };
    let mut table = rows::table();
    let progress = report::progress(sizes.len(), "rms_norm");
    for size in sizes {
        check::<bf16>(&stream, size, &mut table)?;
        check::<f16>(&stream, size, &mut table)?;
        check::<f32>(&stream, size, &mut table)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}

fn check<T: Real + Float>(
    stream: &Stream,
    size: [usize; 2],
    table: &mut report::Table,
) -> Result<()> {
    let eps = 1e-5;
    let x = rows::numbers::<T>(size[0] * size[1], 5, 1.0);
    let weight_host = rows::numbers::<T>(size[1], 6, 1.0);
    let weight = stream.upload(&weight_host, [size[1]])?;
    let launch = |x: &_, out: &mut _| rms_norm(stream, x, &weight, eps, out);
    rows::run(table, stream, &x, size, launch, |row| {
        let mean = row.iter().map(|v| v * v).sum::<f64>() / row.len() as f64;
        let scale = 1.0 / (mean + f64::from(eps)).sqrt();
        row.iter().zip(&weight_host).map(|(v, w)| v * scale * w.cast::<f64>()).collect()
    })
}
