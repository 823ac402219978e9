//! Running, checking and timing matrix products in f16.

use kiln::prelude::*;

use crate::report;

/// A table for [`run`].
pub fn table() -> report::Table {
    report::Table::new(&["m", "n", "k", "instance", "rel. error", "ms", "TFLOP/s"])
}

/// Multiplies matrices by every instance, checks the results against a reference in f64 and adds a line a piece to the table.
/// `launch` runs the instance of that position once.
///
/// # Panics
/// If a result is further from the reference than rounding explains.
pub fn run(
    table: &mut report::Table,
    stream: &Stream,
    [m, n, k]: [usize; 3],
    instances: &[&str],
    launch: impl Fn(
        usize,
        &DeviceTensor<f16, 2>,
        &DeviceTensor<f16, 2>,
        &mut DeviceTensor<f16, 2>,
    ) -> Result<()>,
) -> Result<()> {
    let scale = 1.0 / (k as f32).sqrt();
    let a_host = random_f16(m * k, 1, scale);
    let b_host = random_f16(k * n, 2, scale);
    let (a, b) = (stream.upload(&a_host, [m, k])?, stream.upload(&b_host, [k, n])?);
    let samples = reference(&a_host, &b_host, [m, n, k]);
    let progress = report::progress(instances.len(), &format!("{m}x{n}x{k}"));
    for (at, name) in instances.iter().enumerate() {
        let mut c = stream.full([m, n], f16::NAN)?;
        launch(at, &a, &b, &mut c)?;
        let error = relative_error(&samples, &c.to_vec(stream)?, n);
        let ms = report::median_ms(stream, || launch(at, &a, &b, &mut c))?;
        let flops = 2.0 * m as f64 * n as f64 * k as f64;
        table.row(&[&m, &n, &k, name], error, ms, flops * 1e-3);
        // Rounding the result to f16 alone costs up to 2^-11 of each value.
        assert!(error < 1e-3, "{name} at {m}x{n}x{k}: relative error {error}");
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(())
}

/// Random numbers times `scale`, in f16.
fn random_f16(len: usize, seed: u64, scale: f32) -> Vec<f16> {
    report::random(len, seed).into_iter().map(|x| f16::from_f32(x * scale)).collect()
}

/// A product in f64 at some elements: all of a small one, a few thousand of a large one.
///
/// Gives (row, column, value).
fn reference(left: &[f16], right: &[f16], [m, n, k]: [usize; 3]) -> Vec<(usize, usize, f64)> {
    let count = (m * n).min(4096);
    // Steps coprime to the extents visit rows and columns evenly, the last ones included.
    (0..count)
        .map(|i| {
            if count == m * n {
                (i / n, i % n)
            } else {
                ((i * 7919) % m, (m * n - 1 - i * 104_729 % (m * n)) % n)
            }
        })
        .map(|(row, column)| {
            let sum =
                (0..k).map(|i| left[row * k + i].to_f64() * right[i * n + column].to_f64()).sum();
            (row, column, sum)
        })
        .collect()
}

/// The norm of the difference over the norm of the reference. NaN stays NaN.
fn relative_error(reference: &[(usize, usize, f64)], actual: &[f16], n: usize) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    for (row, column, value) in reference {
        let actual = actual[row * n + column].to_f64();
        difference += (actual - value).powi(2);
        norm += value.powi(2);
    }
    (difference / norm).sqrt()
}
