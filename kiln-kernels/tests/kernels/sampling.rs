//! Tokens and sorted rows against slow and obvious second implementations.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "numbers are small, and those that are compared are exact"
)]

mod draw;
mod sort;
