//! What the matrix products are checked with: inputs from a seed, a reference in f64.

use kiln::prelude::*;

use crate::report;

/// Random numbers times `scale`, in f16.
pub fn random_f16(len: usize, seed: u64, scale: f32) -> Vec<f16> {
    report::random(len, seed).into_iter().map(|x| f16::from_f32(x * scale)).collect()
}

/// A product in f64 at some elements: all of a small one, a few thousand of a large one.
///
/// Gives (row, column, value).
pub fn reference(left: &[f16], right: &[f16], [m, n, k]: [usize; 3]) -> Vec<(usize, usize, f64)> {
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
pub fn relative_error(reference: &[(usize, usize, f64)], actual: &[f16], n: usize) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    for (row, column, value) in reference {
        let actual = actual[row * n + column].to_f64();
        difference += (actual - value).powi(2);
        norm += value.powi(2);
    }
    (difference / norm).sqrt()
}
