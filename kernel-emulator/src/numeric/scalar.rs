//! f32 and f64 instructions. PTX ISA, "Floating Point Instructions".
//!
//! NaN: every f32 instruction that yields NaN yields 0x7fffffff, `abs` and `neg` included:
//! single-precision payloads do not exist (the same section). f64 instructions pass an operand's
//! payload on; which operand's, the manual does not say, and [`nan_f64`] follows what an H200 does.

use super::exact;
use super::format::{Format, Overflow, Round};
use super::lossy::{self, low32, nearest};

/// The NaN that f32 instructions produce.
pub const NAN_F32: u32 = 0x7fff_ffff;
/// 1.0 as f32.
const ONE_F32: u32 = 0x3f80_0000;
/// 1.0 as f64.
const ONE_F64: u64 = 0x3ff0_0000_0000_0000;

/// What happens to a result outside a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// Nothing.
    None,
    /// `.sat`: to [0, 1]; NaN becomes +0.
    Unit,
    /// `.relu`: negative results become +0; NaN stays the canonical NaN.
    Relu,
}

/// The modifiers of an arithmetic instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// `.rn .rz .rm .rp`.
    pub round: Round,
    /// `.ftz`: subnormal operands and results become zeros of their sign (f32, f16 only).
    pub flush: bool,
    /// `.sat`, `.relu`.
    pub clamp: Clamp,
}

impl Mode {
    /// `.rn` and nothing else.
    pub const RN: Self = Self { round: Round::NearestEven, flush: false, clamp: Clamp::None };
    /// `.rn.ftz`.
    pub const RN_FTZ: Self = Self { round: Round::NearestEven, flush: true, clamp: Clamp::None };
}

/// The modifiers of `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// `.ftz`.
    pub flush: bool,
    /// `.NaN`: NaN if any operand is NaN. Without it a NaN operand is ignored.
    pub propagate_nan: bool,
    /// `.xorsign.abs`: compare magnitudes, sign the result with the exclusive or of both signs.
    pub xorsign_abs: bool,
}

impl Selection {
    /// No modifier.
    pub const PLAIN: Self = Self { flush: false, propagate_nan: false, xorsign_abs: false };
}

/// Smaller or larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// `min`.
    Min,
    /// `max`.
    Max,
}

/// Flushes an f32 subnormal to zero of its sign.
#[inline]
pub const fn flush_f32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

#[inline]
const fn operand_f32(bits: u32, mode: Mode) -> u32 {
    if mode.flush { flush_f32(bits) } else { bits }
}

#[inline]
const fn is_nan_f32(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

/// Applies flushing, clamping and the canonical NaN to a rounded f32 result.
#[inline]
pub fn finish_f32(bits: u32, mode: Mode) -> u32 {
    let bits = if is_nan_f32(bits) { NAN_F32 } else { operand_f32(bits, mode) };
    match mode.clamp {
        Clamp::None => bits,
        Clamp::Unit => {
            if bits >> 31 != 0 || bits == NAN_F32 {
                0
            } else {
                bits.min(ONE_F32)
            }
        }
        Clamp::Relu => {
            if bits >> 31 != 0 {
                0
            } else {
                bits
            }
        }
    }
}

/// The sum of two f64 rounded to odd: the nearest representable value on the side of zero, with its
/// last bit set when the sum was inexact. The error of the native sum is exact (Knuth's two-sum), so
/// it says whether, and to which side, the native rounding went. Requires that no overflow occurs.
#[inline]
pub(crate) fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    if error == 0.0 || error.is_nan() || bits & 1 == 1 {
        return sum;
    }
    let outwards = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if outwards { bits + 1 } else { bits - 1 })
}

/// Rounds an odd-rounded (or exact) f64 to f32.
#[inline]
fn round_f32(x: f64, round: Round) -> u32 {
    if round == Round::NearestEven || !x.is_finite() {
        return nearest(x).to_bits();
    }
    low32(Format::F32.encode_f64(x.to_bits(), round))
}

/// Exact cancellation gives +0, or -0 when rounding down; equal signs keep theirs.
#[inline]
fn signed_zero(sum: f64, a: f64, b: f64, round: Round) -> f64 {
    let opposite = a.is_sign_negative() != b.is_sign_negative();
    if sum == 0.0 && opposite && round == Round::Down { -0.0 } else { sum }
}

#[inline]
fn wide(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// `add{.rnd}{.ftz}{.sat}.f32`.
#[inline]
pub fn add_f32(a: u32, b: u32, mode: Mode) -> u32 {
    let (a, b) = (operand_f32(a, mode), operand_f32(b, mode));
    let sum = if mode.round == Round::NearestEven {
        (f32::from_bits(a) + f32::from_bits(b)).to_bits()
    } else {
        let (x, y) = (wide(a), wide(b));
        round_f32(signed_zero(add_to_odd(x, y), x, y, mode.round), mode.round)
    };
    finish_f32(sum, mode)
}

/// `sub{.rnd}{.ftz}{.sat}.f32`.
#[inline]
pub fn sub_f32(a: u32, b: u32, mode: Mode) -> u32 {
    add_f32(a, b ^ 0x8000_0000, mode)
}

/// `mul{.rnd}{.ftz}{.sat}.f32`.
#[inline]
pub fn mul_f32(a: u32, b: u32, mode: Mode) -> u32 {
    let (a, b) = (operand_f32(a, mode), operand_f32(b, mode));
    let product = if mode.round == Round::NearestEven {
        (f32::from_bits(a) * f32::from_bits(b)).to_bits()
    } else {
        round_f32(wide(a) * wide(b), mode.round)
    };
    finish_f32(product, mode)
}

/// `fma.rnd{.ftz}{.sat}.f32` and `mad.rnd.f32`: one rounding.
#[inline]
pub fn fma_f32(a: u32, b: u32, c: u32, mode: Mode) -> u32 {
    let product = wide(operand_f32(a, mode)) * wide(operand_f32(b, mode));
    let c = wide(operand_f32(c, mode));
    let nearest = product + c;
    // Rounding twice to nearest goes wrong only where the first result is a midpoint of f32 numbers,
    // since the exact sum may have been to either side. Midpoints of subnormals look different.
    let midpoint = nearest.to_bits() & 0x1fff_ffff == 0x1000_0000;
    if mode.round == Round::NearestEven
        && !midpoint
        && nearest.abs() >= f64::from(f32::MIN_POSITIVE)
    {
        return finish_f32(lossy::nearest(nearest).to_bits(), mode);
    }
    let sum = signed_zero(add_to_odd(product, c), product, c, mode.round);
    finish_f32(round_f32(sum, mode.round), mode)
}

/// `div.rnd{.ftz}.f32`: correctly rounded.
#[inline]
pub fn div_f32(a: u32, b: u32, mode: Mode) -> u32 {
    let (a, b) = (operand_f32(a, mode), operand_f32(b, mode));
    let quotient = if mode.round == Round::NearestEven {
        (f32::from_bits(a) / f32::from_bits(b)).to_bits()
    } else {
        let value = exact::divide(Format::F32.decode(a.into()), Format::F32.decode(b.into()));
        low32(Format::F32.encode(value, mode.round, Overflow::Ieee))
    };
    finish_f32(quotient, mode)
}

/// `rcp.rnd{.ftz}.f32`: correctly rounded.
#[inline]
pub fn rcp_f32(a: u32, mode: Mode) -> u32 {
    div_f32(ONE_F32, a, mode)
}

/// `sqrt.rnd{.ftz}.f32`: correctly rounded.
#[inline]
pub fn sqrt_f32(a: u32, mode: Mode) -> u32 {
    let a = operand_f32(a, mode);
    let root = if mode.round == Round::NearestEven {
        f32::from_bits(a).sqrt().to_bits()
    } else {
        let value = exact::square_root(Format::F32.decode(a.into()));
        low32(Format::F32.encode(value, mode.round, Overflow::Ieee))
    };
    finish_f32(root, mode)
}

/// Orders f32 and f64 magnitudes and signs alike: -0 is less than +0 (PTX ISA, "min", "max").
macro_rules! extreme {
    ($name:ident, $bits:ty, $low:path, $format:expr, $nan:expr, $doc:literal) => {
        #[doc = $doc]
        #[inline]
        pub fn $name(which: Extreme, a: $bits, b: $bits, selection: Selection) -> $bits {
            const SIGN: $bits = $low($format.sign_bit());
            let flush = |x: $bits| if selection.flush { $low($format.flush(x.into())) } else { x };
            let (a, b) = (flush(a), flush(b));
            let sign = (a ^ b) & SIGN;
            let (a, b) = if selection.xorsign_abs { (a & !SIGN, b & !SIGN) } else { (a, b) };
            let (nan_a, nan_b) = ($format.is_nan(a.into()), $format.is_nan(b.into()));
            if nan_a && nan_b || selection.propagate_nan && (nan_a || nan_b) {
                return $nan(b);
            }
            // Sign-magnitude to an ordered unsigned key.
            let key = |x: $bits| if x & SIGN != 0 { !x } else { x | SIGN };
            let take_a = nan_b
                || !nan_a
                    && match which {
                        Extreme::Min => key(a) <= key(b),
                        Extreme::Max => key(a) >= key(b),
                    };
            let chosen = if take_a { a } else { b };
            if selection.xorsign_abs { chosen | sign } else { chosen }
        }
    };
}
pub(crate) use extreme;

extreme!(
    extreme_f32,
    u32,
    low32,
    Format::F32,
    (|_| NAN_F32),
    "`min` and `max`, all modifiers, `.f32`: a NaN operand is ignored unless `.NaN`, two give the canonical NaN, -0 < +0."
);
extreme!(
    extreme_f64,
    u64,
    std::convert::identity,
    Format::F64,
    (|b| b | QUIET_F64),
    "`min` and `max` `.f64`, with the rules of [`extreme_f32`]; of two NaN the second is the result."
);

/// Three-operand `min` and `max` `.f32` (PTX ISA 8.8): the two-operand form applied twice.
#[inline]
pub fn extreme3_f32(which: Extreme, a: u32, b: u32, c: u32, selection: Selection) -> u32 {
    extreme_f32(which, extreme_f32(which, a, b, selection), c, selection)
}

/// `abs{.ftz}.f32`; NaN becomes the canonical one.
#[inline]
pub fn abs_f32(a: u32, flush: bool) -> u32 {
    if is_nan_f32(a) {
        return NAN_F32;
    }
    let a = if flush { flush_f32(a) } else { a };
    a & 0x7fff_ffff
}

/// `neg{.ftz}.f32`; NaN becomes the canonical one.
#[inline]
pub fn neg_f32(a: u32, flush: bool) -> u32 {
    if is_nan_f32(a) {
        return NAN_F32;
    }
    let a = if flush { flush_f32(a) } else { a };
    a ^ 0x8000_0000
}

/// `copysign.f32`: the sign of `a` with the magnitude of `b`.
#[inline]
pub const fn copysign_f32(a: u32, b: u32) -> u32 {
    a & 0x8000_0000 | b & 0x7fff_ffff
}

/// `copysign.f64`: the sign of `a` with the magnitude of `b`.
#[inline]
pub const fn copysign_f64(a: u64, b: u64) -> u64 {
    a & 1 << 63 | b & !(1 << 63)
}

/// The property that `testp` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// `.finite`: neither infinite nor NaN.
    Finite,
    /// `.infinite`.
    Infinite,
    /// `.number`: not NaN.
    Number,
    /// `.notanumber`.
    NotANumber,
    /// `.normal`: neither subnormal, infinite nor NaN. The manual leaves zero open; on an H200 it
    /// counts as normal.
    Normal,
    /// `.subnormal`: not zero, below the smallest normal number.
    Subnormal,
}

/// `testp.f32` and `testp.f64`.
pub fn test_property(format: Format, bits: u64, property: Property) -> bool {
    let magnitude = bits & format.magnitude_mask();
    let nan = format.is_nan(bits);
    let infinite = magnitude == format.exponent_mask();
    let low_field = magnitude & format.exponent_mask() == 0;
    match property {
        Property::Finite => !nan && !infinite,
        Property::Infinite => infinite,
        Property::Number => !nan,
        Property::NotANumber => nan,
        Property::Normal => !nan && !infinite && (!low_field || magnitude == 0),
        Property::Subnormal => low_field && magnitude != 0,
    }
}

/// The NaN that an invalid f64 operation produces.
pub const NAN_F64: u64 = 0xfff8_0000_0000_0000;

/// The bit that makes an f64 NaN quiet.
const QUIET_F64: u64 = 1 << 51;

/// The NaN result of an f64 operation: the first NaN among the operands made quiet, or, for an
/// invalid operation on numbers, [`NAN_F64`]. Callers list the operands in the order of precedence
/// seen on an H200: b, a for sums and products, b, c, a for `fma`, a, b for quotients.
#[inline]
pub fn nan_f64(operands: &[u64]) -> u64 {
    operands.iter().find(|bits| Format::F64.is_nan(**bits)).map_or(NAN_F64, |bits| bits | QUIET_F64)
}

#[inline]
fn finish_f64(bits: u64, operands: &[u64], mode: Mode) -> u64 {
    if Format::F64.is_nan(bits) {
        return if mode.clamp == Clamp::Unit { 0 } else { nan_f64(operands) };
    }
    match mode.clamp {
        Clamp::None => bits,
        Clamp::Unit => {
            if bits >> 63 != 0 {
                0
            } else {
                bits.min(ONE_F64)
            }
        }
        Clamp::Relu => {
            if bits >> 63 != 0 {
                0
            } else {
                bits
            }
        }
    }
}

fn exact_f64(value: super::format::Value, round: Round) -> u64 {
    Format::F64.encode(value, round, Overflow::Ieee)
}

/// `add{.rnd}.f64`.
#[inline]
pub fn add_f64(a: u64, b: u64, mode: Mode) -> u64 {
    let sum = if mode.round == Round::NearestEven {
        (f64::from_bits(a) + f64::from_bits(b)).to_bits()
    } else {
        exact_f64(exact::add(Format::F64.decode(a), Format::F64.decode(b), mode.round), mode.round)
    };
    finish_f64(sum, &[b, a], mode)
}

/// `sub{.rnd}.f64`.
#[inline]
pub fn sub_f64(a: u64, b: u64, mode: Mode) -> u64 {
    let flipped = if Format::F64.is_nan(b) { b } else { b ^ 1 << 63 };
    add_f64(a, flipped, mode)
}

/// `mul{.rnd}.f64`.
#[inline]
pub fn mul_f64(a: u64, b: u64, mode: Mode) -> u64 {
    let product = if mode.round == Round::NearestEven {
        (f64::from_bits(a) * f64::from_bits(b)).to_bits()
    } else {
        exact_f64(exact::multiply(Format::F64.decode(a), Format::F64.decode(b)), mode.round)
    };
    finish_f64(product, &[b, a], mode)
}

/// `fma.rnd.f64`: one rounding.
#[inline]
pub fn fma_f64(a: u64, b: u64, c: u64, mode: Mode) -> u64 {
    let sum = if mode.round == Round::NearestEven {
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    } else {
        let [left, right, added] = [a, b, c].map(|bits| Format::F64.decode(bits));
        exact_f64(exact::fused(left, right, added, mode.round), mode.round)
    };
    finish_f64(sum, &[b, c, a], mode)
}

/// `div.rnd.f64`.
#[inline]
pub fn div_f64(a: u64, b: u64, mode: Mode) -> u64 {
    let quotient = if mode.round == Round::NearestEven {
        (f64::from_bits(a) / f64::from_bits(b)).to_bits()
    } else {
        exact_f64(exact::divide(Format::F64.decode(a), Format::F64.decode(b)), mode.round)
    };
    finish_f64(quotient, &[a, b], mode)
}

/// `rcp.rnd.f64`.
#[inline]
pub fn rcp_f64(a: u64, mode: Mode) -> u64 {
    div_f64(ONE_F64, a, mode)
}

/// `sqrt.rnd.f64`.
#[inline]
pub fn sqrt_f64(a: u64, mode: Mode) -> u64 {
    let root = if mode.round == Round::NearestEven {
        f64::from_bits(a).sqrt().to_bits()
    } else {
        exact_f64(exact::square_root(Format::F64.decode(a)), mode.round)
    };
    finish_f64(root, &[a], mode)
}

/// `abs.f64`; a NaN is made quiet and keeps its sign.
#[inline]
pub const fn abs_f64(a: u64) -> u64 {
    if Format::F64.is_nan(a) { a | QUIET_F64 } else { a & !(1 << 63) }
}

/// `neg.f64`; a NaN is made quiet and keeps its sign.
#[inline]
pub const fn neg_f64(a: u64) -> u64 {
    if Format::F64.is_nan(a) { a | QUIET_F64 } else { a ^ 1 << 63 }
}
