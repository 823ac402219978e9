//! `cvt` between any two scalar types, and the packed forms. PTX ISA, "Data Movement and Conversion
//! Instructions: cvt".

use super::format::{Format, Number, Overflow, Round, Special, Value, round_bits};
use super::lossy::{
    low8, low16, low32, low64, nearest_of_s32, nearest_of_u32, whole_s32, whole_u32,
};
use super::narrow::{self, Half};
use super::scalar::{Clamp, NAN_F32, finish_f32, flush_f32};

/// A type that `cvt` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `.u8`
    U8,
    /// `.u16`
    U16,
    /// `.u32`
    U32,
    /// `.u64`
    U64,
    /// `.s8`
    S8,
    /// `.s16`
    S16,
    /// `.s32`
    S32,
    /// `.s64`
    S64,
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.tf32`, a 32-bit register whose low 13 bits are zero.
    Tf32,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
}

/// What kind of type it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer { bits: u32, signed: bool },
    Float(Format),
}

impl Type {
    #[inline]
    const fn kind(self) -> Kind {
        match self {
            Self::U8 => Kind::Integer { bits: 8, signed: false },
            Self::U16 => Kind::Integer { bits: 16, signed: false },
            Self::U32 => Kind::Integer { bits: 32, signed: false },
            Self::U64 => Kind::Integer { bits: 64, signed: false },
            Self::S8 => Kind::Integer { bits: 8, signed: true },
            Self::S16 => Kind::Integer { bits: 16, signed: true },
            Self::S32 => Kind::Integer { bits: 32, signed: true },
            Self::S64 => Kind::Integer { bits: 64, signed: true },
            Self::F16 => Kind::Float(Format::F16),
            Self::Bf16 => Kind::Float(Format::BF16),
            Self::Tf32 => Kind::Float(Format::TF32),
            Self::F32 => Kind::Float(Format::F32),
            Self::F64 => Kind::Float(Format::F64),
        }
    }

    /// Width of the register part that holds it, in bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 8,
            Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::U32 | Self::S32 | Self::Tf32 | Self::F32 => 32,
            Self::U64 | Self::S64 | Self::F64 => 64,
        }
    }

    /// Whether it is a signed integer type, whose values extend by sign into a wider register.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Integer { signed: true, .. })
    }
}

/// The modifiers of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// `.rn .rz .rm .rp .rna`, or the rounding of `.rni .rzi .rmi .rpi`.
    pub round: Round,
    /// `.rni .rzi .rmi .rpi` between float types: the result is an integer's value.
    pub integral: bool,
    /// `.ftz`: f32 subnormals, on either side, become zeros of their sign.
    pub flush: bool,
    /// `.sat` (between integers: clamp to the destination's range) or `.relu`.
    pub clamp: Clamp,
    /// `.satfinite`.
    pub overflow: Overflow,
}

impl Conversion {
    /// A rounding alone.
    pub const fn rounded(round: Round) -> Self {
        Self { round, integral: false, flush: false, clamp: Clamp::None, overflow: Overflow::Ieee }
    }

    /// `.rn`.
    pub const RN: Self = Self::rounded(Round::NearestEven);
    /// `.rzi` (or `.rz`).
    pub const RZ: Self = Self::rounded(Round::Zero);
}

/// The low `bits` bits, all ones.
#[inline]
const fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Reads an integer type out of a container, whose higher bits are ignored.
#[inline]
const fn integer_value(bits: u64, width: u32, signed: bool) -> i128 {
    if signed {
        let unused = 64 - width;
        ((bits << unused).cast_signed() >> unused) as i128
    } else {
        (bits & mask(width)) as i128
    }
}

/// The destination's bits of `clamp(value)`.
#[inline]
fn clamp_to(value: i128, width: u32, signed: bool) -> u64 {
    let (low, high) = if signed {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, i128::from(mask(width)))
    };
    low64(value.clamp(low, high).cast_unsigned()) & mask(width)
}

/// `cvt.dst.src`: the bits of the converted value in the low bits of the result, the rest zero.
///
/// Float to integer saturates to the destination's range. NaN becomes 0 when neither the source is
/// f64 nor the destination 64 bits wide, otherwise only the destination's top bit is set (PTX ISA
/// 9.0, cvt, "Floating Point Notes").
#[inline]
pub fn convert(dst: Type, src: Type, bits: u64, mode: Conversion) -> u64 {
    let plain = mode.clamp == Clamp::None
        && !mode.flush
        && !mode.integral
        && mode.overflow == Overflow::Ieee;
    // The conversions of inner loops, first and with the host's own instructions.
    if plain {
        match (dst, src, mode.round) {
            (Type::F32, Type::F16, _) => return finish_nan(narrow::widen_f16(low16(bits))),
            (Type::F32, Type::Bf16, _) => {
                return u64::from(narrow::widen_bf16(low16(bits)).to_bits());
            }
            (Type::F16, Type::F32, Round::NearestEven) => {
                return narrow::narrow_f16(f32::from_bits(low32(bits))).into();
            }
            (Type::Bf16, Type::F32, Round::NearestEven) => {
                return narrow::narrow_bf16(f32::from_bits(low32(bits))).into();
            }
            (Type::F32, Type::S32, Round::NearestEven) => {
                return nearest_of_s32(low32(bits).cast_signed()).to_bits().into();
            }
            (Type::F32, Type::U32, Round::NearestEven) => {
                return nearest_of_u32(low32(bits)).to_bits().into();
            }
            (Type::S32, Type::F32, Round::Zero) => {
                return whole_s32(f32::from_bits(low32(bits))).cast_unsigned().into();
            }
            (Type::U32, Type::F32, Round::Zero) => {
                return whole_u32(f32::from_bits(low32(bits))).into();
            }
            _ => {}
        }
    }
    match (dst.kind(), src.kind()) {
        (
            Kind::Integer { bits: width, signed },
            Kind::Integer { bits: from, signed: from_signed },
        ) => {
            let value = integer_value(bits, from, from_signed);
            if mode.clamp == Clamp::Unit {
                clamp_to(value, width, signed)
            } else {
                low64(value.cast_unsigned()) & mask(width)
            }
        }
        (Kind::Float(format), Kind::Integer { bits: from, signed }) => {
            let value = integer_value(bits, from, signed);
            let number =
                Number { negative: value < 0, exponent: 0, significand: value.unsigned_abs() };
            place(dst, finish(format, Value::Finite(number), mode), mode)
        }
        (Kind::Integer { bits: width, signed }, Kind::Float(format)) => {
            let bits = source(src, bits, mode);
            match format.decode(bits) {
                Value::Nan if width == 64 || src == Type::F64 => 1 << (width - 1),
                Value::Nan => 0,
                Value::Infinite { negative } => {
                    clamp_to(if negative { i128::MIN } else { i128::MAX }, width, signed)
                }
                Value::Finite(number) => clamp_to(integral(number, mode.round), width, signed),
            }
        }
        (Kind::Float(to), Kind::Float(from)) => {
            let original = bits;
            let bits = source(src, bits, mode);
            if from.is_nan(bits) && mode.clamp != Clamp::Unit {
                return convert_nan(dst, src, original, mode);
            }
            let value = match from.decode(bits) {
                Value::Finite(number) if mode.integral => {
                    let whole = integral(number, mode.round);
                    // -0.3 and -0.0 keep their sign when they become zero.
                    Value::Finite(if fits_integral(number) {
                        Number {
                            negative: number.negative,
                            exponent: 0,
                            significand: whole.unsigned_abs(),
                        }
                    } else {
                        number
                    })
                }
                value @ (Value::Nan | Value::Infinite { .. } | Value::Finite(_)) => value,
            };
            place(dst, finish(to, value, mode), mode)
        }
    }
}

/// NaN between float types. To and from f64 the payload travels as IEEE 754 proposes, cut or extended
/// at its low end, and is made quiet; elsewhere the result is canonical. The manual leaves this open
/// but for the canonical f32 NaN (PTX ISA, "Floating Point Instructions"); these are the patterns an
/// H200 gives, `.rna.tf32` and `.f32.bf16`, which only cut or extend the register, included.
fn convert_nan(dst: Type, src: Type, bits: u64, mode: Conversion) -> u64 {
    let (Kind::Float(to), Kind::Float(from)) = (dst.kind(), src.kind()) else { return 0 };
    match (dst, src) {
        (Type::Tf32, _) if mode.overflow == Overflow::Saturate => return NAN_F32.into(),
        (Type::Tf32, Type::F32) if mode.round == Round::NearestAway => return bits & 0xffff_e000,
        (Type::Tf32, _) => return 0x7fff_e000,
        (Type::F32, Type::Bf16) => return (bits & 0xffff) << 16,
        (Type::F64, Type::F32) if mode.flush => return 0x7fff_ffff_e000_0000,
        (Type::F64, _) | (_, Type::F64) => {}
        _ => return to.canonical_nan(),
    }
    let (wide, narrow) = (to.mantissa_bits, from.mantissa_bits);
    let payload = bits & from.mantissa_mask();
    let payload =
        if wide >= narrow { payload << (wide - narrow) } else { payload >> (narrow - wide) };
    let quiet = 1 << (to.mantissa_bits - 1);
    let sign = if bits & from.sign_bit() != 0 { to.sign_bit() } else { 0 };
    sign | to.exponent_mask() | quiet | payload
}

/// A widened value with the canonical NaN.
#[inline]
fn finish_nan(x: f32) -> u64 {
    u64::from(if x.is_nan() { NAN_F32 } else { x.to_bits() })
}

/// The source bits in the format's own place, flushed where asked.
#[inline]
fn source(src: Type, bits: u64, mode: Conversion) -> u64 {
    if src == Type::Tf32 { (bits & mask(32)) >> 13 } else { flushed(src, bits, mode) }
}

/// An f32 flushed where asked; everything else as it is.
#[inline]
fn flushed(ty: Type, bits: u64, mode: Conversion) -> u64 {
    if ty == Type::F32 && mode.flush { flush_f32(low32(bits)).into() } else { bits }
}

/// Whether the number is small enough to have a fraction, so that [`integral`] is exact.
fn fits_integral(number: Number) -> bool {
    number.exponent < 0
}

/// The number rounded to an integer, limited to a little over 64 bits.
fn integral(number: Number, round: Round) -> i128 {
    let magnitude = if number.exponent >= 0 {
        // A significand of at most 64 bits, so that a shift of 62 stays within i128.
        if number.is_zero() {
            0
        } else if number.exponent > 62 {
            i128::MAX
        } else {
            (number.significand << number.exponent).cast_signed()
        }
    } else {
        round_bits(number.significand, number.exponent.unsigned_abs(), number.negative, round)
            .cast_signed()
    };
    if number.negative { -magnitude } else { magnitude }
}

/// Rounds to the destination and clamps.
#[inline]
fn finish(format: Format, value: Value, mode: Conversion) -> u64 {
    let bits = format.encode(value, mode.round, mode.overflow);
    if matches!(value, Value::Nan) {
        return match mode.clamp {
            Clamp::Unit => 0,
            Clamp::None | Clamp::Relu => bits,
        };
    }
    let negative = bits & format.sign_bit() != 0;
    match mode.clamp {
        Clamp::None => bits,
        Clamp::Relu => {
            if negative {
                0
            } else {
                bits
            }
        }
        Clamp::Unit => {
            let one = ((1 << (format.exponent_bits - 1)) - 1) << format.mantissa_bits;
            if negative { 0 } else { bits.min(one) }
        }
    }
}

/// Moves the format's bits to their place in the register and flushes an f32 result.
#[inline]
fn place(dst: Type, bits: u64, mode: Conversion) -> u64 {
    if dst == Type::Tf32 { bits << 13 } else { flushed(dst, bits, mode) }
}

/// `cvt.f16x2.f32` and `cvt.bf16x2.f32`: the first source, `high`, goes to the upper half.
#[inline]
pub fn pack_halves(half: Half, high: u32, low: u32, mode: Conversion) -> u32 {
    let dst = match half {
        Half::F16 => Type::F16,
        Half::Bf16 => Type::Bf16,
    };
    let one = |bits: u32| low16(convert(dst, Type::F32, bits.into(), mode));
    narrow::pack(one(low), one(high))
}

/// The types narrower than 16 bits that exist in packed pairs only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minifloat {
    /// `.e4m3`
    E4m3,
    /// `.e5m2`
    E5m2,
    /// `.e3m2`, in the low six bits of a byte
    E3m2,
    /// `.e2m3`, in the low six bits of a byte
    E2m3,
    /// `.e2m1`, four bits
    E2m1,
}

impl Minifloat {
    /// Its field widths.
    #[inline]
    pub const fn format(self) -> Format {
        match self {
            Self::E4m3 => Format::E4M3,
            Self::E5m2 => Format::E5M2,
            Self::E3m2 => Format::E3M2,
            Self::E2m3 => Format::E2M3,
            Self::E2m1 => Format::E2M1,
        }
    }

    /// Bits from one element of a pair to the next.
    #[inline]
    pub const fn stride_bits(self) -> u32 {
        match self {
            Self::E4m3 | Self::E5m2 | Self::E3m2 | Self::E2m3 => 8,
            Self::E2m1 => 4,
        }
    }

    /// The value as f32, exactly; NaN becomes the canonical one. Bits above the type's are ignored.
    #[inline]
    pub const fn widen(self, bits: u8) -> f32 {
        let format = self.format();
        let bits = bits as u32;
        let magnitude = bits & low32(format.magnitude_mask());
        let bias = (1 << (format.exponent_bits - 1)) - 1;
        let special = match format.special {
            Special::Ieee if magnitude > low32(format.exponent_mask()) => NAN_F32,
            Special::Ieee if magnitude == low32(format.exponent_mask()) => 0x7f80_0000,
            Special::NanOnly if magnitude == low32(format.magnitude_mask()) => NAN_F32,
            Special::Ieee | Special::NanOnly | Special::FiniteOnly => 0,
        };
        if special == NAN_F32 {
            return f32::from_bits(NAN_F32);
        }
        let sign = (bits & low32(format.sign_bit())) << (32 - format.bits());
        f32::from_bits(
            sign | special | narrow::widen_magnitude(magnitude, format.mantissa_bits, bias),
        )
    }
}

/// One f32, f16 or bf16 value to a minifloat under `.satfinite`: infinities and large values become
/// the largest finite value of their sign; NaN becomes the NaN 0x7f, or the largest positive value
/// where the type has no NaN.
pub fn narrow_mini(mini: Minifloat, src: Format, bits: u64, round: Round, clamp: Clamp) -> u8 {
    let mode = Conversion { clamp, overflow: Overflow::Saturate, ..Conversion::rounded(round) };
    low8(finish(mini.format(), src.decode(bits), mode))
}

/// `cvt.rn.satfinite{.relu}.MINIx2.f32`: `high` becomes the upper element.
pub fn pack_minis(mini: Minifloat, high: u32, low: u32, clamp: Clamp) -> u16 {
    let one = |bits: u32| {
        u16::from(narrow_mini(mini, Format::F32, bits.into(), Round::NearestEven, clamp))
    };
    one(low) | one(high) << mini.stride_bits()
}

/// `cvt.rn.satfinite{.relu}.MINIx2.f16x2` (or `.bf16x2`): halves keep their order.
pub fn pack_minis_from_halves(mini: Minifloat, half: Half, pair: u32, clamp: Clamp) -> u16 {
    let one = |bits: u16| {
        u16::from(narrow_mini(mini, half.format(), bits.into(), Round::NearestEven, clamp))
    };
    let (low, high) = narrow::unpack(pair);
    one(low) | one(high) << mini.stride_bits()
}

/// `cvt.rn{.relu}.f16x2.MINIx2` (or `.bf16x2`): exact, elements keep their order.
pub fn unpack_minis(mini: Minifloat, half: Half, pair: u16, clamp: Clamp) -> u32 {
    let mode = Conversion { clamp, ..Conversion::RN };
    let element = (1 << mini.format().bits()) - 1;
    let one = |bits: u16| {
        low16(finish(half.format(), mini.format().decode(u64::from(bits & element)), mode))
    };
    narrow::pack(one(pair), one(pair >> mini.stride_bits()))
}

/// One value to `.ue8m0`, a biased power of two: the exponent of the magnitude, rounded `.rz` or
/// `.rp`; the sign is ignored. 0xff is NaN; an infinity gives 0xfe under `.satfinite`, else NaN.
pub fn narrow_ue8m0(bits: u32, round: Round, overflow: Overflow) -> u8 {
    let field = bits >> 23 & 0xff;
    let mantissa = bits & 0x7f_ffff;
    if field == 0xff {
        return if mantissa == 0 && overflow == Overflow::Saturate { 0xfe } else { 0xff };
    }
    // Code 0 stands for 2^-127, the f32 subnormal 0x400000.
    let above = if field == 0 { mantissa > 0x40_0000 } else { mantissa != 0 };
    let code = field + u32::from(round == Round::Up && above);
    if code == 0xff && overflow == Overflow::Saturate { 0xfe } else { low8(code.into()) }
}

/// `cvt.{rz,rp}{.satfinite}.ue8m0x2.f32`: `high` becomes the upper byte.
pub fn pack_ue8m0(high: u32, low: u32, round: Round, overflow: Overflow) -> u16 {
    u16::from(narrow_ue8m0(low, round, overflow))
        | u16::from(narrow_ue8m0(high, round, overflow)) << 8
}

/// `cvt.{rz,rp}{.satfinite}.ue8m0x2.bf16x2`.
pub fn pack_ue8m0_from_bf16(pair: u32, round: Round, overflow: Overflow) -> u16 {
    pack_ue8m0(pair & 0xffff_0000, pair << 16, round, overflow)
}

/// The power of two of a `.ue8m0` code, as f32; NaN for 0xff.
pub fn widen_ue8m0(code: u8) -> f32 {
    match code {
        0xff => f32::from_bits(NAN_F32),
        0 => f32::from_bits(0x40_0000),
        _ => f32::from_bits(u32::from(code) << 23),
    }
}

/// `cvt.rn.bf16x2.ue8m0x2`: exact.
pub fn unpack_ue8m0(pair: u16) -> u32 {
    let one = |code: u8| narrow::narrow_bf16(widen_ue8m0(code));
    let [low, high] = pair.to_le_bytes();
    narrow::pack(one(low), one(high))
}

/// `cvt.pack.sat.dst.s32{.b32}`: `a` and `b` saturated to `dst`, `b` in the lowest bits, `c` shifted
/// up above them. `dst` is a 16, 8 bit type; the sub-byte types are given by width and sign.
/// PTX ISA, "cvt.pack".
pub fn pack_saturated(a: u32, b: u32, c: u32, width_bits: u32, signed: bool) -> u32 {
    let one = |x: u32| low32(clamp_to(i128::from(x.cast_signed()), width_bits, signed));
    let pair = one(b) | one(a) << width_bits;
    if width_bits >= 16 { pair } else { c << (2 * width_bits) | pair }
}

/// An f32 with `.ftz` and the canonical NaN applied, as `cvt.f32.f32` leaves it.
#[inline]
pub fn canonical_f32(bits: u32, flush: bool) -> u32 {
    finish_f32(bits, super::scalar::Mode { flush, ..super::scalar::Mode::RN })
}
