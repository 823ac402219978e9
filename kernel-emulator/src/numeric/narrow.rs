//! f16 and bf16 instructions and their packed x2 forms. PTX ISA, "Half Precision Floating Point
//! Instructions".
//!
//! Both formats are [`Half`]. Operands widen to f64 exactly; a product of two is exact there and a
//! sum is rounded to odd, so that the one rounding to the format is the right one (no result passes
//! through f32, which would round twice). A NaN result is 0x7fff.

use super::format::{Format, Round};
use super::lossy::low16;
use super::scalar::{self, Clamp, Extreme, Mode, Selection};

/// Which 16-bit format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
}

/// The NaN that f16 and bf16 instructions produce.
pub const NAN_HALF: u16 = 0x7fff;

impl Half {
    /// Its field widths.
    #[inline]
    pub const fn format(self) -> Format {
        match self {
            Self::F16 => Format::F16,
            Self::Bf16 => Format::BF16,
        }
    }

    /// The bits of 1.0.
    #[inline]
    pub const fn one(self) -> u16 {
        match self {
            Self::F16 => 0x3c00,
            Self::Bf16 => 0x3f80,
        }
    }

    /// The same value as f32; a NaN keeps its sign and payload bits.
    #[inline]
    pub fn widen(self, bits: u16) -> f32 {
        match self {
            Self::F16 => widen_f16(bits),
            Self::Bf16 => widen_bf16(bits),
        }
    }

    /// The nearest value to an f32, ties to even; NaN becomes 0x7fff.
    #[inline]
    pub fn narrow(self, x: f32) -> u16 {
        match self {
            Self::F16 => narrow_f16(x),
            Self::Bf16 => narrow_bf16(x),
        }
    }
}

/// The f32 bits of a number with a narrower exponent, given its magnitude bits; patterns above the
/// largest exponent come out as further numbers. Without branches and without f32 subnormals, whose
/// arithmetic is slow on many hosts, so that loops over lanes vectorise.
#[inline]
pub(super) const fn widen_magnitude(magnitude: u32, mantissa_bits: u32, bias: u32) -> u32 {
    let shifted = magnitude << (23 - mantissa_bits);
    let rebias = (127 - bias) << 23;
    // A subnormal, read as the fraction of a number with the next exponent, minus that number's one.
    let with_one = rebias + (1 << 23);
    let subnormal = (f32::from_bits(shifted + with_one) - f32::from_bits(with_one)).to_bits();
    if magnitude >> mantissa_bits == 0 { subnormal } else { shifted + rebias }
}

/// f16 bits to f32.
#[inline]
pub const fn widen_f16(bits: u16) -> f32 {
    widen_f16_word(bits as u32)
}

/// The low half of a register, as f16, to f32.
#[inline]
pub(super) const fn widen_f16_word(word: u32) -> f32 {
    let magnitude = word & 0x7fff;
    let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
    f32::from_bits(widen_magnitude(magnitude, 10, 15) | special | (word & 0x8000) << 16)
}

/// bf16 bits to f32.
#[inline]
pub fn widen_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// f32 to f16 bits: to nearest, ties to even; NaN becomes 0x7fff. Without branches, so that loops over
/// lanes vectorise.
#[inline]
pub fn narrow_f16(x: f32) -> u16 {
    low16(narrow_f16_word(x).into())
}

/// [`narrow_f16`] in the low half of a word.
#[inline]
pub(super) fn narrow_f16_word(x: f32) -> u32 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Rebias by 112, then round the 13 dropped bits; a carry may reach the infinity pattern.
    let tie = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub(0x3800_0000).wrapping_add(0xfff + tie) >> 13;
    // Adding 0.5 aligns the unit of the f32 sum, 2^-24, with f16's subnormal step, so the sum's own
    // rounding is the one required and its low bits are the result.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let number = if magnitude >= 0x4780_0000 { 0x7c00 } else { finite } | bits >> 16 & 0x8000;
    if magnitude > 0x7f80_0000 { u32::from(NAN_HALF) } else { number }
}

/// f32 to bf16 bits: to nearest, ties to even; NaN becomes 0x7fff.
#[inline]
pub fn narrow_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        return NAN_HALF;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

#[inline]
fn operand(half: Half, bits: u16, mode: Mode) -> f64 {
    let bits = if mode.flush { low16(half.format().flush(bits.into())) } else { bits };
    f64::from(half.widen(bits))
}

/// The common case of a rounding to nearest: `sum` is an f64 rounded to nearest of the exact value
/// and becomes a normal number of the format. Nothing if the second rounding could go wrong, which
/// is when `sum` is on a midpoint, where the exact value may have been to either side.
#[inline]
fn nearest_normal(half: Half, sum: f64) -> Option<u16> {
    let (drop, rebias, lowest, beyond) = match half {
        Half::F16 => (42, (1023 - 15) << 52, (1023 - 14) << 52, (1023 + 15) << 52),
        Half::Bf16 => (45, (1023 - 127) << 52, (1023 - 126) << 52, (1023 + 127) << 52),
    };
    let bits = sum.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let magnitude = bits & !(1 << 63);
    let half_unit = 1 << (drop - 1);
    if magnitude == 0 {
        Some(sign)
    } else if magnitude < lowest
        || magnitude >= beyond
        || magnitude & ((1 << drop) - 1) == half_unit
    {
        None
    } else {
        Some(sign | low16((magnitude - rebias + half_unit) >> drop))
    }
}

/// Rounds `a + b` to the format and applies the modifiers.
#[inline]
fn finish_sum(half: Half, a: f64, b: f64, mode: Mode) -> u16 {
    if mode.round == Round::NearestEven
        && mode.clamp == Clamp::None
        && let Some(bits) = nearest_normal(half, a + b)
    {
        return bits;
    }
    finish(half, sum(a, b, mode.round), mode)
}

/// Rounds an odd-rounded f64 to the format and applies the modifiers.
fn finish(half: Half, x: f64, mode: Mode) -> u16 {
    let format = half.format();
    if x.is_nan() {
        return if mode.clamp == Clamp::Unit { 0 } else { NAN_HALF };
    }
    let bits = if x.is_infinite() {
        (if x < 0.0 { format.sign_bit() } else { 0 }) | format.exponent_mask()
    } else {
        format.encode_f64(x.to_bits(), mode.round)
    };
    let bits = low16(if mode.flush { format.flush(bits) } else { bits });
    match mode.clamp {
        Clamp::None => bits,
        Clamp::Unit => {
            if bits >> 15 != 0 {
                0
            } else {
                bits.min(half.one())
            }
        }
        Clamp::Relu => {
            if bits >> 15 != 0 {
                0
            } else {
                bits
            }
        }
    }
}

/// The sum rounded to odd. Exact cancellation gives +0, or -0 when rounding down.
#[inline]
fn sum(a: f64, b: f64, round: Round) -> f64 {
    let sum = scalar::add_to_odd(a, b);
    let opposite = a.is_sign_negative() != b.is_sign_negative();
    if sum == 0.0 && opposite && round == Round::Down { -0.0 } else { sum }
}

/// `add{.rnd}{.ftz}{.sat}` on f16 or bf16.
#[inline]
pub fn add(half: Half, a: u16, b: u16, mode: Mode) -> u16 {
    finish_sum(half, operand(half, a, mode), operand(half, b, mode), mode)
}

/// `sub{.rnd}{.ftz}{.sat}` on f16 or bf16.
#[inline]
pub fn sub(half: Half, a: u16, b: u16, mode: Mode) -> u16 {
    add(half, a, b ^ 0x8000, mode)
}

/// `mul{.rnd}{.ftz}{.sat}` on f16 or bf16.
#[inline]
pub fn mul(half: Half, a: u16, b: u16, mode: Mode) -> u16 {
    let product = operand(half, a, mode) * operand(half, b, mode);
    // A zero of the product's sign changes nothing.
    finish_sum(half, product, 0f64.copysign(product), mode)
}

/// `fma.rnd{.ftz}{.sat}{.relu}` on f16 or bf16: one rounding.
#[inline]
pub fn fma(half: Half, a: u16, b: u16, c: u16, mode: Mode) -> u16 {
    let product = operand(half, a, mode) * operand(half, b, mode);
    finish_sum(half, product, operand(half, c, mode), mode)
}

scalar::extreme!(extreme_f16, u16, low16, Format::F16, (|_| NAN_HALF), "`min` and `max` on f16.");
scalar::extreme!(
    extreme_bf16,
    u16,
    low16,
    Format::BF16,
    (|_| NAN_HALF),
    "`min` and `max` on bf16."
);

/// `min{.ftz}{.NaN}{.xorsign.abs}` and `max` on f16 or bf16: a NaN operand is ignored unless `.NaN`,
/// -0 < +0.
#[inline]
pub fn extreme(which: Extreme, half: Half, a: u16, b: u16, selection: Selection) -> u16 {
    match half {
        Half::F16 => extreme_f16(which, a, b, selection),
        Half::Bf16 => extreme_bf16(which, a, b, selection),
    }
}

/// `abs{.ftz}` on f16 or bf16; NaN becomes the canonical one.
#[inline]
pub const fn abs(half: Half, a: u16, flush: bool) -> u16 {
    if half.format().is_nan(a as u64) {
        return NAN_HALF;
    }
    let a = if flush { low16(half.format().flush(a as u64)) } else { a };
    a & 0x7fff
}

/// `neg{.ftz}` on f16 or bf16; NaN becomes the canonical one.
#[inline]
pub const fn neg(half: Half, a: u16, flush: bool) -> u16 {
    if half.format().is_nan(a as u64) {
        return NAN_HALF;
    }
    let a = if flush { low16(half.format().flush(a as u64)) } else { a };
    a ^ 0x8000
}

/// Splits a packed pair into (low, high).
#[inline]
pub const fn unpack(pair: u32) -> (u16, u16) {
    (low16(pair as u64), (pair >> 16) as u16)
}

/// Packs (low, high).
#[inline]
pub const fn pack(low: u16, high: u16) -> u32 {
    low as u32 | (high as u32) << 16
}

/// Applies a one-operand function to both halves.
#[inline]
pub fn map2(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    let (low, high) = unpack(a);
    pack(f(low), f(high))
}

/// Applies a two-operand function to both halves: the x2 form of an instruction.
#[inline]
pub fn zip2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    let ((a0, a1), (b0, b1)) = (unpack(a), unpack(b));
    pack(f(a0, b0), f(a1, b1))
}

/// Applies a three-operand function to both halves.
#[inline]
pub fn zip3(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let ((a0, a1), (b0, b1), (c0, c1)) = (unpack(a), unpack(b), unpack(c));
    pack(f(a0, b0, c0), f(a1, b1, c1))
}
