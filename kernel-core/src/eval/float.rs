//! Binary floating-point formats narrower than `f64`, as values of type `f64`.
//!
//! Rounding works on the exact value `magnitude · 2^exponent`, so there is exactly one rounding, whatever the source.

use crate::ir::Dtype;
use crate::ir::dtype::{Class, Float, Float8};

/// A format of 16 or 8 bits: one sign bit, then exponent, then fraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// All bits.
    bits: u32,
    /// Bits of the fraction, without the hidden one.
    fraction_bits: u32,
    /// Exponent of the smallest normal number.
    min_exponent: i32,
    /// What is beyond the finite numbers.
    beyond: Beyond,
}

/// What an exponent of all ones means, and what becomes of values that are too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    /// Infinities and NaNs; what is too large becomes infinite.
    Infinite,
    /// Infinities and NaNs; what is too large becomes the largest finite number.
    Largest,
    /// Numbers as others, save that all ones are the NaN; what is too large becomes the largest number.
    OneNan,
}

/// IEEE binary16.
pub(super) const F16: Format =
    Format { bits: 16, fraction_bits: 10, min_exponent: -14, beyond: Beyond::Infinite };
/// bfloat16: the upper half of a binary32.
pub(super) const BF16: Format =
    Format { bits: 16, fraction_bits: 7, min_exponent: -126, beyond: Beyond::Infinite };
/// E4M3 (OCP 8-bit Floating Point Specification), rounded as `cvt.rn.satfinite.e4m3x2.f32` does (PTX ISA, "cvt").
pub(super) const E4M3: Format =
    Format { bits: 8, fraction_bits: 3, min_exponent: -6, beyond: Beyond::OneNan };
/// E5M2, likewise.
pub(super) const E5M2: Format =
    Format { bits: 8, fraction_bits: 2, min_exponent: -14, beyond: Beyond::Largest };

/// The format of a floating-point type; none for `f32` and `f64`, which Rust has.
pub(super) fn format(dtype: Dtype) -> Option<Format> {
    match dtype.class() {
        Class::Float(Float::F16) => Some(F16),
        Class::Float(Float::Bf16) => Some(BF16),
        Class::Float8(Float8::E4m3) => Some(E4M3),
        Class::Float8(Float8::E5m2) => Some(E5M2),
        Class::Float(Float::F32 | Float::F64)
        | Class::Bool
        | Class::Signed
        | Class::Unsigned
        | Class::Opaque => None,
    }
}

/// The nearest value of a floating-point type.
pub(super) fn round(dtype: Dtype, value: f64) -> f64 {
    match format(dtype) {
        Some(format) => format.round(value),
        None if dtype == Dtype::F32 => f64::from(to_f32(value)),
        None => value,
    }
}

impl Format {
    /// The value of `bits`.
    pub(super) fn value_of(self, bits: u16) -> f64 {
        let sign = if bits & self.sign() != 0 { -1.0 } else { 1.0 };
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let magnitude = bits & (self.sign() - 1);
        let field = magnitude >> self.fraction_bits;
        match self.beyond {
            Beyond::Infinite | Beyond::Largest if field == self.ones() => {
                return if fraction == 0 { sign * f64::INFINITY } else { f64::NAN };
            }
            Beyond::OneNan if magnitude == self.sign() - 1 => return f64::NAN,
            Beyond::Infinite | Beyond::Largest | Beyond::OneNan => {}
        }
        let (significand, scale) = if field == 0 {
            (fraction, self.min_exponent)
        } else {
            (fraction | 1 << self.fraction_bits, self.min_exponent + i32::from(field) - 1)
        };
        sign * f64::from(significand) * power_of_two(scale - self.fraction())
    }

    /// The bits of a value that the format holds exactly.
    pub(super) fn to_bits(self, value: f64) -> u16 {
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        if value.is_nan() {
            return match self.beyond {
                Beyond::Infinite => {
                    self.ones() << self.fraction_bits | 1 << (self.fraction_bits - 1)
                }
                Beyond::Largest | Beyond::OneNan => self.sign() - 1,
            };
        }
        if value.is_infinite() {
            return sign | self.ones() << self.fraction_bits;
        }
        let magnitude = value.abs();
        let exponent = if magnitude == 0.0 { self.min_exponent } else { exponent_of(magnitude) };
        let exponent = exponent.max(self.min_exponent);
        // Scaled so that the unit of the last place is 1; exact, because both are powers of two within f64's range.
        let units = magnitude * power_of_two(self.fraction() - exponent);
        let units = small_int(units);
        // The hidden bit of a normal number carries into the exponent field, which therefore starts at 0.
        let field = u16::try_from(exponent - self.min_exponent).expect("the value is in range");
        sign | ((field << self.fraction_bits) + units)
    }

    /// The nearest value of the format; ties go to the even one, what is too large becomes what is beyond.
    pub(super) fn round(self, value: f64) -> f64 {
        if value == 0.0 || value.is_nan() {
            return value;
        }
        if value.is_infinite() {
            return self.within(f64::INFINITY).copysign(value);
        }
        let bits = value.abs().to_bits();
        let field = i32::try_from(bits >> 52).expect("11 bits");
        let fraction = u128::from(bits & ((1 << 52) - 1));
        let (magnitude, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        self.round_exact(magnitude, exponent).copysign(value)
    }

    /// The nearest value to an integer.
    pub(super) fn round_int(self, value: i128) -> f64 {
        let rounded = self.round_exact(value.unsigned_abs(), 0);
        if value < 0 { -rounded } else { rounded }
    }

    /// The nearest value to `magnitude · 2^exponent`.
    fn round_exact(self, magnitude: u128, exponent: i32) -> f64 {
        if magnitude == 0 {
            return 0.0;
        }
        let top = exponent + i32::try_from(magnitude.ilog2()).expect("at most 127");
        let unit = top.max(self.min_exponent) - self.fraction();
        let (units, unit) = if unit <= exponent {
            (magnitude, exponent)
        } else {
            let shift = u32::try_from(unit - exponent).expect("positive");
            (shift_to_nearest_even(magnitude, shift), unit)
        };
        // Exact: at most `fraction_bits + 1` significant bits are left, or there were at most that many to begin with.
        self.within(exact_f64(units) * power_of_two(unit))
    }

    /// A magnitude that was rounded without regard to the largest one.
    fn within(self, rounded: f64) -> f64 {
        match self.beyond {
            Beyond::Infinite if rounded >= power_of_two(2 - self.min_exponent) => f64::INFINITY,
            Beyond::Infinite => rounded,
            // The last code before those of infinity, or of the NaN.
            Beyond::Largest => rounded.min(self.value_of((self.ones() << self.fraction_bits) - 1)),
            Beyond::OneNan => rounded.min(self.value_of(self.sign() - 2)),
        }
    }

    /// The bit of the sign, above all others.
    fn sign(self) -> u16 {
        1 << (self.bits - 1)
    }

    /// An exponent of all ones.
    fn ones(self) -> u16 {
        (1 << (self.bits - 1 - self.fraction_bits)) - 1
    }

    fn fraction(self) -> i32 {
        i32::try_from(self.fraction_bits).expect("a small number")
    }
}

/// `value / 2^shift`, rounded to the nearest integer, ties to the even one.
fn shift_to_nearest_even(value: u128, shift: u32) -> u128 {
    // At 128 and more even the largest value is below one half, as are all values that reach here with such shifts.
    if shift >= 128 {
        return 0;
    }
    let quotient = value >> shift;
    let rest = value & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    if rest > half || rest == half && quotient & 1 == 1 { quotient + 1 } else { quotient }
}

/// `2^exponent`, for a normal result.
fn power_of_two(exponent: i32) -> f64 {
    let field = u64::try_from(exponent + 1023).expect("a power of two within f64's normal range");
    f64::from_bits(field << 52)
}

/// The exponent of a positive normal number.
fn exponent_of(value: f64) -> i32 {
    i32::try_from(value.to_bits() >> 52).expect("11 bits") - 1023
}

#[expect(clippy::cast_precision_loss, reason = "callers pass at most 53 significant bits")]
fn exact_f64(value: u128) -> f64 {
    value as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an integer below 2^11, by the caller's scaling"
)]
fn small_int(value: f64) -> u16 {
    value as u16
}

/// The nearest `f32`, ties to even.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
pub(super) fn to_f32(value: f64) -> f32 {
    value as f32
}

/// An `f32` rounded to the 10 fraction bits of tf32, ties away from zero, as `cvt.rna.tf32.f32` does
/// (PTX ISA, "Data Movement and Conversion Instructions: cvt").
pub(super) fn round_tf32(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let bits = to_f32(value).to_bits();
    // Adding half a unit to the magnitude carries into the exponent where it must; what overflows becomes infinite.
    f64::from(f32::from_bits((bits + (1 << 12)) & !((1 << 13) - 1)))
}

/// An `f32` of which the low 13 bits are left out, as tensor cores read tf32 from memory (PTX ISA, "Alternate Floating Point Data
/// Formats": tf32 has the range of `f32` and 10 bits of fraction).
pub(super) fn truncate_tf32(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    f64::from(f32::from_bits(to_f32(value).to_bits() & !((1 << 13) - 1)))
}

/// `a + b` rounded to odd: the exact sum, if it is an `f64`, otherwise the neighbour with an odd last bit.
///
/// Rounding the result once more to a format with at least two bits fewer gives the same as rounding the exact sum.
pub(super) fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    // The error of the addition, exactly (Knuth's two-sum).
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let outwards = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if outwards { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal, and of one sign if zero.
    #[track_caller]
    fn same(actual: f64, required: f64) {
        assert_eq!(actual.to_bits(), required.to_bits(), "{actual} instead of {required}");
    }

    const FORMATS: [Format; 4] = [F16, BF16, E4M3, E5M2];

    /// All ones of a format's bits.
    fn last(format: Format) -> u16 {
        format.sign() | (format.sign() - 1)
    }

    #[test]
    fn bits_survive_for_every_value() {
        for format in FORMATS {
            for bits in 0..=last(format) {
                let value = format.value_of(bits);
                if value.is_nan() {
                    assert!(format.value_of(format.to_bits(value)).is_nan());
                    continue;
                }
                assert_eq!(format.to_bits(value), bits, "{format:?}");
                if value.is_finite() || format.beyond == Beyond::Infinite {
                    assert_eq!(
                        format.round(value).to_bits(),
                        value.to_bits(),
                        "{format:?} {bits:#x}"
                    );
                }
            }
        }
    }

    #[test]
    fn bf16_is_the_upper_half_of_f32() {
        for bits in 0..=u16::MAX {
            let value = f32::from_bits(u32::from(bits) << 16);
            if !value.is_nan() {
                assert_eq!(BF16.value_of(bits).to_bits(), f64::from(value).to_bits());
            }
        }
    }

    /// Between two neighbours: below the middle the lower one, above it the upper one, in the middle the even one.
    #[test]
    fn rounding_goes_to_the_nearest_for_every_pair_of_neighbours() {
        for format in FORMATS {
            // The code after the largest number: infinity, or the NaN.
            let infinity = match format.beyond {
                Beyond::OneNan => format.sign() - 1,
                Beyond::Infinite | Beyond::Largest => format.to_bits(f64::INFINITY),
            };
            for lower in 0..infinity - 1 {
                let (a, b) = (format.value_of(lower), format.value_of(lower + 1));
                let middle = f64::midpoint(a, b);
                let even = if lower % 2 == 0 { a } else { b };
                let below = f64::from_bits(middle.to_bits() - 1);
                let above = f64::from_bits(middle.to_bits() + 1);
                for sign in [1.0, -1.0] {
                    assert_eq!((sign * a).to_bits(), format.round(sign * below).to_bits());
                    assert_eq!((sign * b).to_bits(), format.round(sign * above).to_bits());
                    assert_eq!((sign * even).to_bits(), format.round(sign * middle).to_bits());
                }
            }
        }
    }

    #[test]
    fn what_is_too_large_becomes_infinite() {
        same(F16.value_of(0x7bff), 65504.0);
        same(F16.round(65519.0), 65504.0);
        same(F16.round(65520.0), f64::INFINITY);
        same(F16.round(-1e300), f64::NEG_INFINITY);
        same(BF16.round(f64::from(f32::MAX)), f64::INFINITY);
        same(F16.round(1e-300), 0.0);
        same(F16.round_int(65519), 65504.0);
        same(F16.round_int(-65520), f64::NEG_INFINITY);
    }

    /// OCP 8-bit Floating Point Specification, table "FP8 formats".
    #[test]
    fn float8_stays_finite() {
        same(E4M3.value_of(0x7e), 448.0);
        same(E4M3.value_of(0x01), power_of_two(-9));
        same(E5M2.value_of(0x7b), 57344.0);
        same(E5M2.value_of(0x01), power_of_two(-16));
        for (format, largest) in [(E4M3, 448.0), (E5M2, 57344.0)] {
            same(format.round(largest * 1.25), largest);
            same(format.round(-1e300), -largest);
            same(format.round(f64::NEG_INFINITY), -largest);
            same(format.round_int(i128::MAX), largest);
            assert!(format.round(f64::NAN).is_nan());
        }
        assert!(E4M3.value_of(0x7f).is_nan() && E4M3.value_of(0xff).is_nan());
        same(E5M2.value_of(0xfc), f64::NEG_INFINITY);
        assert!((0x7d..=0x7f).all(|bits| E5M2.value_of(bits).is_nan()));
    }

    #[test]
    fn integers_are_rounded_once() {
        // 2^61 + 2^53 + 1 is above the middle of two bf16 values; f64 would first round it onto the middle.
        let value = (1_i128 << 61) + (1 << 53) + 1;
        same(BF16.round_int(value), power_of_two(61) + power_of_two(54));
    }

    #[test]
    fn odd_addition_keeps_what_rounding_needs() {
        // The middle between 1 and 1 + 2^-7, and a little more.
        let middle = 1.0 + power_of_two(-8);
        same(BF16.round(middle + power_of_two(-100)), 1.0);
        same(BF16.round(add_to_odd(middle, power_of_two(-100))), 1.0 + power_of_two(-7));
        same(BF16.round(add_to_odd(middle, -power_of_two(-100))), 1.0);
        same(add_to_odd(0.5, 0.25), 0.75);
    }

    #[test]
    fn tf32_in_memory_is_cut_off() {
        let tie = 1.0 + power_of_two(-11);
        same(truncate_tf32(tie), 1.0);
        same(truncate_tf32(-tie - power_of_two(-12)), -1.0);
        same(truncate_tf32(1.0 + power_of_two(-10)), 1.0 + power_of_two(-10));
        same(truncate_tf32(f64::NEG_INFINITY), f64::NEG_INFINITY);
    }

    #[test]
    fn tf32_rounds_ties_away() {
        let tie = 1.0 + power_of_two(-11);
        same(round_tf32(tie), 1.0 + power_of_two(-10));
        same(round_tf32(-tie), -1.0 - power_of_two(-10));
        same(round_tf32(1.0 + power_of_two(-12)), 1.0);
        same(round_tf32(3.0), 3.0);
    }
}
