//! How far the elements of a matrix are off, each by itself.

use crate::samples;

/// The largest difference between `actual` and `required`, of the elements that [`samples`] compares, as a part of what one may be off: an absolute
/// amount and a part of what is required. Infinite where one is NaN.
pub fn worst(
    extents: [usize; 2],
    [absolute, relative]: [f64; 2],
    required: impl Fn(usize, usize) -> f64,
    actual: impl Fn(usize, usize) -> f64,
) -> f64 {
    let off = samples::places(extents).map(|(row, column)| {
        let required = required(row, column);
        let off = (actual(row, column) - required).abs();
        off / (absolute + relative * required.abs())
    });
    off.fold(0.0, |worst: f64, off| if off.is_nan() { f64::INFINITY } else { worst.max(off) })
}
