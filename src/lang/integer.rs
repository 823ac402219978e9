//! Integers, and what has bits.

use core::ops::{BitAnd, BitOr, BitXor, Not, Rem, Shl, Shr};

use super::scalar::{Number, Scalar};
use super::tile::Tile;

/// An integer type: `i8` to `i64`, `u8` to `u64`.
///
/// Adds `%`, `<<` and `>>` to the operators of [`Number`] and [`Bits`].
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn round_down<T: Int>(x: Tile<T>, to: T) -> Tile<T> {
///     x - x % to
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer type",
    label = "must be one of `i8` to `i64`, `u8` to `u64`"
)]
pub trait Int:
    Number
    + Bits
    + Ord
    + Rem<Output = Self>
    + Shl<Output = Self>
    + Shr<Output = Self>
    + Rem<Tile<Self>, Output = Tile<Self>>
    + Shl<Tile<Self>, Output = Tile<Self>>
    + Shr<Tile<Self>, Output = Tile<Self>>
{
    /// How many bits are set; see [`Tile::count_ones`].
    ///
    /// PTX and errors: those of [`Tile::count_ones`](Tile::count_ones), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Int::count_ones(-1i8), 8);
    /// ```
    #[must_use]
    fn count_ones(self) -> u32;

    /// How many bits are above the highest that is set; see [`Tile::leading_zeros`].
    ///
    /// PTX and errors: those of [`Tile::leading_zeros`](Tile::leading_zeros), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Int::leading_zeros(1u16), 15);
    /// ```
    #[must_use]
    fn leading_zeros(self) -> u32;

    /// How many bits are below the lowest that is set; see [`Tile::trailing_zeros`].
    ///
    /// PTX and errors: those of [`Tile::trailing_zeros`](Tile::trailing_zeros), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Int::trailing_zeros(96), 5);
    /// ```
    #[must_use]
    fn trailing_zeros(self) -> u32;

    /// The bits in the opposite order; see [`Tile::reverse_bits`].
    ///
    /// PTX and errors: those of [`Tile::reverse_bits`](Tile::reverse_bits), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Int::reverse_bits(1u8), 128);
    /// ```
    #[must_use]
    fn reverse_bits(self) -> Self;

    /// The bits turned to the left by `n`, modulo the width; see [`Tile::rotate_left`].
    ///
    /// PTX and errors: those of [`Tile::rotate_left`](Tile::rotate_left), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Int::rotate_left(0x81u8, 1), 3);
    /// ```
    #[must_use]
    fn rotate_left(self, n: u32) -> Self;

    /// The bits turned to the right by `n`, modulo the width; see [`Tile::rotate_right`].
    ///
    /// PTX and errors: those of [`Tile::rotate_right`](Tile::rotate_right), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Int::rotate_right(0x81u8, 1), 0xc0);
    /// ```
    #[must_use]
    fn rotate_right(self, n: u32) -> Self;

    /// The high half of the product; see [`Tile::mul_hi`].
    ///
    /// PTX and errors: those of [`Tile::mul_hi`](Tile::mul_hi), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(0x8000_0000u32.mul_hi(6), 3);
    /// ```
    #[must_use]
    fn mul_hi(self, other: Self) -> Self;
}

/// A type with bit operations: the integers, and `bool`, whose tiles are masks.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn merge<T: Bits>(a: Tile<T>, b: Tile<T>, pick: Tile<T>) -> Tile<T> {
///     (a & pick) | (b & !pick)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bit operations",
    label = "must be an integer type or `bool`"
)]
pub trait Bits:
    Scalar
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + BitAnd<Tile<Self>, Output = Tile<Self>>
    + BitOr<Tile<Self>, Output = Tile<Self>>
    + BitXor<Tile<Self>, Output = Tile<Self>>
{
}
