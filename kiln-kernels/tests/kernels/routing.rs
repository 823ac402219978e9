//! Experts of tokens against slow and obvious second implementations.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers are small"
)]

mod extreme;
mod histogram;
mod permutation;
mod prefix_sum;
mod rows;
mod top_k;

/// How far a result of f32 may be off, of the size of what is computed: half a unit of the last place.
const ROUNDING: f64 = 1.0 / 16_777_216.0;

/// Experts of tokens, some of which are outside of the range.
fn experts_of(tokens: usize, k: usize, experts: usize, seed: u64) -> Vec<i32> {
    let of = |x: f32| ((0.5 * (x + 1.0) * (experts as f32 + 2.0)) as i32) - 1;
    crate::support::numbers::<f32>(tokens * k, seed).into_iter().map(of).collect()
}
