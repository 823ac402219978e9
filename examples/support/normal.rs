//! Normally distributed numbers, and the error of sums of their products.

use crate::report;

/// Numbers around 0, of variance 1, always the same for a seed.
pub fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let uniform = report::random(len.next_multiple_of(2), seed);
    let pairs = uniform.chunks_exact(2).flat_map(|pair| {
        // Box and Muller's: a length and an angle make two numbers. There is no logarithm of 0, and no number here is above 0.5.
        let length = (-2.0 * (pair[0] + 0.5).max(2f32.powi(-25)).ln()).sqrt();
        let (sine, cosine) = (std::f32::consts::TAU * pair[1]).sin_cos();
        [length * sine, length * cosine]
    });
    pairs.take(len).collect()
}

/// How far a sum of `k` products of normally distributed numbers around 1, `sum`, may be off when it is computed in f32.
///
/// Products of two such numbers are around 1 and exact, and sums of `i` of them around sqrt(i). One that is rounded is off by
/// sqrt(i) · 2^-24 at most, and on average by nothing: steps add up like a random walk, to about k · 2^-24 / 5. Tensor cores of Hopper cut
/// sums off toward zero instead, once for 16 products, by sqrt(i) · 2^-24 on average: these steps add up to k^1.5 · 2^-24 / 24, which is
/// as much as 3 k · 2^-24 for 4096 of them. Both are more in proportion where a sum is larger than others. More than twice as much is allowed.
pub fn rounding(k: usize, sum: f64) -> f64 {
    let k = k as f64;
    (k + k.sqrt() * sum.abs()) * 2f64.powi(-21)
}
