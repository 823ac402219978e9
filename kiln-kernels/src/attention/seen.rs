//! Which keys a query sees, and what becomes of its products with them: the mathematics that all kernels share.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_lossless,
    reason = "device code has no `From` between numbers"
)]

use kiln::prelude::*;

#[device]
pub(crate) mod items {
    use kiln::lang::{Tensor, Tile, arange, select};

    /// The least running maximum, for rows that have seen no key: an `exp2` of a product minus it is finite, and that of a masked product
    /// 0.
    pub(crate) const LEAST: f32 = -1e30;

    /// The natural logarithm of 2.
    #[expect(clippy::approx_constant, reason = "a kernel has no paths of the standard library")]
    pub(crate) const LN_2: f32 = 0.693_147_2;

    /// Where a sequence begins and ends: within the `rows` of its tensor, whatever the offsets are.
    pub(crate) fn part(offsets: Tensor<i32, 1>, sequence: i32, rows: i32) -> (i32, i32) {
        let from = offsets.tile([sequence], [1]).load().item().max(0).min(rows);
        let to = offsets.tile([sequence + 1], [1]).load().item().max(from).min(rows);
        (from, to)
    }

    /// The window of keys that the queries of a block see. The last query is at the place of the last key.
    #[derive(Clone, Copy)]
    pub(crate) struct Seen {
        /// The place of the first query among the keys, which is negative if it is before all of them.
        pub(crate) place: i32,
        /// The queries.
        pub(crate) rows: i32,
        /// The number of keys.
        pub(crate) keys: i32,
        /// How many keys are seen before and after the place of a query.
        pub(crate) left: i32,
        pub(crate) right: i32,
    }

    impl Seen {
        /// The first tile of `N` keys with one that is seen.
        pub(crate) fn first<const N: i32>(self) -> i32 {
            (self.place - self.left).min(self.keys - 1).max(0) / N
        }

        /// The tile after the last one with a key that is seen. There is always a tile, if only one in which nothing is seen.
        pub(crate) fn end<const N: i32>(self) -> i32 {
            let end = (self.place + self.rows + self.right).min(self.keys).max(0);
            ((end + (N - 1)) / N).max(self.first::<N>() + 1)
        }

        /// The first tile of `N` keys of a block, of `sharers` that share the tiles.
        pub(crate) fn share<const N: i32>(self, block: i32, sharers: i32) -> i32 {
            let (first, end) = (self.first::<N>(), self.end::<N>());
            first + ((end - first) as i64 * block as i64 / sharers as i64) as i32
        }

        /// Whether every query sees all of the `N` keys from `at` on.
        pub(crate) fn all<const N: i32>(self, at: i32) -> bool {
            let last = at + (N - 1);
            last < self.keys
                && last <= self.place + self.right
                && at >= self.place + (self.rows - 1) - self.left
        }

        /// The products of queries at `places` with the `N` keys from `at` on: of keys that are not seen, negative infinity.
        pub(crate) fn mask<const N: i32>(
            self,
            s: Tile<f32>,
            places: Tile<i32>,
            at: i32,
        ) -> Tile<f32> {
            let keys = (at + arange(0, N)).expand(0);
            let places = places.expand(1);
            let seen =
                keys.lt(self.keys) & keys.le(places + self.right) & keys.ge(places - self.left);
            select(seen, s, f32::NEG_INFINITY)
        }
    }

    /// What is done to products besides scaling.
    #[derive(Clone, Copy)]
    pub(crate) struct Change {
        /// The scale inside of the cap; 0 without a cap.
        pub(crate) inner: f32,
        /// Whether there are slopes.
        pub(crate) sloped: bool,
        /// How much less a key at a distance of one counts, as a product: for each query.
        pub(crate) slope: Tile<f32>,
    }

    impl Change {
        /// `tanh` of a soft cap, and the slope by distance from `places`.
        pub(crate) fn apply<const N: i32>(
            self,
            s: Tile<f32>,
            places: Tile<i32>,
            at: i32,
        ) -> Tile<f32> {
            let mut s = s;
            if self.inner > 0.0 {
                s = (s * self.inner).tanh();
            }
            if self.sloped {
                let keys = (at + arange(0, N)).expand(0);
                let distance = (keys - places.expand(1)).abs().cast::<f32>();
                s -= distance * self.slope.expand(1);
            }
            s
        }
    }
}
