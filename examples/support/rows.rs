//! Running, checking and timing an operation on the rows of a matrix.

use kiln::prelude::*;

#[path = "norm.rs"]
mod norm;

use super::report::{Table, median_ms, random};

/// A table for [`run`].
pub fn table() -> Table {
    Table::new(&["type", "rows", "columns", "rel. error", "ms", "GB/s"])
}

/// Numbers of an element type in -0.5 .. 0.5, times `scale`.
pub fn numbers<T: Float>(len: usize, seed: u64, scale: f32) -> Vec<T> {
    random(len, seed).into_iter().map(|x| T::of(x * scale)).collect()
}

/// Runs an operation on a matrix, checks rows of the result against `reference`, which computes one in `f64`, and adds
/// a line to the table. `launch` runs it once.
///
/// # Panics
/// If the result is further from the reference than rounding to the type and the approximations of `f32` explain.
pub fn run<T: Element + Float>(
    table: &mut Table,
    stream: &Stream,
    x_host: &[T],
    [rows, columns]: [usize; 2],
    launch: impl Fn(&DeviceTensor<T, 2>, &mut DeviceTensor<T, 2>) -> Result<()>,
    reference: impl Fn(&[f64]) -> Vec<f64>,
) -> Result<()> {
    let x = stream.upload(x_host, [rows, columns])?;
    let mut out = stream.full([rows, columns], T::NAN)?;
    launch(&x, &mut out)?;
    let error = relative_error(x_host, &out.to_vec(stream)?, [rows, columns], reference);
    let ms = median_ms(stream, || launch(&x, &mut out))?;
    let bytes = 2 * rows * columns * size_of::<T>();
    table.row(&[&T::DTYPE, &rows, &columns], error, ms, bytes as f64);
    // Rounding alone costs up to half of `EPSILON` of each value.
    let limit = f64::from(T::EPSILON.cast::<f32>()).max(4e-6);
    assert!(error < limit, "{rows}x{columns} of {}: relative error {error}", T::DTYPE);
    Ok(())
}

/// The norm of the difference from the reference over the norm of the reference, over at most 64 rows, the last one
/// among them. NaN stays NaN.
fn relative_error<T: Float>(
    x: &[T],
    actual: &[T],
    [rows, columns]: [usize; 2],
    reference: impl Fn(&[f64]) -> Vec<f64>,
) -> f64 {
    let row_of = |all: &[T], row: usize| -> Vec<f64> {
        all[row * columns..][..columns].iter().map(|value| value.cast::<f64>()).collect()
    };
    norm::relative_error((0..rows.min(64)).flat_map(|i| {
        let row = if i == 0 { rows - 1 } else { i * rows / 64 % rows };
        reference(&row_of(x, row)).into_iter().zip(row_of(actual, row))
    }))
}
