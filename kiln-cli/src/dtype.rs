//! Element types of buffers: numbers to storage bits and back.

use std::fmt;

/// A number as a launch description gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer, exact up to 64 bits of either sign.
    Integer(i128),
    /// Any other number, NaN and the infinities among them.
    Real(f64),
}

impl Number {
    /// The nearest `f64`.
    #[expect(clippy::cast_precision_loss, reason = "rounding to the nearest is what is asked for")]
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Real(value) => value,
        }
    }

    /// The same number as an integer, if it is one and has at most 64 bits.
    #[expect(clippy::cast_possible_truncation, reason = "whole, and less than 2^64")]
    pub fn to_integer(self) -> Option<i128> {
        const LIMIT: f64 = 18_446_744_073_709_551_616.0;
        match self {
            Number::Integer(value) => Some(value),
            Number::Real(value) if value.fract() == 0.0 && value.abs() < LIMIT => {
                Some(value as i128)
            }
            Number::Real(_) => None,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(value) => write!(f, "{value}"),
            Number::Real(value)
                if *value != 0.0 && !(1e-4..1e16).contains(&value.abs()) && value.is_finite() =>
            {
                write!(f, "{value:e}")
            }
            Number::Real(value) => write!(f, "{value}"),
        }
    }
}

/// The element type of a buffer, or of a scalar parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// IEEE binary16.
    F16,
    /// The upper half of an `F32`.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Four bits of exponent, three of mantissa; no infinities, one NaN of each sign.
    F8E4M3,
    /// Five bits of exponent, two of mantissa.
    F8E5M2,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 64 bits.
    U64,
}

/// A binary float of up to 64 bits: sign, exponent, mantissa.
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    /// The code of the greatest finite value.
    most: u64,
    /// The code of a value that is too large.
    overflow: u64,
    nan: u64,
}

impl Format {
    /// One as IEEE has them: the greatest exponent is for the infinities and NaNs.
    const fn ieee(exponent_bits: u32, mantissa_bits: u32) -> Format {
        let infinity = ((1 << exponent_bits) - 1) << mantissa_bits;
        Format {
            exponent_bits,
            mantissa_bits,
            most: infinity - 1,
            overflow: infinity,
            nan: infinity | 1 << (mantissa_bits - 1),
        }
    }

    /// The exponent of the least normal value.
    fn least_exponent(&self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    fn sign(&self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The code nearest to `value`, the even one of two.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small integer")]
    #[expect(clippy::cast_possible_wrap, reason = "the field has 11 bits")]
    fn encode(&self, value: f64) -> u64 {
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        let size = value.abs();
        if size.is_nan() {
            return self.nan;
        }
        if size == f64::INFINITY {
            return sign | self.overflow;
        }
        let least = self.least_exponent();
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(least);
        // Subnormals of f64 have a code here only where the format is f64, which is handled apart.
        let quantum = exp2(exponent - self.mantissa_bits as i32);
        let steps = (size / quantum).round_ties_even() as u64;
        let code = (u64::from((exponent - least).unsigned_abs()) << self.mantissa_bits) + steps;
        sign | if code > self.most { self.overflow } else { code }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mantissa of at most 24 bits")]
    #[expect(clippy::cast_possible_truncation, reason = "an exponent of at most 8 bits")]
    #[expect(clippy::cast_possible_wrap, reason = "an exponent or a count of a few bits")]
    fn decode(&self, bits: u64) -> f64 {
        let sign = if bits & self.sign() == 0 { 1.0 } else { -1.0 };
        let code = bits & (self.sign() - 1);
        if code > self.most {
            // Above the greatest finite code is the infinity, where there is one; the rest are NaNs.
            let infinite = code == self.overflow && code != self.nan;
            return if infinite { sign * f64::INFINITY } else { f64::NAN };
        }
        let exponent = (code >> self.mantissa_bits) as i32;
        let mantissa = code & ((1 << self.mantissa_bits) - 1);
        let hidden = if exponent == 0 { 0 } else { 1 << self.mantissa_bits };
        let scale = self.least_exponent() + exponent.max(1) - 1 - self.mantissa_bits as i32;
        sign * (mantissa | hidden) as f64 * exp2(scale)
    }
}

/// 2 to the power of an exponent that a normal `f64` can have.
fn exp2(exponent: i32) -> f64 {
    let biased = u64::try_from(exponent + 1023).expect("narrower floats have smaller exponents");
    f64::from_bits(biased << 52)
}

const F16: Format = Format::ieee(5, 10);
const BF16: Format = Format::ieee(8, 7);
const F8E5M2: Format = Format::ieee(5, 2);
/// All codes but the last are finite (OCP 8-bit floating point, "FP8 formats").
const F8E4M3: Format =
    Format { exponent_bits: 4, mantissa_bits: 3, most: 0x7E, overflow: 0x7F, nan: 0x7F };

impl Dtype {
    /// The type of this name, as in `f16`, `f8e4m3`, `i32`.
    pub fn named(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Every type.
    pub const ALL: [Dtype; 14] = [
        Dtype::F16,
        Dtype::Bf16,
        Dtype::F32,
        Dtype::F64,
        Dtype::F8E4M3,
        Dtype::F8E5M2,
        Dtype::I8,
        Dtype::U8,
        Dtype::I16,
        Dtype::U16,
        Dtype::I32,
        Dtype::U32,
        Dtype::I64,
        Dtype::U64,
    ];

    /// The name as launch descriptions spell it.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::F8E4M3 => "f8e4m3",
            Dtype::F8E5M2 => "f8e5m2",
            Dtype::I8 => "i8",
            Dtype::U8 => "u8",
            Dtype::I16 => "i16",
            Dtype::U16 => "u16",
            Dtype::I32 => "i32",
            Dtype::U32 => "u32",
            Dtype::I64 => "i64",
            Dtype::U64 => "u64",
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::I8 | Dtype::U8 => 1,
            Dtype::F16 | Dtype::Bf16 | Dtype::I16 | Dtype::U16 => 2,
            Dtype::F32 | Dtype::I32 | Dtype::U32 => 4,
            Dtype::F64 | Dtype::I64 | Dtype::U64 => 8,
        }
    }

    /// The range of an integer type.
    fn range(self) -> Option<(i128, i128)> {
        match self {
            Dtype::I8 => Some((i8::MIN.into(), i8::MAX.into())),
            Dtype::U8 => Some((0, u8::MAX.into())),
            Dtype::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            Dtype::U16 => Some((0, u16::MAX.into())),
            Dtype::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            Dtype::U32 => Some((0, u32::MAX.into())),
            Dtype::I64 => Some((i64::MIN.into(), i64::MAX.into())),
            Dtype::U64 => Some((0, u64::MAX.into())),
            Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64 | Dtype::F8E4M3 | Dtype::F8E5M2 => {
                None
            }
        }
    }

    /// The bits that cover every element of this type.
    pub(crate) fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }

    /// The storage bits of a number: floats round to nearest even (`bf16` through `f32`).
    ///
    /// `None` where an integer type has no such value.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding and wrapping are what is asked for"
    )]
    #[expect(clippy::cast_sign_loss, reason = "two's complement")]
    pub fn encode(self, number: Number) -> Option<u64> {
        if let Some((least, most)) = self.range() {
            let value = number.to_integer().filter(|value| (least..=most).contains(value))?;
            return Some(value as u64 & self.mask());
        }
        let value = number.to_f64();
        Some(match self {
            Dtype::F16 => F16.encode(value),
            Dtype::Bf16 => BF16.encode(f64::from(value as f32)),
            Dtype::F32 => (value as f32).to_bits().into(),
            Dtype::F64 => value.to_bits(),
            Dtype::F8E4M3 => F8E4M3.encode(value),
            Dtype::F8E5M2 => F8E5M2.encode(value),
            Dtype::I8
            | Dtype::U8
            | Dtype::I16
            | Dtype::U16
            | Dtype::I32
            | Dtype::U32
            | Dtype::I64
            | Dtype::U64 => unreachable!("integer types have a range"),
        })
    }

    /// The number that storage bits stand for.
    #[expect(clippy::cast_possible_truncation, reason = "the bits of an element of this size")]
    pub fn decode(self, bits: u64) -> Number {
        let bits = bits & self.mask();
        match self {
            Dtype::F16 => Number::Real(F16.decode(bits)),
            Dtype::Bf16 => Number::Real(BF16.decode(bits)),
            Dtype::F32 => Number::Real(f32::from_bits(bits as u32).into()),
            Dtype::F64 => Number::Real(f64::from_bits(bits)),
            Dtype::F8E4M3 => Number::Real(F8E4M3.decode(bits)),
            Dtype::F8E5M2 => Number::Real(F8E5M2.decode(bits)),
            Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => Number::Integer(bits.into()),
            Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => {
                let (_, most) = self.range().expect("an integer type");
                let value = i128::from(bits);
                Number::Integer(if value > most { value - 2 * (most + 1) } else { value })
            }
        }
    }

    /// Whether the bits are a NaN of this type.
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        matches!(self.decode(bits), Number::Real(value) if value.is_nan())
    }

    /// The codes that a NaN has in a buffer computed elsewhere: a payload carries no meaning, but enters a digest.
    pub(crate) fn nan_codes(self) -> &'static [u64] {
        match self {
            Dtype::F16 => &[0x7E00, 0x7FFF, 0xFE00],
            Dtype::Bf16 => &[0x7FC0, 0x7FFF, 0xFFC0],
            Dtype::F32 => &[0x7FC0_0000, 0x7FFF_FFFF, 0xFFC0_0000],
            Dtype::F64 => &[0x7FF8_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF, 0xFFF8_0000_0000_0000],
            Dtype::F8E4M3 => &[0x7F, 0xFF],
            Dtype::F8E5M2 => &[0x7E, 0x7F, 0x7D, 0xFE],
            Dtype::I8
            | Dtype::U8
            | Dtype::I16
            | Dtype::U16
            | Dtype::I32
            | Dtype::U32
            | Dtype::I64
            | Dtype::U64 => &[],
        }
    }

    /// Element `index` of a buffer's bytes.
    pub(crate) fn load(self, bytes: &[u8], index: usize) -> u64 {
        let mut word = [0; 8];
        let size = self.bytes();
        word[..size].copy_from_slice(&bytes[index * size..(index + 1) * size]);
        u64::from_le_bytes(word)
    }

    /// Sets element `index` of a buffer's bytes.
    pub(crate) fn store(self, bytes: &mut [u8], index: usize, bits: u64) {
        let size = self.bytes();
        bytes[index * size..(index + 1) * size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_a_float_decodes_as_another_library_says_and_encodes_back() {
        for code in 0..=u16::MAX {
            let pairs = [
                (Dtype::F16, half::f16::from_bits(code).to_f64()),
                (Dtype::Bf16, half::bf16::from_bits(code).to_f64()),
            ];
            for (dtype, required) in pairs {
                let Number::Real(actual) = dtype.decode(code.into()) else {
                    panic!("{dtype:?} is a float")
                };
                if required.is_nan() {
                    assert!(actual.is_nan() && dtype.is_nan(code.into()), "{dtype:?} {code:#x}");
                } else {
                    assert_eq!(actual.to_bits(), required.to_bits(), "{dtype:?} {code:#x}");
                    assert_eq!(dtype.encode(Number::Real(actual)), Some(code.into()));
                }
            }
        }
    }

    #[test]
    fn floats_of_8_bits_have_the_values_of_the_open_compute_tables() {
        // OCP 8-bit floating point specification, table "FP8 formats": extremes, subnormals, specials.
        let values = |dtype: Dtype, codes: &[u64]| {
            codes.iter().map(|&code| dtype.decode(code).to_f64().to_bits()).collect::<Vec<_>>()
        };
        let required = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(
            values(Dtype::F8E4M3, &[0x7E, 0x08, 0x07, 0x01, 0xB8]),
            required(&[448.0, 0.015_625, 0.013_671_875, 0.001_953_125, -1.0])
        );
        assert!([0x7F, 0xFF].into_iter().all(|code| Dtype::F8E4M3.is_nan(code)));
        assert_eq!(
            values(Dtype::F8E5M2, &[0x7B, 0x04, 0x01, 0x7C, 0xFC]),
            required(&[
                57344.0,
                0.000_061_035_156_25,
                0.000_015_258_789_062_5,
                f64::INFINITY,
                f64::NEG_INFINITY
            ])
        );
        assert!([0x7D, 0x7E, 0x7F].into_iter().all(|code| Dtype::F8E5M2.is_nan(code)));
        for dtype in [Dtype::F8E4M3, Dtype::F8E5M2] {
            for code in (0..256).filter(|&code| !dtype.is_nan(code)) {
                assert_eq!(dtype.encode(dtype.decode(code)), Some(code), "{dtype:?} {code:#x}");
            }
        }
    }

    #[test]
    fn an_f16_is_rounded_once() {
        // 1 + 2^-11 is half way between two f16; 2^-40 more must go up, though an f32 cannot hold it.
        let value = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(Dtype::F16.encode(Number::Real(value)), Some(0x3C01));
        assert_eq!(Dtype::F16.encode(Number::Real(1.0 + 2f64.powi(-11))), Some(0x3C00));
        assert_eq!(Dtype::F16.encode(Number::Real(1.0 + 3.0 * 2f64.powi(-11))), Some(0x3C02));
    }

    #[test]
    fn a_bf16_is_rounded_by_way_of_f32() {
        // 1 + 2^-8 + 2^-30 becomes 1 + 2^-8 as f32, a tie, which goes to even.
        let value = 1.0 + 2f64.powi(-8) + 2f64.powi(-30);
        assert_eq!(Dtype::Bf16.encode(Number::Real(value)), Some(0x3F80));
    }

    #[test]
    fn what_is_too_large_or_no_integer_is_not_hidden() {
        assert_eq!(Dtype::F16.encode(Number::Real(65520.0)), Some(0x7C00));
        assert_eq!(Dtype::F16.encode(Number::Real(65519.0)), Some(0x7BFF));
        assert_eq!(Dtype::F8E4M3.encode(Number::Real(-1000.0)), Some(0xFF));
        assert_eq!(Dtype::I8.encode(Number::Integer(-128)), Some(0x80));
        assert_eq!(Dtype::I8.encode(Number::Integer(128)), None);
        assert_eq!(Dtype::U8.encode(Number::Real(2.5)), None);
        assert_eq!(Dtype::I32.encode(Number::Real(-3.0)), Some(0xFFFF_FFFD));
        assert_eq!(Dtype::I32.decode(0xFFFF_FFFD), Number::Integer(-3));
        assert_eq!(Dtype::U64.decode(u64::MAX), Number::Integer(u64::MAX.into()));
    }
}
