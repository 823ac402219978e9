//! Elementwise operations that are functions of several operands.

use super::scalar::{Float, Number, Operand, Scalar};
use super::stub;
use super::tile::Tile;

/// `a` where `mask` holds, `b` elsewhere.
///
/// Each of `a` and `b` is a tile or a scalar. The three operands are broadcast to one shape, the shape of the result.
/// Both values are computed everywhere and the mask only chooses; use [`load_masked`](super::load_masked) for a read
/// that must not happen.
///
/// `selp`. Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn mask_out(scores: Tile<f32>, keep: Tile<bool>) -> Tile<f32> {
///     select(keep, scores, f32::NEG_INFINITY)
/// }
/// ```
#[must_use]
pub fn select<T: Scalar, A: Operand<T>, B: Operand<T>>(mask: Tile<bool>, a: A, b: B) -> Tile<T> {
    stub()
}

/// The larger of two elements, for each pair; `b` is a tile or a scalar.
///
/// If one is NaN, the result is the other; two NaNs give NaN. The maximum along an axis is [`Tile::max`].
///
/// `max`. Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn relu(x: Tile<f32>) -> Tile<f32> {
///     maximum(x, 0.0)
/// }
/// ```
#[must_use]
pub fn maximum<T: Number>(a: Tile<T>, b: impl Operand<T>) -> Tile<T> {
    stub()
}

/// The smaller of two elements, for each pair; `b` is a tile or a scalar.
///
/// If one is NaN, the result is the other; two NaNs give NaN. The minimum along an axis is [`Tile::min`].
///
/// `min`. Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Indices that stay inside an array of `n` elements.
/// fn clamped(at: Tile<i32>, n: i32) -> Tile<i32> {
///     minimum(at, n - 1)
/// }
/// ```
#[must_use]
pub fn minimum<T: Number>(a: Tile<T>, b: impl Operand<T>) -> Tile<T> {
    stub()
}

/// `a · b + c` for each triple of elements, rounded once; `b` and `c` are tiles or scalars.
///
/// `fma.rn`. Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations). Integers are refused (K0204).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 1 + x · (1 + x / 2)
/// fn near_exp(x: Tile<f32>) -> Tile<f32> {
///     fma(x, fma(x, 0.5, 1.0), 1.0)
/// }
/// ```
#[must_use]
pub fn fma<T: Float>(a: Tile<T>, b: impl Operand<T>, c: impl Operand<T>) -> Tile<T> {
    stub()
}
