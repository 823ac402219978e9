//! Element types, and operands that stand for a tile of them.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "keeping the low bits, or the nearest value in range, is what a cast means"
)]

use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};

use half::{bf16, f16};
use kernel_runtime::{e2m1x2, e2m3x16, e3m2x16, e4m3, e5m2, ue8m0};

use super::integer::{Bits, Int};
use super::sealed::Sealed;
use super::tile::Tile;

mod float;

pub use float::Float;

/// A type that tiles, tensors and shared memory can hold: a number, `bool`, an FP8 number ([`e4m3`], [`e5m2`]), a pair of
/// FP4 numbers ([`e2m1x2`]), a scale of blocks ([`ue8m0`]), or a [`Ptr`](super::Ptr). Sixteen FP6 numbers ([`e2m3x16`], [`e3m2x16`]) are held by
/// tensors and shared memory alone.
///
/// As the bound of a type parameter it is enough for moving values. Arithmetic needs [`Number`], [`Float`] or [`Int`],
/// bit operations need [`Bits`], conversion needs [`Cast`] (which `Number` includes).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn bytes_of_tile<T: Scalar, const N: i32>() -> i32 {
///     N * T::BYTES
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    label = "not a type that a tile can hold",
    note = "element types are `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`, `e4m3`, `e5m2`, `e2m1x2`, `ue8m0`, `e2m3x16`, `e3m2x16` and `Ptr<T>`"
)]
pub trait Scalar: Copy + 'static + Operand<Self> + Sealed {
    /// Bits of the type's representation in memory; 8 for `bool`, 64 for a pointer.
    const BITS: i32;
    /// Bytes of one element in memory.
    const BYTES: i32;
}

/// A type with arithmetic: every integer type, and every floating-point type of more than one byte.
///
/// `+`, `-`, `*` and `/` work between two scalars of the type, two tiles of it, and a scalar and a
/// tile in either order; the assigning forms too. See [`Tile`] for what they compute.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn lerp<T: Number>(a: Tile<T>, b: Tile<T>, t: T) -> Tile<T> {
///     a + t * (b - a)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no arithmetic",
    label = "not a number type",
    note = "number types are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32` and `f64`",
    note = "`e4m3` and `e5m2` are stored, converted and multiplied by `wgmma::mma` and `dot`: `.cast::<f32>()` makes numbers of them",
    note = "`e2m1x2`, `ue8m0`, `e2m3x16` and `e3m2x16` are stored, and multiplied by `tcgen05::mma` and `tcgen05::mma_scaled`; nothing converts them"
)]
pub trait Number:
    Scalar
    + Cast
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Add<Tile<Self>, Output = Tile<Self>>
    + Sub<Tile<Self>, Output = Tile<Self>>
    + Mul<Tile<Self>, Output = Tile<Self>>
    + Div<Tile<Self>, Output = Tile<Self>>
{
    /// 0.
    const ZERO: Self;
    /// The least value; of a float the least *finite* one.
    const MIN: Self;
    /// The greatest value; of a float the greatest *finite* one.
    const MAX: Self;
}

/// A type that converts to the others: every number type, `bool`, [`e4m3`] and [`e5m2`].
///
/// `as` does the same between Rust's own types; it does not reach [`f16`](struct@f16), [`bf16`] and FP8 numbers,
/// nor type parameters.
///
/// # Meaning
///
/// | from | to | result |
/// |---|---|---|
/// | float | float | nearest, ties to even; beyond the range infinite; NaN stays NaN |
/// | any number | `e4m3`, `e5m2` | nearest, ties to even; beyond the range, infinities too, the greatest or least finite value |
/// | float | integer | rounded towards zero, then the nearest value in range; NaN gives 0 |
/// | integer | float | nearest, ties to even |
/// | integer | integer | the low bits; widening repeats the sign of a signed source |
/// | `bool` | number | 0 or 1 |
/// | number | `bool` | whether it differs from 0; true for NaN |
///
/// ```
/// use kiln::prelude::*;
///
/// assert_eq!(300.cast::<u8>(), 44);
/// assert_eq!((-2.9f32).cast::<i32>(), -2);
/// assert_eq!(1e9f32.cast::<i16>(), i16::MAX);
/// assert_eq!(70000.cast::<f16>(), f16::INFINITY);
/// assert_eq!(500.0f32.cast::<e4m3>(), e4m3::MAX);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be cast",
    label = "neither a number type nor `bool`, `e4m3`, `e5m2`"
)]
pub trait Cast: Scalar {
    /// The value in another type; the table above says which.
    ///
    /// PTX and errors: those of [`Tile::cast`](Tile::cast), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(f16::of(2.5).cast::<i32>(), 2);
    /// ```
    fn cast<U: Cast>(self) -> U {
        U::narrow(self.widen())
    }

    /// The bits read as another number type of the same width; see [`Tile::bitcast`].
    ///
    /// Types of different width do not compile. `bool` has no bits in a kernel (K0204).
    ///
    /// PTX and errors: those of [`Tile::bitcast`](Tile::bitcast), for one element.
    ///
    /// ```
    /// use kiln::prelude::*;
    ///
    /// assert_eq!(1.0f32.bitcast::<u32>(), 0x3f80_0000);
    /// assert_eq!(0x3c00u16.bitcast::<f16>(), f16::of(1.0));
    /// ```
    fn bitcast<U: Cast>(self) -> U {
        const { assert!(Self::BITS == U::BITS, "both types have the same number of bits") }
        U::of_word(self.to_word())
    }

    /// The bits, in the low end of a word.
    #[doc(hidden)]
    fn to_word(self) -> u64;

    /// The value of the bits in the low end of a word.
    #[doc(hidden)]
    fn of_word(word: u64) -> Self;

    /// The value, exactly, in a type that holds all values of its kind.
    #[doc(hidden)]
    fn widen(self) -> Wide;

    /// The conversion of a value that came from [`widen`](Cast::widen).
    #[doc(hidden)]
    fn narrow(value: Wide) -> Self;
}

/// A value between two scalar types.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Wide {
    /// An integer, or a `bool` as 0 or 1.
    Int(i128),
    /// A float.
    Float(f64),
}

/// An operand where a tile of `T` is required: the tile, or one scalar for all its elements.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn relu(x: Tile<f32>) -> Tile<f32> {
///     select(x.gt(0.0), x, 0.0)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for a tile of `{T}`",
    label = "neither `Tile<{T}>` nor `{T}`",
    note = "element types never convert by themselves: write `.cast::<{T}>()`",
    note = "`f16`, `bf16` and type parameters have no literals: write `T::of(2.0)`"
)]
pub trait Operand<T>: Copy {}

impl<T> Operand<T> for Tile<T> {}

macro_rules! scalars {
    ($($ty:ty: $bits:literal),* $(,)?) => {$(
        impl Sealed for $ty {}
        impl Scalar for $ty {
            const BITS: i32 = $bits;
            const BYTES: i32 = $bits / 8;
        }
        impl Operand<$ty> for $ty {}
    )*};
}

scalars!(
    bool: 8, i8: 8, u8: 8, i16: 16, u16: 16, i32: 32, u32: 32, i64: 64, u64: 64,
    f16: 16, bf16: 16, f32: 32, f64: 64, e4m3: 8, e5m2: 8, e2m1x2: 8, ue8m0: 8,
    e2m3x16: 96, e3m2x16: 96,
);

macro_rules! integers {
    ($($ty:ty => $wide:ty),*) => {$(
        impl Number for $ty {
            const ZERO: $ty = 0;
            const MIN: $ty = <$ty>::MIN;
            const MAX: $ty = <$ty>::MAX;
        }
        impl Bits for $ty {}
        impl Int for $ty {
            integers!(@counts $ty; count_ones leading_zeros trailing_zeros);
            fn reverse_bits(self) -> $ty {
                <$ty>::reverse_bits(self)
            }
            fn rotate_left(self, n: u32) -> $ty {
                <$ty>::rotate_left(self, n)
            }
            fn rotate_right(self, n: u32) -> $ty {
                <$ty>::rotate_right(self, n)
            }
            fn mul_hi(self, other: $ty) -> $ty {
                ((<$wide>::from(self) * <$wide>::from(other)) >> <$ty>::BITS) as $ty
            }
        }
        impl Cast for $ty {
            fn to_word(self) -> u64 {
                <$wide>::from(self) as u64
            }
            fn of_word(word: u64) -> $ty {
                word as $ty
            }
            fn widen(self) -> Wide {
                Wide::Int(i128::from(self))
            }
            fn narrow(value: Wide) -> $ty {
                match value {
                    Wide::Int(value) => value as $ty,
                    Wide::Float(value) => value as $ty,
                }
            }
        }
    )*};
    (@counts $ty:ty; $($name:ident)*) => {$(
        fn $name(self) -> u32 {
            <$ty>::$name(self)
        }
    )*};
}

integers!(
    i8 => i128, i16 => i128, i32 => i128, i64 => i128, u8 => u128, u16 => u128, u32 => u128, u64 => u128
);

impl Bits for bool {}

impl Cast for bool {
    fn to_word(self) -> u64 {
        u64::from(self)
    }

    fn of_word(word: u64) -> bool {
        word != 0
    }

    fn widen(self) -> Wide {
        Wide::Int(i128::from(self))
    }

    fn narrow(value: Wide) -> bool {
        match value {
            Wide::Int(value) => value != 0,
            Wide::Float(value) => value != 0.0,
        }
    }
}

macro_rules! float8 {
    ($($ty:ty),*) => {$(
        impl Cast for $ty {
            fn to_word(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn of_word(word: u64) -> $ty {
                <$ty>::from_bits(word as u8)
            }
            fn widen(self) -> Wide {
                Wide::Float(self.to_f64())
            }
            fn narrow(value: Wide) -> $ty {
                match value {
                    // Integers that `f64` rounds are above the greatest value.
                    Wide::Int(value) => <$ty>::from_f64(value as f64),
                    Wide::Float(value) => <$ty>::from_f64(value),
                }
            }
        }
    )*};
}

float8!(e4m3, e5m2);

/// `$from_int` and `$from_float` convert from the wide types; the functions are computed in
/// `$through`.
macro_rules! floats {
    ($($ty:ident in $through:ident: $zero:expr, $from_int:expr, $from_float:expr;)*) => {$(
        impl Number for $ty {
            const ZERO: $ty = $zero;
            const MIN: $ty = $ty::MIN;
            const MAX: $ty = $ty::MAX;
        }
        impl Cast for $ty {
            fn to_word(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn of_word(word: u64) -> $ty {
                $ty::from_bits(word as _)
            }
            fn widen(self) -> Wide {
                Wide::Float(f64::from(self))
            }
            fn narrow(value: Wide) -> $ty {
                match value {
                    Wide::Int(value) => $from_int(value),
                    Wide::Float(value) => $from_float(value),
                }
            }
        }
        impl Float for $ty {
            const INFINITY: $ty = $ty::INFINITY;
            const NEG_INFINITY: $ty = $ty::NEG_INFINITY;
            const NAN: $ty = $ty::NAN;
            const EPSILON: $ty = $ty::EPSILON;
            fn of(value: f32) -> $ty {
                $from_float(f64::from(value))
            }
            fn max(self, other: $ty) -> $ty {
                $ty::max(self, other)
            }
            fn min(self, other: $ty) -> $ty {
                $ty::min(self, other)
            }
            floats!(@functions $ty in $through, $from_float;
                abs => abs, sqrt => sqrt, cbrt => cbrt, exp => exp, exp_m1 => exp_m1, exp2 => exp2, ln => ln, ln_1p => ln_1p,
                log2 => log2, log10 => log10, sin => sin, cos => cos, tanh => tanh,
                exp_approx => exp, exp2_approx => exp2, ln_approx => ln, log2_approx => log2,
                sin_approx => sin, cos_approx => cos, tanh_approx => tanh
            );
            fn powf(self, y: $ty) -> $ty {
                $from_float(f64::from($through::from(self).powf($through::from(y))))
            }
            fn erf(self) -> $ty {
                $from_float(libm::erf(f64::from(self)))
            }
            fn erfc(self) -> $ty {
                $from_float(libm::erfc(f64::from(self)))
            }
        }
    )*};
    (@functions $ty:ident in $through:ident, $from_float:expr; $($name:ident => $of:ident),*) => {$(
        fn $name(self) -> $ty {
            $from_float(f64::from($through::from(self).$of()))
        }
    )*};
}

fn f64_from_int(value: i128) -> f64 {
    value as f64
}

fn f32_from_int(value: i128) -> f32 {
    value as f32
}

fn f32_from_float(value: f64) -> f32 {
    value as f32
}

/// The value or, if `f32` cannot hold it, the neighbour whose last bit is set. Rounding that again to a type of at most
/// 22 bits gives the same as rounding the value once.
///
/// `nearest` is the value rounded to nearest, and `above` says whether its magnitude is greater than the value's.
fn odd(nearest: f32, exact: bool, above: bool) -> f32 {
    if exact {
        return nearest;
    }
    // One less is the next magnitude below: the largest finite value, from infinity.
    f32::from_bits((nearest.to_bits() - u32::from(above)) | 1)
}

fn odd_from_int(value: i128) -> f32 {
    let nearest = value as f32;
    // Integers here have at most 64 bits, so that the way back is exact.
    let back = nearest as i128;
    odd(nearest, back == value, back.unsigned_abs() > value.unsigned_abs())
}

fn odd_from_float(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    odd(nearest, value.is_nan() || back.to_bits() == value.to_bits(), back.abs() > value.abs())
}

floats! {
    f16 in f32: f16::ZERO, |value| f16::from_f32(odd_from_int(value)), |value| f16::from_f32(odd_from_float(value));
    bf16 in f32: bf16::ZERO, |value| bf16::from_f32(odd_from_int(value)), |value| bf16::from_f32(odd_from_float(value));
    f32 in f32: 0.0, f32_from_int, f32_from_float;
    f64 in f64: 0.0, f64_from_int, f64::from;
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;

    #[test]
    fn casts_between_integers_keep_the_low_bits() {
        assert_eq!((-1i8).cast::<u32>(), u32::MAX);
        assert_eq!(0x1_2345_6789_i64.cast::<i32>(), 0x2345_6789);
        assert_eq!(200u8.cast::<i8>(), -56);
        assert_eq!(u64::MAX.cast::<i64>(), -1);
    }

    #[test]
    fn casts_from_floats_truncate_and_saturate() {
        assert_eq!(2.9f32.cast::<i32>(), 2);
        assert_eq!((-2.9f64).cast::<i64>(), -2);
        assert_eq!((-1.0f32).cast::<u8>(), 0);
        assert_eq!(f32::INFINITY.cast::<u16>(), u16::MAX);
        assert_eq!(f32::NAN.cast::<i32>(), 0);
        assert_eq!(bf16::from_f32(3.5).cast::<u64>(), 3);
    }

    #[test]
    fn casts_to_floats_round_to_nearest_even() {
        assert_eq!(2049.cast::<f16>(), f16::from_f32(2048.0));
        assert_eq!(2051.cast::<f16>(), f16::from_f32(2052.0));
        assert_eq!(257.cast::<bf16>(), bf16::from_f32(256.0));
        assert_eq!(16_777_217.cast::<f32>(), 16_777_216.0);
        assert_eq!(0.1f64.cast::<f32>(), 0.1f32);
        assert_eq!(70000.0f32.cast::<f16>(), f16::INFINITY);
        assert!(f64::NAN.cast::<bf16>().is_nan());
    }

    /// Each value is just above the middle of two neighbours, by less than the type between keeps.
    #[test]
    fn casts_to_half_types_round_once() {
        let two = |exponent: i32| 2f64.powi(exponent);
        let above = (1i64 << 60) + (1 << 52) + 1;
        assert_eq!(above.cast::<bf16>().to_f64(), two(60) + two(53));
        assert_eq!((-above).cast::<bf16>().to_f64(), -two(60) - two(53));
        assert_eq!((above - 1).cast::<bf16>().to_f64(), two(60));
        assert_eq!(u64::MAX.cast::<bf16>().to_f64(), two(64));
        assert_eq!((1.0 + two(-8) + two(-50)).cast::<bf16>().to_f64(), 1.0 + two(-7));
        assert_eq!((1.0 + two(-8)).cast::<bf16>().to_f64(), 1.0);
        assert_eq!((1.0 + two(-11) + two(-50)).cast::<f16>().to_f64(), 1.0 + two(-10));
        assert_eq!((-1.0 - two(-11) - two(-50)).cast::<f16>().to_f64(), -1.0 - two(-10));
        // Subnormals: 1.5 units of the least.
        assert_eq!((two(-24) + two(-25) + two(-70)).cast::<f16>().to_f64(), two(-23));
        assert_eq!((two(-133) + two(-134) - two(-180)).cast::<bf16>().to_f64(), two(-133));
        assert_eq!(two(-200).cast::<bf16>(), bf16::ZERO);
        assert_eq!(1e300.cast::<bf16>(), bf16::INFINITY);
        assert_eq!(f64::NEG_INFINITY.cast::<f16>(), f16::NEG_INFINITY);
    }

    #[test]
    fn casts_to_float8_saturate() {
        assert_eq!(449.cast::<e4m3>().to_f32(), 448.0);
        assert_eq!(i64::MIN.cast::<e5m2>(), e5m2::MIN);
        assert_eq!(f16::INFINITY.cast::<e4m3>(), e4m3::MAX);
        assert_eq!(e5m2::MAX.cast::<e4m3>(), e4m3::MAX);
        assert_eq!(e4m3::from_f32(-3.5).cast::<i32>(), -3);
        assert_eq!(true.cast::<e5m2>(), e5m2::ONE);
        assert!(e4m3::NAN.cast::<f16>().is_nan());
    }

    #[test]
    fn casts_of_bool() {
        assert_eq!(true.cast::<f16>(), f16::ONE);
        assert!(!0.0f32.cast::<bool>());
        assert!(f32::NAN.cast::<bool>());
        assert!((-3).cast::<bool>());
    }

    #[test]
    fn literals_of_generic_types() {
        assert_eq!(f16::of(0.1).to_bits(), 0x2e66);
        assert_eq!(bf16::of(1e39_f64 as f32), bf16::INFINITY);
        assert_eq!(f64::of(0.5), 0.5);
    }

    #[test]
    fn a_nan_loses_against_a_number() {
        fn check<T: Float + core::fmt::Debug>() {
            let (nan, one) = (T::of(f32::NAN), T::of(1.0));
            assert_eq!(Float::max(nan, one), one);
            assert_eq!(Float::max(one, nan), one);
            assert_eq!(Float::min(nan, one), one);
            assert_eq!(Float::min(one, nan), one);
            assert!(Float::min(nan, nan).partial_cmp(&one).is_none());
        }
        check::<f16>();
        check::<bf16>();
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn functions_of_the_half_types() {
        assert_eq!(Float::sqrt(f16::of(2.0)), f16::of(core::f32::consts::SQRT_2));
        assert_eq!(Float::exp2(bf16::of(3.0)), bf16::of(8.0));
        assert_eq!(Float::abs(bf16::of(-1.5)), bf16::of(1.5));
        assert_eq!(Float::exp(f16::of(12.0)), f16::INFINITY);
    }
}
