//! FP4 numbers and the scales of their blocks, as Blackwell's tensor cores multiply them.
//!
//! The formats E2M1 and E8M0 of the OCP Microscaling Formats Specification. Only products compute with them: these
//! types convert on the host, and hold what a kernel reads and moves.

use std::fmt;

/// The magnitudes of FP4, in the order of their codes (OCP Microscaling Formats, "FP4 E2M1").
const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
/// The bit of the sign of an FP4 number.
const SIGN: u8 = 0b1000;

/// Two FP4 numbers in a byte, the first in the lower half: each has a sign, two bits of exponent, one of fraction.
///
/// A number is 0, 0.5, 1, 1.5, 2, 3, 4 or 6, or one of these with a minus. There are no infinities and no NaN.
///
/// ```
/// use kernel_runtime::e2m1x2;
///
/// let pair = e2m1x2::from_f32([1.5, -6.0]);
/// assert_eq!(pair.to_bits(), 0xf3);
/// assert_eq!(pair.to_f32(), [1.5, -6.0]);
/// ```
#[expect(non_camel_case_types, reason = "named as PTX and kernels name it")]
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct e2m1x2(u8);

impl e2m1x2 {
    /// The numbers of these bits.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// The nearest numbers, ties to even. Values beyond the range become 6 or -6, and NaN becomes 6, as when kernels
    /// convert (PTX ISA, "cvt": `.satfinite`).
    #[must_use]
    pub fn from_f32([low, high]: [f32; 2]) -> Self {
        Self(code(low) | code(high) << 4)
    }

    /// The numbers, exactly.
    #[must_use]
    pub fn to_f32(self) -> [f32; 2] {
        [self.0, self.0 >> 4].map(|code| {
            let magnitude = MAGNITUDES[usize::from(code & 7)];
            if code & SIGN == 0 { magnitude } else { -magnitude }
        })
    }

    /// The byte in memory.
    #[must_use]
    pub const fn to_le_bytes(self) -> [u8; 1] {
        [self.0]
    }

    /// The numbers of this byte in memory.
    #[must_use]
    pub const fn from_le_bytes([bits]: [u8; 1]) -> Self {
        Self(bits)
    }
}

/// The code of the nearest FP4 number.
fn code(value: f32) -> u8 {
    if value.is_nan() {
        return 7;
    }
    let magnitude = value.abs();
    // The first code that is not passed: what lies in the middle between two belongs to the even one.
    let nearest = (0..7u8)
        .find(|&code| {
            let middle =
                f32::midpoint(MAGNITUDES[usize::from(code)], MAGNITUDES[usize::from(code) + 1]);
            if code % 2 == 0 { magnitude <= middle } else { magnitude < middle }
        })
        .unwrap_or(7);
    if value.is_sign_negative() { nearest | SIGN } else { nearest }
}

/// By value, as for other floats: zeros are equal.
impl PartialEq for e2m1x2 {
    fn eq(&self, other: &Self) -> bool {
        self.to_f32() == other.to_f32()
    }
}

impl fmt::Debug for e2m1x2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_f32().fmt(f)
    }
}

/// A power of two from 2⁻¹²⁷ to 2¹²⁷, or NaN: only eight bits of exponent. The scale of a block of FP8 or FP4 numbers.
///
/// The byte 0 is 2⁻¹²⁷: there is no zero.
///
/// ```
/// use kernel_runtime::ue8m0;
///
/// assert_eq!(ue8m0::ONE.to_bits(), 127);
/// assert_eq!(ue8m0::from_exponent(-3).to_f32(), 0.125);
/// assert!(ue8m0::NAN.to_f32().is_nan());
/// ```
#[expect(non_camel_case_types, reason = "named as PTX and kernels name it")]
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct ue8m0(u8);

impl ue8m0 {
    /// 1.
    pub const ONE: Self = Self(127);
    /// The NaN.
    pub const NAN: Self = Self(u8::MAX);

    /// The value of these bits: 2 to the power of `bits - 127`, and NaN for 255.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// 2 to the power of `exponent`; 2⁻¹²⁷ for -128, which has no code.
    #[must_use]
    pub const fn from_exponent(exponent: i8) -> Self {
        // Added as bytes: the carry of a negative exponent falls away.
        if exponent == i8::MIN { Self(0) } else { Self(exponent.cast_unsigned().wrapping_add(127)) }
    }

    /// The value, exactly.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        match self.0 {
            // The upper bit of the fraction of a number below the normal ones.
            0 => f32::from_bits(1 << 22),
            u8::MAX => f32::NAN,
            exponent => f32::from_bits(u32::from(exponent) << 23),
        }
    }

    /// The byte in memory.
    #[must_use]
    pub const fn to_le_bytes(self) -> [u8; 1] {
        [self.0]
    }

    /// The value of this byte in memory.
    #[must_use]
    pub const fn from_le_bytes([bits]: [u8; 1]) -> Self {
        Self(bits)
    }
}

/// By value, as for other floats: a NaN equals nothing.
impl PartialEq for ue8m0 {
    fn eq(&self, other: &Self) -> bool {
        self.to_f32() == other.to_f32()
    }
}

impl fmt::Debug for ue8m0 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_f32().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's table "FP4 E2M1": exponents from 0 to 2, a bit of fraction, and one number below the normal ones.
    #[test]
    fn numbers_are_those_of_the_specification() {
        for code in 0..16u8 {
            let [exponent, fraction] = [code >> 1 & 3, code & 1].map(f32::from);
            let magnitude = if exponent == 0.0 {
                fraction / 2.0
            } else {
                (1.0 + fraction / 2.0) * (exponent - 1.0).exp2()
            };
            let required = if code < 8 { magnitude } else { -magnitude };
            for bits in [code, code << 4] {
                let numbers = e2m1x2::from_bits(bits).to_f32();
                let [actual, zero] = if bits == code { numbers } else { [numbers[1], numbers[0]] };
                assert_eq!([actual, zero].map(f32::to_bits), [required, 0.0].map(f32::to_bits));
            }
            assert_eq!(e2m1x2::from_f32([required, 0.0]).to_bits(), code);
        }
    }

    #[test]
    fn conversions_round_to_the_even_neighbour_and_stay_in_range() {
        let of = |value: f32| e2m1x2::from_f32([value, 0.0]).to_f32()[0];
        for (value, required) in [
            (0.25, 0.0),
            (0.26, 0.5),
            (0.75, 1.0),
            (1.25, 1.0),
            (1.75, 2.0),
            (2.5, 2.0),
            (3.5, 4.0),
            (5.0, 4.0),
            (5.1, 6.0),
            (1e9, 6.0),
            (-0.75, -1.0),
            (f32::NEG_INFINITY, -6.0),
            (f32::NAN, 6.0),
        ] {
            assert_eq!(of(value).to_bits(), f32::to_bits(required), "{value}");
        }
    }

    #[test]
    fn scales_are_powers_of_two() {
        for bits in 0..=u8::MAX {
            let actual = f64::from(ue8m0::from_bits(bits).to_f32());
            let required = 2f64.powi(i32::from(bits) - 127);
            assert_eq!(actual.is_nan(), bits == 255);
            assert!(bits == 255 || actual.to_bits() == required.to_bits(), "{bits}");
        }
        for exponent in -127..=127i8 {
            let value = f64::from(ue8m0::from_exponent(exponent).to_f32());
            assert_eq!(value.to_bits(), 2f64.powi(exponent.into()).to_bits(), "{exponent}");
        }
        assert_eq!(ue8m0::from_exponent(-128), ue8m0::from_bits(0));
        assert_ne!(ue8m0::NAN, ue8m0::NAN);
        assert_eq!(format!("{:?} {:?}", ue8m0::ONE, e2m1x2::from_bits(0x2b)), "1.0 [-1.5, 1.0]");
    }
}
