//! The softmax of the scores of a row, of which some are known at a time.

use kiln::prelude::*;

#[device]
pub(crate) mod items {
    use super::super::seen::items::LEAST;
    use kiln::lang::{Tile, fma, full, maximum, select, zeros};

    /// What is known of each row so far: its largest score, and the sum of the weights of its scores.
    #[derive(Clone, Copy)]
    pub(crate) struct Totals {
        pub(crate) top: Tile<f32>,
        pub(crate) total: Tile<f32>,
    }

    impl Totals {
        /// Those of `M` rows without scores.
        pub(crate) fn none<const M: i32>() -> Totals {
            Totals { top: full([M], LEAST), total: zeros([M]) }
        }

        /// The weights of more scores, and the factor by which sums shrink that have been weighed before.
        pub(crate) fn weigh(&mut self, s: Tile<f32>, scale: f32) -> (Tile<f32>, Tile<f32>) {
            let new_top = maximum(self.top, s.max(1));
            let weights = fma(s, scale, (new_top * -scale).expand(1)).exp2_approx();
            let shrink = ((self.top - new_top) * scale).exp2_approx();
            self.total = self.total * shrink + weights.sum(1);
            self.top = new_top;
            (weights, shrink)
        }

        /// Makes `top` the largest scores: the factor by which sums shrink that have been weighed before.
        pub(crate) fn raise(&mut self, top: Tile<f32>, scale: f32) -> Tile<f32> {
            let shrink = ((self.top - top) * scale).exp2_approx();
            self.total *= shrink;
            self.top = top;
            shrink
        }

        /// The weights of more scores, beside the largest ones as they are.
        pub(crate) fn add(&mut self, s: Tile<f32>, scale: f32) -> Tile<f32> {
            let weights = fma(s, scale, (self.top * -scale).expand(1)).exp2_approx();
            self.total += weights.sum(1);
            weights
        }

        /// By what the sums of a row are multiplied at last. A query that sees no key has a total of 0, and sums of 0.
        pub(crate) fn share(self) -> Tile<f32> {
            select(self.total.eq(0.0), 1.0, 1.0 / self.total)
        }

        /// The logarithm to the base 2 of the sum of the exponentials of a row's scores.
        pub(crate) fn log2(self, scale: f32) -> Tile<f32> {
            self.total.log2() + self.top * scale
        }
    }
}
