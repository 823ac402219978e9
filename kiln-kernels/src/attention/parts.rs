//! Shares of the keys of a sequence, and the sums of their parts.

use kiln::prelude::*;

#[device]
pub(crate) mod items {
    use super::super::seen::items::{LEAST, LN_2, Seen};
    use super::super::softmax::items::Totals;
    use kiln::lang::{Tensor, TensorMut, Tile, arange, range, select, zeros};

    /// Tiles of keys that are worth a block of their own.
    pub(crate) const FEWEST: i32 = 16;

    /// How many of `splits` blocks share the tiles of `N` keys.
    pub(crate) fn shared_tiles<const N: i32>(seen: Seen, splits: i32) -> i32 {
        ((seen.end::<N>() - seen.first::<N>()) / FEWEST).max(1).min(splits)
    }

    /// Stores the part of block `split` of the sums of `M` rows of `D` columns.
    pub(crate) fn leave<const M: i32, const D: i32>(
        sums: Tile<f32>,
        totals: Totals,
        parts: TensorMut<f32, 4>,
        tops: TensorMut<f32, 4>,
        [index, split]: [i32; 2],
    ) {
        parts.tile([index, split, 0, 0], [1, 1, M, D]).store(sums.reshape([1, 1, M, D]));
        let (top, total) = (totals.top, totals.total);
        tops.tile([index, 0, 0, split], [1, 1, M, 1]).store(top.reshape([1, 1, M, 1]));
        tops.tile([index, 1, 0, split], [1, 1, M, 1]).store(total.reshape([1, 1, M, 1]));
    }

    /// The sums of the parts of a row, and the logarithm of its total, `N` parts at a time in the order of the keys.
    pub(crate) fn combined<const D: i32, const N: i32>(
        parts: Tensor<f32, 4>,
        tops: Tensor<f32, 4>,
        index: i32,
        row: i32,
        sharers: i32,
        scale: f32,
    ) -> (Tile<f32>, f32) {
        let parts = parts.slice((.., 0..sharers, .., ..));
        let tops = tops.slice((.., .., .., 0..sharers));
        let mut top = LEAST;
        let mut total = 0.0;
        let mut acc = zeros::<f32>([D]);
        for at in range(0, sharers, N) {
            let inside = (at + arange(0, N)).lt(sharers);
            let of_parts = tops.tile([index, 0, row, at], [1, 1, 1, N]).load().reshape([N]);
            let of_parts = select(inside, of_parts, LEAST);
            let totals = tops.tile([index, 1, row, at], [1, 1, 1, N]).load().reshape([N]);
            let sums = parts.tile([index, at, row, 0], [1, N, 1, D]).load().reshape([N, D]);
            let new_top = top.max(of_parts.max(0).item());
            let weights = ((of_parts - new_top) * scale).exp2_approx();
            let shrink = ((top - new_top) * scale).exp2();
            // Totals and sums of parts that are not there are 0.
            total = total * shrink + (weights * totals).sum(0).item();
            acc = acc * shrink + (weights.expand(1) * sums).sum(0);
            top = new_top;
        }
        // A query that sees no key has a total of 0, and sums of 0.
        let share = if total == 0.0 { 1.0 } else { 1.0 / total };
        (acc * share, (total.log2() + top * scale) * LN_2)
    }
}
