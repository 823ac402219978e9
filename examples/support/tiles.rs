//! Tiles whose elements are all different, compared by their bits, for the examples that copy them.

use kiln::prelude::*;

/// Numbers that are exact in every type, and none of which is zero; neighbours differ, and so do rows.
pub fn numbers<T: Float>(len: usize, seed: usize) -> Vec<T> {
    (0..len).map(|i| T::of((1 + (i + i / 1021 + seed) % 251) as f32)).collect()
}

/// The elements by their bits: every type of the examples is exact in `f32`.
pub fn bits<T: Float>(values: &[T]) -> Vec<u32> {
    values.iter().map(|value| value.cast::<f32>().to_bits()).collect()
}

/// The tile `[X, Y]` from the command line; all of them if it has none.
pub fn asked(x: i32, y: i32) -> bool {
    let mut given = std::env::args().skip(1);
    match (given.next(), given.next()) {
        (Some(rows), Some(columns)) => rows == x.to_string() && columns == y.to_string(),
        (Some(_), None) | (None, _) => true,
    }
}
