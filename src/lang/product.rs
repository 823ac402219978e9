//! Matrix products.

use super::scalar::{Number, Scalar};
use super::sealed::Sealed;
use super::shared::Shared;
use super::stub;
use super::tile::Tile;

/// An operand of a matrix product: a tile in registers, or shared memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of `{T}`",
    label = "must be `Tile<{T}>` or `Shared<{T}>`",
    note = "both factors of a product have the same element type"
)]
pub trait Matrix<T>: Copy + Sealed {}

impl<T: Scalar> Matrix<T> for Tile<T> {}
impl<T: Scalar> Matrix<T> for Shared<T> {}

/// The matrix product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`.
///
/// | `a`, `b` | `acc` and result | computed by |
/// |---|---|---|
/// | `f16` | `f32`, `f16` | tensor cores |
/// | `bf16` | `f32` | tensor cores |
/// | `i8`, `u8` | `i32` | tensor cores; sums wrap |
/// | `f32` | `f32` | fused multiply-add; for tensor cores see [`dot_tf32`] |
/// | `f64` | `f64` | fused multiply-add |
///
/// Sums are kept in the accumulator's type. On tensor cores products are exact and the order of the
/// additions is the hardware's. The block's warps share the product's rows and columns, in pieces
/// of at least 16 by 8. A product shallower than the smallest instruction is computed by multiply-add:
/// that of 8 for `f16` and `bf16`, 16 for `i8` and `u8`, 4 for `tf32`.
///
/// A factor in shared memory is read as if by `load()`; the block has to see it, see [`Shared`]. A
/// factor may be transposed with `.t()`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn scores(q: Tile<f16>, k: Shared<f16>) -> Tile<f32> {
///     dot(q, k.t(), zeros::<f32>([64, 64])) * 0.125
/// }
/// ```
#[must_use]
pub fn dot<T: Scalar, A: Number>(a: impl Matrix<T>, b: impl Matrix<T>, acc: Tile<A>) -> Tile<A> {
    stub()
}

/// The matrix product `a · b + acc` of `f32` matrices on tensor cores, whose factors are rounded to
/// `tf32` first.
///
/// `tf32` has the exponent of `f32` and 10 bits of fraction, so a product is good to about three
/// decimal digits; sums are kept in `f32`. Rounding is to nearest, ties away from zero. [`dot`]
/// never does this by itself. Shapes are as there.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fast(a: Tile<f32>, b: Tile<f32>, acc: Tile<f32>) -> Tile<f32> {
///     dot_tf32(a, b, acc)
/// }
/// ```
#[must_use]
pub fn dot_tf32(a: impl Matrix<f32>, b: impl Matrix<f32>, acc: Tile<f32>) -> Tile<f32> {
    stub()
}
