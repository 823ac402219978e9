//! Rows in a shuffled order, and tensors whose elements are all different, for the examples that gather and scatter.

use kiln::prelude::*;

/// Rows of the tensor, and columns.
pub const EXTENTS: [usize; 2] = [1024, 1024];

/// `count` whole numbers from `from` to `to`, evenly spread, in an order that is always the same for a seed.
pub fn spread(count: usize, [from, to]: [i32; 2], seed: u64) -> Vec<i32> {
    let last = i32::try_from(count - 1).expect("few rows");
    let mut rows: Vec<i32> = (0..=last).map(|i| from + (to - from) * i / last).collect();
    let mut state = seed;
    for i in (1..count).rev() {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let j = usize::try_from((bits ^ bits >> 31) % (i as u64 + 1)).expect("a position");
        rows.swap(i, j);
    }
    rows
}

/// Numbers that are exact in every type, and none of which is zero; neighbours differ, and so do rows.
pub fn numbers<T: Float>(len: usize, seed: usize) -> Vec<T> {
    (0..len).map(|i| T::of((1 + (i + i / 1021 + seed) % 251) as f32)).collect()
}

/// The elements by their bits: every type of the examples is exact in `f32`.
pub fn bits<T: Float>(values: &[T]) -> Vec<u32> {
    values.iter().map(|value| value.cast::<f32>().to_bits()).collect()
}

/// The tile of `[X, Y]` that the command line asks for; all of them where it asks for none.
pub fn asked(x: i32, y: i32) -> bool {
    let mut given = std::env::args().skip(1);
    match (given.next(), given.next()) {
        (Some(rows), Some(columns)) => rows == x.to_string() && columns == y.to_string(),
        (Some(_), None) | (None, _) => true,
    }
}
