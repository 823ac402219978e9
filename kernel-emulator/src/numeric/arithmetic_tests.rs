//! f16, bf16, f32 and f64 arithmetic against rounding by definition.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "drawn and counted values are cut to the width under test"
)]
#![expect(clippy::many_single_char_names, reason = "d, a, b, c are the manual's operand names")]
#![expect(clippy::float_cmp, reason = "exact arithmetic is compared exactly")]

use super::exact;
use super::format::{Format, Overflow, Round, Value};
use super::narrow::{self, Half};
use super::oracle::{self, Random, Real};
use super::scalar::{self, Clamp, Extreme, Mode, Selection};

const ROUNDS: [Round; 4] = [Round::NearestEven, Round::Zero, Round::Down, Round::Up];

fn mode(round: Round) -> Mode {
    Mode { round, ..Mode::RN }
}

/// What a fused multiply-add must give: IEEE 754-2019, 6.1 to 6.3, with the canonical NaN.
fn fused(format: Format, a: u64, b: u64, c: u64, round: Round) -> u64 {
    let nan = format.canonical_nan();
    let infinity =
        |negative: bool| format.exponent_mask() | if negative { format.sign_bit() } else { 0 };
    let negative = |x: u64| x & format.sign_bit() != 0;
    let product_negative = negative(a) != negative(b);
    let product = match (oracle::value(format, a), oracle::value(format, b)) {
        (Real::Nan, _) | (_, Real::Nan) => return nan,
        (Real::Infinite(_), Real::Number { units: 0, .. })
        | (Real::Number { units: 0, .. }, Real::Infinite(_)) => {
            return nan;
        }
        (Real::Infinite(_), _) | (_, Real::Infinite(_)) => None,
        (Real::Number { units: x, scale: s, .. }, Real::Number { units: y, scale: t, .. }) => {
            Some((x * y, s + t))
        }
    };
    match (product, oracle::value(format, c)) {
        (_, Real::Nan) => nan,
        (None, Real::Infinite(sign)) if sign != product_negative => nan,
        (None, _) => infinity(product_negative),
        (Some(_), Real::Infinite(sign)) => infinity(sign),
        (Some((units, scale)), Real::Number { units: z, scale: t, negative: c_negative }) => {
            let zero_negative =
                if product_negative == c_negative { c_negative } else { round == Round::Down };
            let (all, common) = oracle::align(&[(units, scale), (z, t)]);
            oracle::round(format, all[0] + all[1], common, zero_negative, round)
        }
    }
}

/// Three operands, now and then with sums that cancel exactly.
fn operands(random: &mut Random, format: Format) -> [u64; 3] {
    let [a, b, c] = std::array::from_fn(|_| random.pattern(format));
    let one = format.exponent_mask() >> 1 & format.exponent_mask();
    match random.below(8) {
        0 => [a, a ^ format.sign_bit(), c],
        1 => [one, b, b ^ format.sign_bit()],
        2 => [a, one | format.sign_bit(), a],
        _ => [a, b, c],
    }
}

#[test]
fn half_arithmetic_rounds_once() {
    let mut random = Random::new(1);
    for half in [Half::F16, Half::Bf16] {
        let format = half.format();
        let (one, minus_zero) = (u64::from(half.one()), format.sign_bit());
        for _ in 0..60_000 {
            let [a, b, c] = operands(&mut random, format).map(|x| x as u16);
            let [x, y, z] = [a, b, c].map(u64::from);
            for round in ROUNDS {
                let mode = mode(round);
                assert_eq!(
                    u64::from(narrow::fma(half, a, b, c, mode)),
                    fused(format, x, y, z, round),
                    "fma {half:?} {a:04x} {b:04x} {c:04x} {round:?}"
                );
                // a + b is a * 1 + b; a * b is a * b plus a zero of the product's sign.
                assert_eq!(
                    u64::from(narrow::add(half, a, b, mode)),
                    fused(format, x, one, y, round),
                    "add {half:?} {a:04x} {b:04x} {round:?}"
                );
                assert_eq!(
                    u64::from(narrow::sub(half, a, b, mode)),
                    fused(format, x, one, y ^ minus_zero, round),
                    "sub {a:04x} {b:04x}"
                );
                let zero = (x ^ y) & minus_zero;
                assert_eq!(
                    u64::from(narrow::mul(half, a, b, mode)),
                    fused(format, x, y, zero, round),
                    "mul {half:?} {a:04x} {b:04x}"
                );
            }
        }
    }
}

#[test]
fn f32_arithmetic_rounds_once() {
    let mut random = Random::new(2);
    let format = Format::F32;
    let one = 0x3f80_0000;
    for _ in 0..60_000 {
        let [a, b, c] = operands(&mut random, format).map(|x| x as u32);
        let [x, y, z] = [a, b, c].map(u64::from);
        for round in ROUNDS {
            let mode = mode(round);
            assert_eq!(
                u64::from(scalar::fma_f32(a, b, c, mode)),
                fused(format, x, y, z, round),
                "fma {a:08x} {b:08x} {c:08x} {round:?}"
            );
            assert_eq!(
                u64::from(scalar::add_f32(a, b, mode)),
                fused(format, x, one, y, round),
                "add {a:08x} {b:08x} {round:?}"
            );
            assert_eq!(
                u64::from(scalar::sub_f32(a, b, mode)),
                fused(format, x, one, y ^ 1 << 31, round),
                "sub {a:08x} {b:08x}"
            );
            let zero = (x ^ y) & 1 << 31;
            assert_eq!(
                u64::from(scalar::mul_f32(a, b, mode)),
                fused(format, x, y, zero, round),
                "mul {a:08x} {b:08x} {round:?}"
            );
        }
    }
}

/// A quotient or root `r` is right when it is the format's rounding of the true one, which is where
/// `r` times the divisor (or itself) says.
#[test]
fn f32_quotients_and_roots_are_bracketed() {
    let mut random = Random::new(3);
    let units = |bits: u32| match oracle::value(Format::F32, bits.into()) {
        Real::Number { units, scale, .. } => Some((units, scale)),
        Real::Nan | Real::Infinite(_) => None,
    };
    for _ in 0..60_000 {
        let (a, b) = (random.pattern(Format::F32) as u32, random.pattern(Format::F32) as u32);
        let (Some((x, s)), Some((y, t))) = (units(a), units(b)) else { continue };
        if x == 0 || y == 0 {
            continue;
        }
        // 100 quotient bits and a sticky one.
        let negative = (x < 0) != (y < 0);
        let up = x.unsigned_abs().leading_zeros() - 2;
        let shifted = x.unsigned_abs() << up;
        let quotient = shifted / y.unsigned_abs() * 2 + u128::from(shifted % y.unsigned_abs() != 0);
        let quotient = if negative { -(quotient as i128) } else { quotient as i128 };
        for round in ROUNDS {
            let expected = oracle::round(
                Format::F32,
                quotient >> 1 << 1 | quotient & 1,
                s - t - up as i32 - 1,
                false,
                round,
            );
            assert_eq!(
                u64::from(scalar::div_f32(a, b, mode(round))),
                expected,
                "{a:08x} / {b:08x} {round:?}"
            );
        }
        // Roots: r = round(sqrt(x)) by comparing squares of 53-bit candidates.
        let root = f64::from(f32::from_bits(a & 0x7fff_ffff)).sqrt();
        for round in ROUNDS {
            let r = f32::from_bits(scalar::sqrt_f32(a & 0x7fff_ffff, mode(round)));
            let square = |r: f32| f64::from(r) * f64::from(r);
            let value = f64::from(f32::from_bits(a & 0x7fff_ffff));
            match round {
                Round::Down | Round::Zero => {
                    assert!(square(r) <= value && square(r.next_up()) > value);
                }
                Round::Up => assert!(square(r) >= value && square(r.next_down()) < value),
                Round::NearestEven | Round::NearestAway => {
                    assert!((f64::from(r) - root).abs() <= (f64::from(r.next_up()) - root).abs());
                    assert!((f64::from(r) - root).abs() <= (f64::from(r.next_down()) - root).abs());
                }
            }
        }
    }
}

#[test]
fn division_and_root_special_cases() {
    let rn = Mode::RN;
    let (zero, one, inf) = (0u32, 0x3f80_0000, 0x7f80_0000);
    assert_eq!(scalar::div_f32(one, zero, rn), inf);
    assert_eq!(scalar::div_f32(one, 1 << 31, rn), inf | 1 << 31);
    assert_eq!(scalar::div_f32(zero, zero, rn), 0x7fff_ffff);
    assert_eq!(scalar::div_f32(inf, inf, mode(Round::Up)), 0x7fff_ffff);
    assert_eq!(scalar::rcp_f32(inf | 1 << 31, mode(Round::Down)), 1 << 31);
    assert_eq!(scalar::sqrt_f32(1 << 31, mode(Round::Up)), 1 << 31);
    assert_eq!(scalar::sqrt_f32(0xbf80_0000, rn), 0x7fff_ffff);
    assert_eq!(scalar::sqrt_f32(inf, mode(Round::Zero)), inf);
}

#[test]
fn flush_applies_to_operands_and_results() {
    let ftz = Mode::RN_FTZ;
    let (tiny, min_normal, half) = (0x0000_0001u32, 0x0080_0000, 0x3f00_0000);
    assert_eq!(scalar::add_f32(tiny, tiny, ftz), 0);
    assert_eq!(scalar::add_f32(tiny | 1 << 31, tiny | 1 << 31, ftz), 1 << 31);
    assert_eq!(scalar::mul_f32(min_normal, half, ftz), 0);
    assert_eq!(scalar::mul_f32(min_normal, half | 1 << 31, ftz), 1 << 31);
    assert_eq!(scalar::mul_f32(min_normal, half, Mode::RN), 0x0040_0000);
    assert_eq!(scalar::abs_f32(0x8000_0001, true), 0);
    assert_eq!(scalar::neg_f32(0x0000_0001, true), 1 << 31);
    assert_eq!(narrow::add(Half::F16, 0x0001, 0x0001, ftz), 0);
    assert_eq!(narrow::add(Half::F16, 0x0001, 0x0001, Mode::RN), 2);
}

#[test]
fn saturation_and_relu_clamp() {
    let sat = Mode { clamp: Clamp::Unit, ..Mode::RN };
    let relu = Mode { clamp: Clamp::Relu, ..Mode::RN };
    let (one, two, nan) = (0x3f80_0000u32, 0x4000_0000, 0x7fc0_0000);
    assert_eq!(scalar::add_f32(one, one, sat), one);
    assert_eq!(scalar::add_f32(one | 1 << 31, 0, sat), 0);
    assert_eq!(scalar::mul_f32(nan, one, sat), 0);
    assert_eq!(scalar::fma_f32(two, one, 0xbfc0_0000, sat), 0x3f00_0000);
    assert_eq!(narrow::fma(Half::F16, 0x3c00, 0xbc00, 0, relu), 0);
    assert_eq!(narrow::fma(Half::F16, 0x3c00, 0x7e01, 0, relu), 0x7fff);
    assert_eq!(narrow::fma(Half::Bf16, 0x3f80, 0x4000, 0, relu), 0x4000);
    assert_eq!(narrow::add(Half::F16, 0x4000, 0, sat), 0x3c00);
}

/// The integer path in to-nearest mode against the host's own f64 unit.
#[test]
fn exact_f64_agrees_with_the_host() {
    let mut random = Random::new(4);
    let encode = |value| Format::F64.encode(value, Round::NearestEven, Overflow::Ieee);
    for _ in 0..300_000 {
        let [a, b, c] = std::array::from_fn(|_| random.pattern(Format::F64));
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        let [p, q, r] = [a, b, c].map(|bits| Format::F64.decode(bits));
        let same = |value: Value, host: f64, what: &str| {
            let nan = matches!(value, Value::Nan);
            assert_eq!(nan, host.is_nan(), "{what} {a:016x} {b:016x} {c:016x}");
            assert!(nan || encode(value) == host.to_bits(), "{what} {a:016x} {b:016x} {c:016x}");
        };
        same(exact::add(p, q, Round::NearestEven), x + y, "add");
        same(exact::multiply(p, q), x * y, "mul");
        same(exact::divide(p, q), x / y, "div");
        same(exact::square_root(p), x.sqrt(), "sqrt");
        same(exact::fused(p, q, r, Round::NearestEven), x.mul_add(y, z), "fma");
        same(exact::negate(p), -x, "neg");
    }
}

/// Directed f64 results from the exact error of the nearest one (two-sum; fused residuals).
#[test]
fn directed_f64_follows_the_error_of_the_nearest() {
    let mut random = Random::new(5);
    let directed = |nearest: f64, error: f64, round: Round| match round {
        Round::Down if error < 0.0 => nearest.next_down(),
        Round::Up if error > 0.0 => nearest.next_up(),
        Round::Zero if nearest > 0.0 && error < 0.0 => nearest.next_down(),
        Round::Zero if nearest < 0.0 && error > 0.0 => nearest.next_up(),
        Round::NearestEven | Round::NearestAway | Round::Zero | Round::Down | Round::Up => nearest,
    };
    for _ in 0..100_000 {
        let [x, y] = std::array::from_fn(|_| {
            f64::from_bits(random.next() & !(0x7ff << 52) | (1023 - 40 + random.below(80)) << 52)
        });
        let (a, b) = (x.to_bits(), y.to_bits());
        for round in [Round::Zero, Round::Down, Round::Up] {
            let mode = mode(round);
            let sum = x + y;
            let part = sum - x;
            let error = (x - (sum - part)) + (y - part);
            if sum != 0.0 {
                assert_eq!(scalar::add_f64(a, b, mode), directed(sum, error, round).to_bits());
            }
            let product = x * y;
            let error = x.mul_add(y, -product);
            assert_eq!(scalar::mul_f64(a, b, mode), directed(product, error, round).to_bits());
            let quotient = x / y;
            let error = (-quotient).mul_add(y, x) * y.signum();
            assert_eq!(scalar::div_f64(a, b, mode), directed(quotient, error, round).to_bits());
            let root = x.abs().sqrt();
            let error = (-root).mul_add(root, x.abs());
            assert_eq!(
                scalar::sqrt_f64(x.abs().to_bits(), mode),
                directed(root, error, round).to_bits()
            );
        }
    }
    assert_eq!(scalar::add_f64(0x3ff0 << 48, 0xbff0 << 48, mode(Round::Down)), 1 << 63);
    assert_eq!(scalar::add_f64(0x3ff0 << 48, 0xbff0 << 48, mode(Round::Up)), 0);
}

/// `min` and `max` from the order of the real values; zeros by sign, NaN by the manual's rules.
#[test]
fn extremes_follow_the_manual() {
    let mut random = Random::new(6);
    let nan = |x: u16, half: Half| x & 0x7fff > half.format().exponent_mask() as u16;
    for half in [Half::F16, Half::Bf16] {
        for _ in 0..100_000 {
            let (a, b) =
                (random.pattern(half.format()) as u16, random.pattern(half.format()) as u16);
            let less = |a: u16, b: u16| {
                let (x, y) = (half.widen(a), half.widen(b));
                if x == 0.0 && y == 0.0 { a >> 15 > b >> 15 } else { x < y }
            };
            for (which, propagate_nan, xorsign_abs) in [
                (Extreme::Min, false, false),
                (Extreme::Max, false, false),
                (Extreme::Min, true, false),
                (Extreme::Max, true, true),
                (Extreme::Min, false, true),
            ] {
                let selection = Selection { flush: false, propagate_nan, xorsign_abs };
                let (x, y) = if xorsign_abs { (a & 0x7fff, b & 0x7fff) } else { (a, b) };
                let expected = match (nan(a, half), nan(b, half)) {
                    (true, true) => 0x7fff,
                    (true, false) | (false, true) if propagate_nan => 0x7fff,
                    (true, false) => y | if xorsign_abs { (a ^ b) & 0x8000 } else { 0 },
                    (false, true) => x | if xorsign_abs { (a ^ b) & 0x8000 } else { 0 },
                    (false, false) => {
                        let chosen = if less(x, y) == (which == Extreme::Min) { x } else { y };
                        chosen | if xorsign_abs { (a ^ b) & 0x8000 } else { 0 }
                    }
                };
                assert_eq!(
                    narrow::extreme(which, half, a, b, selection),
                    expected,
                    "{a:04x} {b:04x} {which:?} {selection:?}"
                );
            }
        }
    }
    assert_eq!(scalar::extreme_f32(Extreme::Min, 0, 1 << 31, Selection::PLAIN), 1 << 31);
    assert_eq!(scalar::extreme_f32(Extreme::Max, 1 << 31, 0, Selection::PLAIN), 0);
    assert_eq!(
        scalar::extreme_f32(Extreme::Max, 0x7f80_0001, 0xbf80_0000, Selection::PLAIN),
        0xbf80_0000
    );
    assert_eq!(
        scalar::extreme_f32(
            Extreme::Max,
            0x0000_0002,
            0x0000_0001,
            Selection { flush: true, ..Selection::PLAIN }
        ),
        0
    );
    assert_eq!(
        scalar::extreme3_f32(Extreme::Max, 0x3f80_0000, 0x4000_0000, 0x3f80_0001, Selection::PLAIN),
        0x4000_0000
    );
}

#[test]
fn every_half_widens_and_narrows() {
    for bits in 0..=u16::MAX {
        for half in [Half::F16, Half::Bf16] {
            let x = half.widen(bits);
            match oracle::value(half.format(), bits.into()) {
                Real::Nan => {
                    assert!(x.is_nan());
                    assert_eq!(half.narrow(x), 0x7fff);
                }
                Real::Infinite(negative) => {
                    assert_eq!(x, if negative { f32::NEG_INFINITY } else { f32::INFINITY });
                    assert_eq!(half.narrow(x), bits);
                }
                Real::Number { negative, units, scale } => {
                    // Both factors and the product are exact in f64.
                    let expected = units as f64 * 2f64.powi(scale);
                    assert!(
                        f64::from(x) == expected && x.is_sign_negative() == negative,
                        "{bits:04x}"
                    );
                    assert_eq!(half.narrow(x), bits);
                }
            }
        }
    }
}

/// Narrowing is monotonic, so its value at and beside every midpoint between neighbours decides it
/// everywhere.
#[test]
fn narrowing_turns_at_every_midpoint() {
    for half in [Half::F16, Half::Bf16] {
        let last = half.format().max_finite() as u16;
        for low in 0..=last {
            let (x, y) = (f64::from(half.widen(low)), f64::from(half.widen(low + 1)));
            // Beyond the largest number, the next power of two stands for infinity.
            let y = if low == last { x + (x - f64::from(half.widen(low - 1))) } else { y };
            let middle = f64::midpoint(x, y) as f32;
            assert!(
                f64::from(middle) == f64::midpoint(x, y),
                "a midpoint has one bit more, so f32 holds it"
            );
            let even = if low % 2 == 0 { low } else { low + 1 };
            for sign in [0, 0x8000] {
                let narrow = |x: f32| half.narrow(if sign == 0 { x } else { -x });
                assert_eq!(narrow(middle), even | sign, "{low:04x}");
                assert_eq!(narrow(middle.next_down()), low | sign);
                assert_eq!(narrow(middle.next_up()), (low + 1) | sign);
                let wide = Format::encode_f64(
                    half.format(),
                    f64::from(middle.next_up()).to_bits(),
                    Round::NearestEven,
                );
                assert_eq!(wide, u64::from(low + 1));
                let away =
                    half.format().encode_f64(f64::from(middle).to_bits(), Round::NearestAway);
                assert_eq!(away, u64::from(low + 1));
            }
        }
    }
}

#[test]
fn properties_partition_the_patterns() {
    use scalar::Property;
    for bits in 0..=u16::MAX {
        let x = narrow::widen_f16(bits);
        let ask = |property| scalar::test_property(Format::F16, bits.into(), property);
        assert_eq!(ask(Property::Finite), x.is_finite());
        assert_eq!(ask(Property::Infinite), x.is_infinite());
        assert_eq!(ask(Property::NotANumber), x.is_nan());
        assert_eq!(ask(Property::Number), !x.is_nan());
        assert_eq!(ask(Property::Subnormal), x != 0.0 && x.abs() < 6.103_515_6e-5);
        assert_eq!(ask(Property::Normal), x == 0.0 || x.is_finite() && x.abs() >= 6.103_515_6e-5);
    }
}

/// Recorded on an H200: which operand's NaN an f64 instruction passes on, and what it makes itself.
#[test]
fn nan_results_follow_the_device() {
    let rn = Mode::RN;
    let (a, b, one) = (0x7ff0_e3f4_48f2_2be5, 0x7ff3_72f5_65c6_943f, 0x3ff0 << 48);
    let (quiet_a, quiet_b) = (0x7ff8_e3f4_48f2_2be5, 0x7ffb_72f5_65c6_943f);
    assert_eq!(scalar::add_f64(a, b, rn), quiet_b);
    assert_eq!(scalar::sub_f64(a, b, rn), quiet_b);
    assert_eq!(scalar::mul_f64(a, b, mode(Round::Up)), quiet_b);
    assert_eq!(scalar::div_f64(a, b, rn), quiet_a);
    assert_eq!(scalar::add_f64(a, one, rn), quiet_a);
    assert_eq!(scalar::fma_f64(a, b, one, rn), quiet_b);
    assert_eq!(scalar::fma_f64(a, one, b, rn), quiet_b);
    assert_eq!(scalar::fma_f64(one, a, b, rn), quiet_a);
    assert_eq!(scalar::extreme_f64(Extreme::Min, a, b, Selection::PLAIN), quiet_b);
    assert_eq!(scalar::extreme_f64(Extreme::Min, a, one, Selection::PLAIN), one);
    assert_eq!(scalar::abs_f64(a | 1 << 63), quiet_a | 1 << 63);
    assert_eq!(scalar::neg_f64(a), quiet_a);
    assert_eq!(scalar::sqrt_f64(0xbff0 << 48, rn), 0xfff8 << 48);
    assert_eq!(scalar::add_f64(0x7ff0 << 48, 0xfff0 << 48, rn), 0xfff8 << 48);
    assert_eq!(scalar::abs_f32(0xffc6_af9f, false), 0x7fff_ffff);
    assert_eq!(scalar::neg_f32(0x7ff2_2be5, true), 0x7fff_ffff);
    assert_eq!(narrow::neg(Half::F16, 0x7c01, false), 0x7fff);
    assert_eq!(narrow::abs(Half::Bf16, 0xff82, false), 0x7fff);
}
