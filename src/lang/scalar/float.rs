//! What floating-point types have.

use core::ops::Neg;

#[expect(unused_imports, reason = "the documentation names them")]
use half::{bf16, f16};

use super::Number;
#[expect(unused_imports, reason = "the documentation names it")]
use crate::lang::tile::Tile;

/// A floating-point type: [`f16`](struct@f16), [`bf16`], `f32`, `f64`.
///
/// The methods are the scalar counterparts of [`Tile`]'s; inside a closure of [`Tile::map`] they
/// apply to each element. `f32` and `f64` have all of them from Rust; the trait gives them to the
/// other types and to type parameters.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Clamps values to -1 ..= 1.
/// fn clamp<T: Float>(x: Tile<T>) -> Tile<T> {
///     x.map(|v| v.max(T::of(-1.0)).min(T::of(1.0)))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point type",
    label = "must be `f16`, `bf16`, `f32` or `f64`"
)]
pub trait Float: Number + Neg<Output = Self> {
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity, the start of a running maximum.
    const NEG_INFINITY: Self;
    /// A quiet NaN.
    const NAN: Self;
    /// The distance from 1 to the next larger value.
    const EPSILON: Self;

    /// The value nearest to `value`, ties to even: how a literal of a generic type is written.
    ///
    /// Beyond the type's range the result is infinite.
    ///
    /// # PTX
    /// None for a constant, which is rounded at compile time; `cvt` for a value that is known only at run time.
    ///
    /// # Errors
    /// None of its own.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// let half = f16::of(0.5);
    /// assert_eq!(half + half, f16::of(1.0));
    /// assert_eq!(f16::of(1e6), f16::INFINITY);
    /// ```
    fn of(value: f32) -> Self;

    /// The larger of two values. If one is NaN, the result is the other; two NaNs give NaN.
    ///
    /// PTX and errors: those of [`maximum`](crate::lang::maximum), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::max(f16::of(1.0), f16::NAN), f16::of(1.0));
    /// ```
    #[must_use]
    fn max(self, other: Self) -> Self;

    /// The smaller of two values. If one is NaN, the result is the other; two NaNs give NaN.
    ///
    /// PTX and errors: those of [`minimum`](crate::lang::minimum), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::min(bf16::of(1.0), bf16::of(-2.0)), bf16::of(-2.0));
    /// ```
    #[must_use]
    fn min(self, other: Self) -> Self;

    /// The absolute value: the sign bit is cleared.
    ///
    /// PTX and errors: those of [`Tile::abs`](Tile::abs), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::abs(f16::of(-1.5)), f16::of(1.5));
    /// ```
    #[must_use]
    fn abs(self) -> Self;

    /// The square root; see [`Tile::sqrt`].
    ///
    /// PTX and errors: those of [`Tile::sqrt`](Tile::sqrt), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::sqrt(f16::of(9.0)), f16::of(3.0));
    /// ```
    #[must_use]
    fn sqrt(self) -> Self;

    /// e to the power of the value; see [`Tile::exp`].
    ///
    /// PTX and errors: those of [`Tile::exp`](Tile::exp), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::exp(bf16::of(0.0)), bf16::of(1.0));
    /// ```
    #[must_use]
    fn exp(self) -> Self;

    /// e to the power of the value, less 1; see [`Tile::exp_m1`].
    ///
    /// PTX and errors: those of [`Tile::exp_m1`](Tile::exp_m1), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::exp_m1(1e-20f32), 1e-20);
    /// ```
    #[must_use]
    fn exp_m1(self) -> Self;

    /// 2 to the power of the value; see [`Tile::exp2`].
    ///
    /// PTX and errors: those of [`Tile::exp2`](Tile::exp2), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::exp2(f16::of(-3.0)), f16::of(0.125));
    /// ```
    #[must_use]
    fn exp2(self) -> Self;

    /// e to the power of the value, as fast as the hardware allows; see [`Tile::exp_approx`].
    ///
    /// PTX and errors: those of [`Tile::exp_approx`](Tile::exp_approx), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::exp_approx(f16::of(0.0)), f16::of(1.0));
    /// ```
    #[must_use]
    fn exp_approx(self) -> Self;

    /// 2 to the power of the value, in one instruction; see [`Tile::exp2_approx`].
    ///
    /// PTX and errors: those of [`Tile::exp2_approx`](Tile::exp2_approx), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::exp2_approx(f16::of(-3.0)), f16::of(0.125));
    /// ```
    #[must_use]
    fn exp2_approx(self) -> Self;

    /// The natural logarithm; see [`Tile::ln`].
    ///
    /// PTX and errors: those of [`Tile::ln`](Tile::ln), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::ln(f16::of(1.0)), f16::of(0.0));
    /// ```
    #[must_use]
    fn ln(self) -> Self;

    /// The natural logarithm of 1 and the value; see [`Tile::ln_1p`].
    ///
    /// PTX and errors: those of [`Tile::ln_1p`](Tile::ln_1p), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::ln_1p(1e-20f32), 1e-20);
    /// ```
    #[must_use]
    fn ln_1p(self) -> Self;

    /// The natural logarithm, as fast as the hardware allows; see [`Tile::ln_approx`].
    ///
    /// PTX and errors: those of [`Tile::ln_approx`](Tile::ln_approx), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::ln_approx(f16::of(1.0)), f16::of(0.0));
    /// ```
    #[must_use]
    fn ln_approx(self) -> Self;

    /// The logarithm to base 2; see [`Tile::log2`].
    ///
    /// PTX and errors: those of [`Tile::log2`](Tile::log2), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::log2(f16::of(8.0)), f16::of(3.0));
    /// ```
    #[must_use]
    fn log2(self) -> Self;

    /// The logarithm to base 2, in one instruction; see [`Tile::log2_approx`].
    ///
    /// PTX and errors: those of [`Tile::log2_approx`](Tile::log2_approx), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::log2_approx(f16::of(8.0)), f16::of(3.0));
    /// ```
    #[must_use]
    fn log2_approx(self) -> Self;

    /// The logarithm to base 10; see [`Tile::log10`].
    ///
    /// PTX and errors: those of [`Tile::log10`](Tile::log10), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::log10(f16::of(100.0)), f16::of(2.0));
    /// ```
    #[must_use]
    fn log10(self) -> Self;

    /// The cube root; see [`Tile::cbrt`].
    ///
    /// PTX and errors: those of [`Tile::cbrt`](Tile::cbrt), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::cbrt(f16::of(-27.0)), f16::of(-3.0));
    /// ```
    #[must_use]
    fn cbrt(self) -> Self;

    /// The value to the power of `y`; see [`Tile::powf`].
    ///
    /// PTX and errors: those of [`Tile::powf`](Tile::powf), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::powf(f16::of(4.0), f16::of(1.5)), f16::of(8.0));
    /// ```
    #[must_use]
    fn powf(self, y: Self) -> Self;

    /// The sine of an angle in radians; see [`Tile::sin`].
    ///
    /// PTX and errors: those of [`Tile::sin`](Tile::sin), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::sin(f16::of(0.0)), f16::of(0.0));
    /// ```
    #[must_use]
    fn sin(self) -> Self;

    /// The cosine of an angle in radians; see [`Tile::cos`].
    ///
    /// PTX and errors: those of [`Tile::cos`](Tile::cos), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::cos(bf16::of(0.0)), bf16::of(1.0));
    /// ```
    #[must_use]
    fn cos(self) -> Self;

    /// The sine of an angle in radians, in one instruction; see [`Tile::sin_approx`].
    ///
    /// PTX and errors: those of [`Tile::sin_approx`](Tile::sin_approx), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::sin_approx(f16::of(0.0)), f16::of(0.0));
    /// ```
    #[must_use]
    fn sin_approx(self) -> Self;

    /// The cosine of an angle in radians, in one instruction; see [`Tile::cos_approx`].
    ///
    /// PTX and errors: those of [`Tile::cos_approx`](Tile::cos_approx), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::cos_approx(bf16::of(0.0)), bf16::of(1.0));
    /// ```
    #[must_use]
    fn cos_approx(self) -> Self;

    /// The hyperbolic tangent; see [`Tile::tanh`].
    ///
    /// PTX and errors: those of [`Tile::tanh`](Tile::tanh), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::tanh(f16::of(20.0)), f16::of(1.0));
    /// ```
    #[must_use]
    fn tanh(self) -> Self;

    /// The hyperbolic tangent, in one instruction; see [`Tile::tanh_approx`].
    ///
    /// PTX and errors: those of [`Tile::tanh_approx`](Tile::tanh_approx), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::tanh_approx(f16::of(20.0)), f16::of(1.0));
    /// ```
    #[must_use]
    fn tanh_approx(self) -> Self;

    /// The error function; see [`Tile::erf`].
    ///
    /// PTX and errors: those of [`Tile::erf`](Tile::erf), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::erf(f16::of(4.0)), f16::of(1.0));
    /// ```
    #[must_use]
    fn erf(self) -> Self;

    /// 1 less the error function; see [`Tile::erfc`].
    ///
    /// PTX and errors: those of [`Tile::erfc`](Tile::erfc), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(Float::erfc(f16::of(0.0)), f16::of(1.0));
    /// ```
    #[must_use]
    fn erfc(self) -> Self;
}
