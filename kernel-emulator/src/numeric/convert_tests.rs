//! `cvt` against its definition.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "drawn and counted values are cut to the width under test"
)]
#![expect(clippy::float_cmp, reason = "exact arithmetic is compared exactly")]

use super::convert::{
    Conversion, Minifloat, Type, convert, narrow_ue8m0, pack_halves, pack_minis,
    pack_minis_from_halves, pack_saturated, pack_ue8m0, pack_ue8m0_from_bf16, unpack_minis,
    unpack_ue8m0,
};
use super::format::{Format, Overflow, Round};
use super::narrow::Half;
use super::oracle::{self, Random, Real};
use super::scalar::Clamp;

const ROUNDS: [Round; 4] = [Round::NearestEven, Round::Zero, Round::Down, Round::Up];
const INTS: [Type; 8] =
    [Type::U8, Type::U16, Type::U32, Type::U64, Type::S8, Type::S16, Type::S32, Type::S64];
const FLOATS: [(Type, Format); 4] = [
    (Type::F16, Format::F16),
    (Type::Bf16, Format::BF16),
    (Type::F32, Format::F32),
    (Type::F64, Format::F64),
];

/// The least and greatest value of an integer type.
fn range(ty: Type) -> (i128, i128) {
    let width = ty.bits();
    if ty.is_signed() {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    }
}

fn as_bits(value: i128, ty: Type) -> u64 {
    (value as u128 % (1 << ty.bits())) as u64
}

fn float(ty: Type, bits: u64) -> f64 {
    if ty == Type::F16 {
        Half::F16.widen(bits as u16).into()
    } else if ty == Type::Bf16 {
        Half::Bf16.widen(bits as u16).into()
    } else if ty == Type::F32 {
        f32::from_bits(bits as u32).into()
    } else {
        f64::from_bits(bits)
    }
}

/// Float to integer, by the host's floor and its relatives on the exactly widened value.
fn to_integer(dst: Type, src: Type, bits: u64, round: Round) -> u64 {
    let x = float(src, bits);
    if x.is_nan() {
        // PTX ISA 9.0, cvt: zero, unless the source is f64 or the destination has 64 bits.
        return if src == Type::F64 || dst.bits() == 64 { 1 << (dst.bits() - 1) } else { 0 };
    }
    let whole = match round {
        Round::NearestEven => x.round_ties_even(),
        Round::NearestAway => x.round(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
    };
    let (low, high) = range(dst);
    // `as` saturates, and i128 holds every clamped value.
    as_bits((whole as i128).clamp(low, high), dst)
}

#[test]
fn every_half_converts_to_every_integer() {
    for bits in 0..=u16::MAX {
        for src in [Type::F16, Type::Bf16] {
            for dst in INTS {
                for round in ROUNDS {
                    let actual = convert(dst, src, bits.into(), Conversion::rounded(round));
                    assert_eq!(
                        actual,
                        to_integer(dst, src, bits.into(), round),
                        "{src:?} {bits:04x} {dst:?} {round:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn wide_floats_convert_to_every_integer() {
    let mut random = Random::new(11);
    for (src, format) in [(Type::F32, Format::F32), (Type::F64, Format::F64)] {
        for _ in 0..100_000 {
            // Magnitudes around 2^-2 to 2^70, and anything.
            let bits = if random.below(4) == 0 {
                random.pattern(format)
            } else {
                let bias = (1 << (format.exponent_bits - 1)) - 1;
                let field = bias - 2 + random.below(72);
                random.pattern(format) & !format.exponent_mask() | field << format.mantissa_bits
            };
            for dst in INTS {
                for round in ROUNDS {
                    let actual = convert(dst, src, bits, Conversion::rounded(round));
                    assert_eq!(
                        actual,
                        to_integer(dst, src, bits, round),
                        "{src:?} {bits:x} {dst:?} {round:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn integers_convert_to_every_float() {
    let mut random = Random::new(12);
    for src in INTS {
        for i in 0..20_000u64 {
            let raw = match i {
                0 => 0,
                1 => 1 << (src.bits() - 1),
                2 => u64::MAX,
                _ => random.next() >> random.below(64),
            };
            let raw = as_bits(raw.into(), src);
            let value = if src.is_signed() && raw >> (src.bits() - 1) == 1 {
                i128::from(raw) - (1 << src.bits())
            } else {
                i128::from(raw)
            };
            for (dst, format) in FLOATS {
                for round in ROUNDS {
                    let actual = convert(dst, src, raw, Conversion::rounded(round));
                    assert_eq!(
                        actual,
                        oracle::round(format, value, 0, false, round),
                        "{src:?} {value} {dst:?} {round:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn floats_convert_to_every_float() {
    let mut random = Random::new(13);
    for (src, from) in FLOATS {
        for (dst, to) in [FLOATS[0], FLOATS[1], FLOATS[2], FLOATS[3]] {
            for _ in 0..10_000 {
                let bits = random.pattern(from);
                for round in ROUNDS {
                    let actual = convert(dst, src, bits, Conversion::rounded(round));
                    match oracle::value(from, bits) {
                        Real::Nan => assert!(to.is_nan(actual)),
                        Real::Infinite(negative) => {
                            assert_eq!(
                                actual,
                                to.exponent_mask() | if negative { to.sign_bit() } else { 0 }
                            );
                        }
                        Real::Number { negative, units, scale } => {
                            let expected = oracle::round(to, units, scale, negative, round);
                            assert_eq!(actual, expected, "{src:?} {bits:x} {dst:?} {round:?}");
                        }
                    }
                }
            }
        }
    }
}

/// Patterns recorded on an H200: from, operand, to, result.
#[test]
fn nan_payloads_travel_as_on_the_device() {
    let recorded = [
        (Type::F16, 0x7c01, Type::F32, 0x7fff_ffff),
        (Type::F32, 0xff80_0001, Type::F16, 0x7fff),
        (Type::F32, 0xff80_0001, Type::Bf16, 0x7fff),
        (Type::Bf16, 0x7f81, Type::F32, 0x7f81_0000),
        (Type::F16, 0x7c01, Type::F64, 0x7ff8_0400_0000_0000),
        (Type::F32, 0xffc6_af9f, Type::F64, 0xfff8_d5f3_e000_0000),
        (Type::F32, 0x7ff2_2be5, Type::F64, 0x7ffe_457c_a000_0000),
        (Type::F64, 0xfff1_c902_bf46_af9f, Type::F32, 0xffce_4815),
        (Type::F64, 0x7ff0_e3f4_48f2_2be5, Type::F32, 0x7fc7_1fa2),
        (Type::F64, 0xfff1_c902_bf46_af9f, Type::F16, 0xfe72),
        (Type::F64, 0x7ff0_e3f4_48f2_2be5, Type::F16, 0x7e38),
        (Type::F64, 0x7ff0_e3f4_48f2_2be5, Type::F64, 0x7ff8_e3f4_48f2_2be5),
        (Type::F32, 0xffc6_af9f, Type::Tf32, 0x7fff_e000),
    ];
    for (src, operand, dst, expected) in recorded {
        assert_eq!(
            convert(dst, src, operand, Conversion::RN),
            expected,
            "{src:?} {operand:x} {dst:?}"
        );
    }
    let rna = Conversion::rounded(Round::NearestAway);
    assert_eq!(convert(Type::Tf32, Type::F32, 0xffc6_af9f, rna), 0xffc6_a000);
    let ftz = Conversion { flush: true, ..Conversion::RN };
    assert_eq!(convert(Type::F64, Type::F32, 0xffc6_af9f, ftz), 0x7fff_ffff_e000_0000);
}

#[test]
fn tf32_keeps_ten_bits() {
    let mut random = Random::new(14);
    for _ in 0..100_000 {
        let bits = random.pattern(Format::F32);
        for round in [Round::NearestAway, Round::NearestEven, Round::Zero] {
            let actual = convert(Type::Tf32, Type::F32, bits, Conversion::rounded(round));
            match oracle::value(Format::F32, bits) {
                // Recorded on an H200: .rna cuts the register, the others give one pattern.
                Real::Nan if round == Round::NearestAway => assert_eq!(actual, bits & 0xffff_e000),
                Real::Nan => assert_eq!(actual, 0x7fff_e000),
                Real::Infinite(_) => assert_eq!(actual, bits),
                Real::Number { negative, units, scale } => {
                    assert_eq!(
                        actual,
                        oracle::round(Format::TF32, units, scale, negative, round) << 13
                    );
                }
            }
        }
    }
    let satfinite =
        Conversion { overflow: Overflow::Saturate, ..Conversion::rounded(Round::NearestAway) };
    assert_eq!(convert(Type::Tf32, Type::F32, 0x7f80_0000, satfinite), 0x7f7f_e000);
    assert_eq!(convert(Type::Tf32, Type::F32, 0xff7f_ffff, satfinite), 0xff7f_e000);
    // The sources' low 13 bits do not exist.
    assert_eq!(convert(Type::F32, Type::Tf32, 0x3f80_1fff, Conversion::RN), 0x3f80_0000);
}

#[test]
fn integral_rounding_stays_in_the_format() {
    let mut random = Random::new(15);
    for _ in 0..200_000 {
        let bits = random.pattern(Format::F32) as u32;
        let x = f32::from_bits(bits);
        for (round, expected) in [
            (Round::NearestEven, x.round_ties_even()),
            (Round::Zero, x.trunc()),
            (Round::Down, x.floor()),
            (Round::Up, x.ceil()),
        ] {
            let mode = Conversion { integral: true, ..Conversion::rounded(round) };
            let actual = f32::from_bits(convert(Type::F32, Type::F32, bits.into(), mode) as u32);
            assert!(
                actual.to_bits() == expected.to_bits() || actual.is_nan() && x.is_nan(),
                "{x} {round:?}"
            );
            let wide = f64::from_bits(convert(Type::F64, Type::F64, f64::from(x).to_bits(), mode));
            assert!(wide == f64::from(expected) || wide.is_nan() && x.is_nan());
        }
    }
}

#[test]
fn modifiers_clamp_and_flush() {
    let sat = Conversion { clamp: Clamp::Unit, ..Conversion::RN };
    let relu = Conversion { clamp: Clamp::Relu, ..Conversion::RN };
    let ftz = Conversion { flush: true, ..Conversion::RN };
    let satfinite = Conversion { overflow: Overflow::Saturate, ..Conversion::RN };
    let f32_to_f16 = |x: f32, mode| convert(Type::F16, Type::F32, x.to_bits().into(), mode);
    assert_eq!(f32_to_f16(1.5, sat), 0x3c00);
    assert_eq!(f32_to_f16(-1.5, sat), 0);
    assert_eq!(f32_to_f16(f32::NAN, sat), 0);
    assert_eq!(f32_to_f16(-1.5, relu), 0);
    assert_eq!(f32_to_f16(f32::NAN, relu), 0x7fff);
    assert_eq!(f32_to_f16(1e6, Conversion::RN), 0x7c00);
    assert_eq!(f32_to_f16(1e6, satfinite), 0x7bff);
    assert_eq!(f32_to_f16(f32::NEG_INFINITY, satfinite), 0xfbff);
    assert_eq!(convert(Type::F64, Type::F32, 0x8000_0001, ftz), 1 << 63);
    assert_eq!(convert(Type::F32, Type::F64, 0x3700_0000_0000_0000, ftz), 0);
    assert_eq!(convert(Type::F32, Type::F64, 0x3700_0000_0000_0000, Conversion::RN), 64);
    // Subnormal halves are no f32 subnormals.
    assert_eq!(convert(Type::F32, Type::F16, 1, ftz), 0x3380_0000);
    assert_eq!(
        convert(
            Type::S32,
            Type::F32,
            1,
            Conversion { flush: true, ..Conversion::rounded(Round::Up) }
        ),
        0
    );
    assert_eq!(convert(Type::S32, Type::F32, 1, Conversion::rounded(Round::Up)), 1);
    // Integers: truncation, and clamping with .sat.
    let rz = Conversion::RZ;
    assert_eq!(convert(Type::U8, Type::S32, 0xffff_ffff, rz), 0xff);
    assert_eq!(convert(Type::U8, Type::S32, 0xffff_ffff, sat), 0);
    assert_eq!(convert(Type::S8, Type::U32, 200, sat), 127);
    assert_eq!(convert(Type::S64, Type::S8, 0x80, rz), 0xffff_ffff_ffff_ff80);
    assert_eq!(convert(Type::U64, Type::U8, 0xff80, rz), 0x80);
    assert_eq!(convert(Type::S32, Type::U64, u64::MAX, sat), 0x7fff_ffff);
    assert_eq!(convert(Type::U32, Type::S64, 1 << 40, sat), 0xffff_ffff);
}

#[test]
fn pairs_put_the_first_source_high() {
    let (one, two) = (1f32.to_bits(), 2f32.to_bits());
    assert_eq!(pack_halves(Half::F16, one, two, Conversion::RN), 0x3c00_4000);
    assert_eq!(pack_halves(Half::Bf16, one, two, Conversion::RN), 0x3f80_4000);
    assert_eq!(pack_minis(Minifloat::E4m3, one, two, Clamp::None), 0x3840);
    assert_eq!(pack_minis(Minifloat::E5m2, one, two, Clamp::None), 0x3c40);
    assert_eq!(pack_minis(Minifloat::E2m1, one, two, Clamp::None), 0x24);
    assert_eq!(pack_ue8m0(one, two, Round::Up, Overflow::Saturate), 0x7f80);
    assert_eq!(pack_ue8m0_from_bf16(0x3f80_4000, Round::Up, Overflow::Saturate), 0x7f80);
    assert_eq!(unpack_ue8m0(0x7f00), 0x3f80_0040);
    assert_eq!(unpack_ue8m0(0xfe01), 0x7f00_0080);
    assert_eq!(unpack_ue8m0(0xff80), 0x7fff_4000);
    // cvt.pack: b lowest, then a, then c.
    assert_eq!(pack_saturated(0x0001_0000, 0xffff_ffff, 0, 16, true), 0x7fff_ffff);
    assert_eq!(pack_saturated(300, 0xffff_ffff, 0x1234_5678, 8, false), 0x5678_ff00);
    assert_eq!(pack_saturated(0xffff_fff0, 7, 0x0123_4567, 4, true), 0x2345_6787);
    assert_eq!(pack_saturated(2, 1, 0x5, 2, true), 0x0000_0055);
}

const MINIS: [Minifloat; 5] =
    [Minifloat::E4m3, Minifloat::E5m2, Minifloat::E3m2, Minifloat::E2m3, Minifloat::E2m1];

/// Spot values of the tables in the OCP 8-bit and microscaling specifications.
#[test]
fn minifloats_have_their_published_extremes() {
    let extremes = [
        (Minifloat::E4m3, 0x7e, 448.0, 0x01, 1.0 / 512.0),
        (Minifloat::E5m2, 0x7b, 57344.0, 0x01, 1.0 / 65536.0),
        (Minifloat::E3m2, 0x1f, 28.0, 0x01, 0.0625),
        (Minifloat::E2m3, 0x1f, 7.5, 0x01, 0.125),
        (Minifloat::E2m1, 0x07, 6.0, 0x01, 0.5),
    ];
    for (mini, largest, max, smallest, min) in extremes {
        assert!(mini.widen(largest) == max && mini.widen(smallest) == min, "{mini:?}");
    }
    assert!(Minifloat::E4m3.widen(0x7f).is_nan() && Minifloat::E4m3.widen(0xff).is_nan());
    assert!(Minifloat::E5m2.widen(0x7c) == f32::INFINITY && Minifloat::E5m2.widen(0x7d).is_nan());
}

#[test]
fn every_minifloat_unpacks_exactly() {
    for mini in MINIS {
        let width = mini.format().bits();
        for code in 0..1u16 << width {
            let expected = |half: Half| match oracle::value(mini.format(), code.into()) {
                Real::Nan => 0x7fff,
                Real::Infinite(negative) => {
                    half.format().exponent_mask() as u16 | if negative { 0x8000 } else { 0 }
                }
                Real::Number { negative, units, scale } => {
                    oracle::round(half.format(), units, scale, negative, Round::Zero) as u16
                }
            };
            let pair = code | 1 << mini.stride_bits();
            for half in [Half::F16, Half::Bf16] {
                let unpacked = unpack_minis(mini, half, pair, Clamp::None);
                assert_eq!(unpacked as u16, expected(half), "{mini:?} {code:02x}");
                let again = pack_minis_from_halves(mini, half, unpacked, Clamp::None);
                let saturated = match oracle::value(mini.format(), code.into()) {
                    Real::Nan => 0x7f,
                    Real::Infinite(_) => code - 1,
                    Real::Number { .. } => code,
                };
                assert_eq!(again, saturated | 1 << mini.stride_bits());
                let relu = unpack_minis(mini, half, pair, Clamp::Relu) as u16;
                assert_eq!(relu, if expected(half) >> 15 == 1 { 0 } else { expected(half) });
            }
        }
    }
}

/// Every f16, and every midpoint between neighbours with the f32 values beside it.
#[test]
fn packing_rounds_to_nearest_and_saturates() {
    for mini in MINIS {
        let format = mini.format();
        let largest = format.max_finite();
        let expected = |x: f32| match oracle::value(Format::F32, x.to_bits().into()) {
            Real::Nan => {
                if mini == Minifloat::E4m3 || mini == Minifloat::E5m2 {
                    0x7f
                } else {
                    largest
                }
            }
            Real::Infinite(negative) => largest | if negative { format.sign_bit() } else { 0 },
            Real::Number { negative, units, scale } => {
                let code = oracle::round(format, units.abs(), scale, false, Round::NearestEven);
                code.min(largest) | if negative { format.sign_bit() } else { 0 }
            }
        };
        let check = |x: f32| {
            let packed = u64::from(pack_minis(mini, 0, x.to_bits(), Clamp::None));
            assert_eq!(packed, expected(x), "{mini:?} {x}");
            let relu = u64::from(pack_minis(mini, 0, x.to_bits(), Clamp::Relu));
            assert_eq!(relu, if expected(x) & format.sign_bit() != 0 { 0 } else { expected(x) });
        };
        for bits in 0..=u16::MAX {
            let x = Half::F16.widen(bits);
            check(x);
            let packed = pack_minis_from_halves(mini, Half::F16, bits.into(), Clamp::None);
            assert_eq!(u64::from(packed), expected(x));
        }
        for code in 0..largest as u8 {
            let middle = f32::midpoint(mini.widen(code), mini.widen(code + 1));
            for x in [middle, middle.next_up(), middle.next_down()] {
                check(x);
                check(-x);
            }
        }
    }
}

#[test]
fn ue8m0_takes_the_exponent() {
    for code in 0..0xffu32 {
        let power = if code == 0 { 0x40_0000 } else { code << 23 };
        for overflow in [Overflow::Ieee, Overflow::Saturate] {
            assert_eq!(u32::from(narrow_ue8m0(power, Round::Zero, overflow)), code);
            assert_eq!(u32::from(narrow_ue8m0(power, Round::Up, overflow)), code);
            assert_eq!(u32::from(narrow_ue8m0(power + 1, Round::Zero, overflow)), code);
            let next = if code == 0xfe && overflow == Overflow::Saturate { 0xfe } else { code + 1 };
            assert_eq!(u32::from(narrow_ue8m0(power + 1, Round::Up, overflow)), next);
        }
    }
    assert_eq!(narrow_ue8m0(0x7fc0_0000, Round::Up, Overflow::Saturate), 0xff);
    assert_eq!(narrow_ue8m0(0x7f80_0000, Round::Up, Overflow::Saturate), 0xfe);
    assert_eq!(narrow_ue8m0(0, Round::Up, Overflow::Saturate), 0);
}
