//! A maximum and a sum of powers that grow with a row.

use kiln::prelude::*;

/// The maximum of each line of a tile and the sum of its powers below that maximum, together with those that were there: the sums are
/// scaled where their maximum grows.
///
/// Maxima begin at the least number, not at `-inf`: the difference of two `-inf` is NaN.
#[device]
pub(crate) fn grown(tops: Tile<f32>, sums: Tile<f32>, x: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
    let new = maximum(tops, x.max(1));
    let powers = (x - new.expand(1)).exp_approx().sum(1);
    (new, sums * (tops - new).exp_approx() + powers)
}
