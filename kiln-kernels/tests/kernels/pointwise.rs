//! Kernels of single elements against f64.

#![expect(clippy::cast_precision_loss, reason = "extents are small")]

mod rotary;

/// The largest relative error of one rounding to f32.
const ROUNDING: f64 = 1.0 / 16_777_216.0;

/// A little more than a number of roundings, for the products of their errors.
fn roundings(count: u32) -> f64 {
    f64::from(count) * ROUNDING * 1.001
}
