//! Rows in a shuffled order, for the examples that gather and scatter.

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
