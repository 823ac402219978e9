//! Kernels of single elements against f64.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "extents are small, and numbers that are compared are exact"
)]

mod activation;
mod adamw;
mod cast;
mod dropout;
mod quantize;
mod rotary;
mod transpose;
mod views;

use kiln::prelude::Element;

use crate::support::Number;

/// The largest relative error of one rounding to f32.
const ROUNDING: f64 = 1.0 / 16_777_216.0;

/// A little more than a number of roundings, for the products of their errors.
fn roundings(count: u32) -> f64 {
    f64::from(count) * ROUNDING * 1.001
}

/// How far rounding is off at most below the normal numbers of a type: those of f16 are as large as 2^-14.
fn subnormal<T: Number>() -> f64 {
    if T::DTYPE == half::f16::DTYPE { 0.5f64.powi(25) } else { 0.0 }
}
