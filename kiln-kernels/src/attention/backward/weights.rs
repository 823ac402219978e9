//! What the kernels of the derivative share: weights computed anew, and where the keys of a block are.

use kiln::prelude::*;

#[device]
pub(crate) mod items {
    use super::super::super::seen::items::Seen;
    use kiln::lang::{Tensor, Tile, fma, select};

    /// Products `s` of queries at `places` with `keys`, along one axis each, less what keys further away count less by; of keys that are
    /// not seen, negative infinity. If not `all` keys are seen, they are compared.
    pub(crate) fn masked(
        s: Tile<f32>,
        seen: Seen,
        slope: f32,
        places: Tile<i32>,
        keys: Tile<i32>,
        all: bool,
    ) -> Tile<f32> {
        let mut s = s;
        if slope != 0.0 {
            s -= (keys - places).abs().cast::<f32>() * slope;
        }
        if !all {
            let ahead = keys - places;
            let near = ahead.le(seen.right) & ahead.ge(-seen.left);
            s = select(near & keys.lt(seen.keys), s, f32::NEG_INFINITY);
        }
        s
    }

    /// The weights of products. `tops` is the logarithm of the total of each query, to the base 2.
    pub(crate) fn weights(s: Tile<f32>, scale: f32, tops: Tile<f32>) -> Tile<f32> {
        fma(s, scale, -tops).exp2_approx()
    }

    /// `tanh` of a soft cap.
    pub(crate) fn capped(s: Tile<f32>, inner: f32) -> Tile<f32> {
        let mut s = s;
        if inner > 0.0 {
            s = (s * inner).tanh();
        }
        s
    }

    /// The gradients of products, from weights `p` and their gradients, less those of the totals. `s` is what a soft cap gave.
    pub(crate) fn gradients(s: Tile<f32>, p: Tile<f32>, dp: Tile<f32>, inner: f32) -> Tile<f32> {
        let mut ds = p * dp;
        if inner > 0.0 {
            ds *= 1.0 - s * s;
        }
        ds
    }

    /// The queries of a sequence that see any of `N` keys from `at` on, as tiles of `M`: the first one, and the one after the last.
    ///
    /// `shift` is the place of the first query.
    pub(crate) fn queries_of<const N: i32, const M: i32>(
        at: i32,
        [queries, keys]: [i32; 2],
        shift: i32,
        [left, right]: [i32; 2],
    ) -> (i32, i32) {
        let first = (at - right - shift).max(0);
        let end = ((at + N).min(keys) + left - shift).min(queries);
        if end > first { (first / M, (end + (M - 1)) / M) } else { (0, 0) }
    }

    /// Sums of queries begin at multiples of this for each sequence, and are filled up to one.
    pub(crate) const ROWS: i32 = 128;

    /// The sequence of which block `slot` has rows, and the first of these, if each block has up to `N` rows of one sequence.
    ///
    /// Sequence `i` has the blocks from `offsets[i] / N + i` on, which is more than the last one of the sequence before.
    pub(crate) fn rows_of_block<const N: i32>(
        offsets: Tensor<i32, 1>,
        rows: i32,
        slot: i32,
    ) -> (i32, i32) {
        let (mut sequence, mut end) = (0, offsets.dim(0) - 1);
        let mut begin = 0;
        while end - sequence > 1 {
            let middle = sequence + (end - sequence) / 2;
            let from = offsets.tile([middle], [1]).load().item().max(0).min(rows) / N + middle;
            if from <= slot {
                (sequence, begin) = (middle, from);
            } else {
                end = middle;
            }
        }
        (sequence, N * (slot - begin))
    }
}
