//! FP8 numbers, as Hopper's tensor cores multiply them.
//!
//! The two formats of the OCP 8-bit Floating Point Specification. No hardware computes with them outside products, and
//! neither do these types: they convert, and hold what a kernel reads and writes.

use std::cmp::Ordering;
use std::fmt;

/// The bits of a format.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the fraction.
    fraction_bits: u8,
    /// The bias of the exponent.
    bias: u8,
    /// The code of the largest number.
    largest: u8,
}

const E4M3: Format = Format { fraction_bits: 3, bias: 7, largest: 0x7e };
const E5M2: Format = Format { fraction_bits: 2, bias: 15, largest: 0x7b };
/// The bit of the sign.
const SIGN: u8 = 0x80;
/// All ones except the sign: a NaN of both formats, and the one that conversions give.
const NAN: u8 = 0x7f;

impl Format {
    /// The magnitude of a code that is a number.
    fn magnitude(self, code: u8) -> f32 {
        let field = i32::from(code >> self.fraction_bits);
        let fraction = code & ((1 << self.fraction_bits) - 1);
        // A field of 0 has the scale of 1, without the bit in front of the fraction.
        let units = if field == 0 { fraction } else { fraction | 1 << self.fraction_bits };
        let scale = field.max(1) - i32::from(self.bias) - i32::from(self.fraction_bits);
        f32::from(units) * 2f32.powi(scale)
    }

    fn encode(self, value: f64) -> u8 {
        if value.is_nan() {
            return NAN;
        }
        // Codes are in the order of their magnitudes. The first that is not below the value is its neighbour above.
        let magnitude = value.abs();
        let number = |code: u8| f64::from(self.magnitude(code));
        let (mut low, mut high) = (0, self.largest);
        while low < high {
            let middle = low.midpoint(high);
            if number(middle) < magnitude {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let above = low;
        let below = above.saturating_sub(1);
        // Neighbours and the middle between them are exact.
        let middle = f64::midpoint(number(below), number(above));
        let code = match magnitude.total_cmp(&middle) {
            Ordering::Less => below,
            Ordering::Greater => above,
            Ordering::Equal => below + (below & 1),
        };
        if value.is_sign_negative() { code | SIGN } else { code }
    }
}

/// Makes a type of a format.
macro_rules! float8 {
    ($(#[$doc:meta])* $name:ident, $format:ident, $nan:expr, $infinite:expr) => {
        $(#[$doc])*
        #[expect(non_camel_case_types, reason = "named as Rust names its own types of numbers, and as in kernels")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// 0.
            pub const ZERO: Self = Self(0);
            /// 1.
            pub const ONE: Self = Self($format.bias << $format.fraction_bits);
            /// The least finite value.
            pub const MIN: Self = Self($format.largest | SIGN);
            /// The greatest finite value.
            pub const MAX: Self = Self($format.largest);
            /// The NaN that conversions of NaN give.
            pub const NAN: Self = Self(NAN);
            /// The distance from 1 to the next greater value.
            pub const EPSILON: Self = Self(($format.bias - $format.fraction_bits) << $format.fraction_bits);

            /// The value of these bits.
            #[must_use]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The bits.
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest value, ties to even. Values beyond the range, including infinities, become
            /// [`MAX`](Self::MAX) or [`MIN`](Self::MIN); NaN stays NaN. Kernels convert in the same way (PTX ISA,
            /// "cvt": `.satfinite`).
            #[must_use]
            pub fn from_f32(value: f32) -> Self {
                Self::from_f64(value.into())
            }

            /// Like [`from_f32`](Self::from_f32): rounded once.
            #[must_use]
            pub fn from_f64(value: f64) -> Self {
                Self($format.encode(value))
            }

            /// The value, exactly.
            #[must_use]
            pub fn to_f32(self) -> f32 {
                let code = self.0 & !SIGN;
                let magnitude = if $nan(code) {
                    return f32::NAN;
                } else if $infinite(code) {
                    f32::INFINITY
                } else {
                    $format.magnitude(code)
                };
                if self.0 & SIGN == 0 { magnitude } else { -magnitude }
            }

            /// The value, exactly.
            #[must_use]
            pub fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            /// Whether the value is a NaN.
            #[must_use]
            pub fn is_nan(self) -> bool {
                $nan(self.0 & !SIGN)
            }

            /// The bytes in memory.
            #[must_use]
            pub const fn to_le_bytes(self) -> [u8; 1] {
                [self.0]
            }

            /// The value of these bytes in memory.
            #[must_use]
            pub const fn from_le_bytes([bits]: [u8; 1]) -> Self {
                Self(bits)
            }
        }

        /// By value, as for other floats: zeros are equal, a NaN equals nothing.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.to_f64()
            }
        }
    };
}

float8! {
    /// An FP8 number: a sign, four bits of exponent, three of fraction. Up to ±448, without infinities; one NaN of each
    /// sign.
    ///
    /// ```
    /// use kernel_runtime::e4m3;
    ///
    /// assert_eq!(e4m3::from_f32(1.1).to_f32(), 1.125);
    /// assert_eq!(e4m3::from_f32(1000.0), e4m3::MAX);
    /// assert_eq!(e4m3::MAX.to_f32(), 448.0);
    /// assert_eq!(e4m3::from_bits(0x01).to_f32(), 2f32.powi(-9));
    /// ```
    e4m3, E4M3, |code| code == NAN, |_| false
}

float8! {
    /// An FP8 number: a sign, five bits of exponent, two of fraction: the upper half of an [`f16`](half::f16). Up to
    /// ±57344; infinities and NaNs exist, but no conversion makes the former.
    ///
    /// ```
    /// use kernel_runtime::e5m2;
    ///
    /// assert_eq!(e5m2::from_f32(1.2).to_f32(), 1.25);
    /// assert_eq!(e5m2::from_f32(f32::INFINITY), e5m2::MAX);
    /// assert_eq!(e5m2::MAX.to_f32(), 57344.0);
    /// assert_eq!(e5m2::from_bits(0x7c).to_f32(), f32::INFINITY);
    /// ```
    e5m2, E5M2, |code| code > 0x7c, |code| code == 0x7c
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    /// The specification's table "FP8 formats": extremes, and the first of each kind.
    #[test]
    fn values_are_those_of_the_specification() {
        let e4m3s = [
            (0x00, 0.0),
            (0x01, 2f32.powi(-9)),
            (0x07, 0.875 * 2f32.powi(-6)),
            (0x08, 2f32.powi(-6)),
            (0x38, 1.0),
            (0x77, 240.0),
            (0x7e, 448.0),
            (0xfe, -448.0),
        ];
        for (bits, value) in e4m3s {
            assert_eq!(e4m3::from_bits(bits).to_f32().to_bits(), value.to_bits());
        }
        assert!(e4m3::from_bits(0x7f).is_nan() && e4m3::from_bits(0xff).is_nan());
        assert_eq!([e4m3::ONE, e4m3::EPSILON].map(e4m3::to_bits), [0x38, 0x20]);
        assert_eq!(e4m3::from_bits(0x20).to_f32().to_bits(), 0.125f32.to_bits());
        assert_eq!([e5m2::ONE, e5m2::EPSILON].map(e5m2::to_bits), [0x3c, 0x34]);
        assert_eq!(e5m2::from_bits(0x34).to_f32().to_bits(), 0.25f32.to_bits());
    }

    #[test]
    fn e5m2_is_the_upper_half_of_f16() {
        for bits in 0..=u8::MAX {
            let (value, half) = (e5m2::from_bits(bits), f16::from_bits(u16::from(bits) << 8));
            assert_eq!(value.is_nan(), half.is_nan(), "{bits:#x}");
            if !half.is_nan() {
                assert_eq!(value.to_f32().to_bits(), half.to_f32().to_bits(), "{bits:#x}");
            }
        }
    }

    /// An e4m3 is a binary16 of the same digits whose exponent is off by 8, but for the codes that binary16 gives infinity and NaN.
    #[test]
    fn e4m3_is_a_scaled_f16() {
        for bits in 0..=u8::MAX {
            if bits & 0x7f == 0x7f {
                continue;
            }
            let half = (u16::from(bits & SIGN) << 8) | (u16::from(bits & !SIGN) << 7);
            let required = f16::from_bits(half).to_f32() * 256.0;
            assert_eq!(e4m3::from_bits(bits).to_f32().to_bits(), required.to_bits(), "{bits:#x}");
        }
    }

    /// Every value comes back, and between neighbours the nearer one, or the even one.
    fn conversions(to_f64: fn(u8) -> f64, from_f64: fn(f64) -> u8, largest: u8) {
        for code in 0..=largest {
            let value = to_f64(code);
            assert_eq!([from_f64(value), from_f64(-value)], [code, code | SIGN]);
            if code == largest {
                break;
            }
            let middle = f64::midpoint(value, to_f64(code + 1));
            let even = code + (code & 1);
            for (value, required) in
                [(middle.next_down(), code), (middle, even), (middle.next_up(), code + 1)]
            {
                assert_eq!([from_f64(value), from_f64(-value)], [required, required | SIGN]);
            }
        }
        for value in [to_f64(largest) * 1.01, 1e300, f64::INFINITY] {
            assert_eq!([from_f64(value), from_f64(-value)], [largest, largest | SIGN]);
        }
        assert_eq!(from_f64(f64::NAN), NAN);
        assert_eq!([from_f64(1e-300), from_f64(-1e-300)], [0, SIGN]);
    }

    #[test]
    fn e4m3_rounds_to_nearest_even_and_stays_finite() {
        conversions(|code| e4m3::from_bits(code).to_f64(), |value| e4m3::from_f64(value).0, 0x7e);
    }

    #[test]
    fn e5m2_rounds_to_nearest_even_and_stays_finite() {
        conversions(|code| e5m2::from_bits(code).to_f64(), |value| e5m2::from_f64(value).0, 0x7b);
    }

    #[test]
    fn comparisons_are_by_value() {
        assert_eq!(e4m3::from_bits(0x80), e4m3::ZERO);
        assert_ne!(e4m3::NAN, e4m3::NAN);
        assert!(e5m2::MIN < e5m2::ZERO && e5m2::ZERO < e5m2::MAX);
        assert_eq!(format!("{:?} {}", e4m3::ONE, e5m2::from_f32(-2.5)), "1.0 -2.5");
    }
}
