//! Running, checking and timing matrix products.

use kiln::prelude::*;

use crate::report;

#[path = "samples.rs"]
mod samples;

/// An element type of factors and products.
pub trait Factor: Element {
    /// The result of a product that nothing wrote.
    const UNWRITTEN: Self;
    /// Nearest to a number.
    fn of(value: f32) -> Self;
    /// The exact value.
    fn value(self) -> f64;
}

impl Factor for f16 {
    const UNWRITTEN: f16 = f16::NAN;

    fn of(value: f32) -> f16 {
        f16::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Factor for bf16 {
    const UNWRITTEN: bf16 = bf16::NAN;

    fn of(value: f32) -> bf16 {
        bf16::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Factor for e4m3 {
    const UNWRITTEN: e4m3 = e4m3::NAN;

    fn of(value: f32) -> e4m3 {
        e4m3::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Factor for e5m2 {
    const UNWRITTEN: e5m2 = e5m2::NAN;

    fn of(value: f32) -> e5m2 {
        e5m2::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

/// Which index of a factor is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Major {
    /// The depth of the product.
    K,
    /// The rows of the left, the columns of the right factor.
    Mn,
}

/// A table for [`run`].
pub fn table() -> report::Table {
    report::Table::new(&["m", "n", "k", "instance", "rel. error", "ms", "TFLOP/s"])
}

/// Multiplies matrices by every instance, checks the results against a reference in f64 and adds a line a piece to the table.
/// `launch` runs the instance of that position once, with factors of shapes `[m, k]` and `[k, n]`; those that are contiguous along the
/// other index are passed transposed, `[k, m]` and `[n, k]`.
///
/// # Panics
/// If a result is further from the reference than rounding explains.
pub fn run<T: Factor, C: Factor>(
    table: &mut report::Table,
    stream: &Stream,
    [m, n, k]: [usize; 3],
    [left, right]: [Major; 2],
    instances: &[&str],
    launch: impl Fn(
        usize,
        &DeviceTensor<T, 2>,
        &DeviceTensor<T, 2>,
        &mut DeviceTensor<C, 2>,
    ) -> Result<()>,
) -> Result<()> {
    // FP8 has few values near 0: their products are as large as the depth makes them.
    let narrow = size_of::<T>() == 1;
    let scale = if narrow { 1.0 } else { 1.0 / (k as f32).sqrt() };
    let a_host: Vec<T> = random(m * k, 1, scale);
    let b_host: Vec<T> = random(k * n, 2, scale);
    let a_shape = if left == Major::K { [m, k] } else { [k, m] };
    let b_shape = if right == Major::Mn { [k, n] } else { [n, k] };
    let (a, b) = (stream.upload(&a_host, a_shape)?, stream.upload(&b_host, b_shape)?);
    let at = |major: Major, outer: usize, inner: usize, extents: [usize; 2]| match major {
        Major::K => outer * extents[1] + inner,
        Major::Mn => inner * extents[0] + outer,
    };
    let left_at = |row: usize, i: usize| a_host[at(left, row, i, [m, k])].value();
    let right_at = |column: usize, i: usize| b_host[at(right, column, i, [n, k])].value();
    let required = |row, column| (0..k).map(|i| left_at(row, i) * right_at(column, i)).sum();
    let progress = report::progress(instances.len(), &format!("{m}x{n}x{k}"));
    for (at, name) in instances.iter().enumerate() {
        let mut c = stream.full([m, n], C::UNWRITTEN)?;
        launch(at, &a, &b, &mut c)?;
        let c_host = c.to_vec(stream)?;
        let actual = |row: usize, column: usize| c_host[row * n + column].value();
        let error = samples::relative_error([m, n], required, actual);
        let ms = report::median_ms(stream, || launch(at, &a, &b, &mut c))?;
        let flops = 2.0 * m as f64 * n as f64 * k as f64;
        table.row(&[&m, &n, &k, name], error, ms, flops * 1e-3);
        // Rounding the result alone costs up to 2^-9 of each value in bf16, the shorter of the two. Of products of floats of one
        // byte, tensor cores of Hopper keep about 14 bits of each sum.
        let limit = if narrow { 3e-2 } else { 3e-3 };
        assert!(error < limit, "{name} at {m}x{n}x{k}: relative error {error}");
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(())
}

/// Random numbers times `scale`.
fn random<T: Factor>(len: usize, seed: u64, scale: f32) -> Vec<T> {
    report::random(len, seed).into_iter().map(|x| T::of(x * scale)).collect()
}
