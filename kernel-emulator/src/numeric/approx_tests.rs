//! Approximate functions against the host's f64 library, within the manual's bounds, and their
//! special-case tables.
#![expect(
    clippy::cast_possible_truncation,
    reason = "drawn and counted values are cut to the width under test"
)]
#![expect(clippy::float_cmp, reason = "exact arithmetic is compared exactly")]

use super::approx;
use super::narrow::Half;
use super::oracle::Random;

const NAN: u32 = 0x7fff_ffff;
const INF: u32 = 0x7f80_0000;
const NEG: u32 = 0x8000_0000;

/// f32 operands of every binade and sign, and some specials.
fn operands(seed: u64) -> impl Iterator<Item = u32> {
    let mut random = Random::new(seed);
    (0..=0xffu32).flat_map(move |field| {
        let draws: Vec<u32> =
            (0..400).map(|_| random.next() as u32 & 0x807f_ffff | field << 23).collect();
        draws.into_iter().chain([0, 1, 0x7f_ffff, 0x40_0000].map(|fraction| field << 23 | fraction))
    })
}

/// The result is the host's, rounded, or its neighbour where the host's is within 2^-40 of a midpoint.
fn nearest(actual: u32, exact: f64, what: &str, operand: u32) {
    let x = f32::from_bits(actual);
    if exact.is_nan() {
        assert_eq!(actual, NAN, "{what} {operand:08x}");
    } else if actual != (exact as f32).to_bits() {
        let middle = f64::midpoint(f64::from(x), f64::from(exact as f32));
        assert!(
            (exact - middle).abs() <= exact.abs() * 2f64.powi(-40),
            "{what} {operand:08x}: {x} for {exact}"
        );
    }
}

#[test]
fn functions_round_the_true_value() {
    for a in operands(41) {
        let x = f64::from(f32::from_bits(a));
        nearest(approx::ex2_f32(a, false), x.exp2(), "ex2", a);
        nearest(approx::lg2_f32(a, false), x.log2(), "lg2", a);
        nearest(approx::tanh_f32(a), x.tanh(), "tanh", a);
        nearest(approx::rsqrt_f32(a, false), 1.0 / x.sqrt(), "rsqrt", a);
        nearest(approx::rcp_f32(a, false), 1.0 / x, "rcp", a);
        nearest(approx::sqrt_f32(a, false), x.sqrt(), "sqrt", a);
        nearest(
            approx::div_full_f32(0x4049_0fdb, a, false),
            f64::from(f32::from_bits(0x4049_0fdb)) / x,
            "div",
            a,
        );
    }
}

/// Within the manual's bound near 0; everywhere, the sine of the turns as the device counts them.
#[test]
fn sine_and_cosine_of_turns() {
    for a in operands(43) {
        let x = f32::from_bits(a);
        let (s, c) = (approx::sin_f32(a, false), approx::cos_f32(a, false));
        if !x.is_finite() {
            assert_eq!([s, c], [NAN, NAN]);
            continue;
        }
        let (s, c) = (f64::from(f32::from_bits(s)), f64::from(f32::from_bits(c)));
        if x.abs() <= std::f32::consts::PI {
            assert!((s - f64::from(x).sin()).abs() < 2f64.powf(-20.5), "{x}");
            assert!((c - f64::from(x).cos()).abs() < 2f64.powf(-20.5), "{x}");
        }
        // Rounded to nearest, then one step back where that went outwards.
        let factor = f32::from_bits(0x3e22_f983);
        let nearest = x * factor;
        let outwards = f64::from(nearest).abs() > (f64::from(x) * f64::from(factor)).abs();
        let turns = if outwards { f32::from_bits(nearest.to_bits() - 1) } else { nearest };
        let angle = std::f64::consts::TAU * f64::from(turns % 1.0);
        assert!(
            (s - angle.sin()).abs() < 2f64.powi(-24) && (c - angle.cos()).abs() < 2f64.powi(-24),
            "{x}"
        );
    }
    // Recorded on an H200: operand, sine, cosine.
    let recorded = [
        (0x3fba_5de1, 0x3f7e_5095, 0x3dea_9b54),
        (0xc4b8_8dec, 0x3de8_2c5f, 0x3f7e_5983),
        (0xcadf_ffff, 0xbf35_04f2, 0x3f35_04f3),
        (0xbe4c_fa91, 0xbe4b_9cd5, 0x3f7a_e35d),
        (0x3f15_72e5, 0x3f0d_1a7c, 0x3f55_9a1a),
    ];
    for (a, s, c) in recorded {
        let close = |x: u32, y: u32| (f32::from_bits(x) - f32::from_bits(y)).abs() < 4e-7;
        assert!(
            close(approx::sin_f32(a, false), s) && close(approx::cos_f32(a, false), c),
            "{a:08x}"
        );
    }
}

/// The tables of special cases beside each instruction in "Floating Point Instructions".
#[test]
fn special_cases_follow_the_tables() {
    let one = 0x3f80_0000;
    // ex2: -inf, -subnormal, -0, +0, +subnormal, +inf, NaN.
    let cases = [
        (INF | NEG, 0),
        (1 | NEG, one),
        (NEG, one),
        (0, one),
        (1, one),
        (INF, INF),
        (0xffc0_0001, NAN),
    ];
    for (a, expected) in cases {
        assert_eq!(approx::ex2_f32(a, true), expected);
        assert_eq!(approx::ex2_f32(a, false), expected);
    }
    // -130 gives a subnormal.
    assert_eq!(approx::ex2_f32(0xc302_0000, false), 1 << 19);
    assert_eq!(approx::ex2_f32(0xc302_0000, true), 0);
    let cases =
        [(INF | NEG, NAN), (NEG, INF | NEG), (0, INF | NEG), (INF, INF), (NAN, NAN), (one, 0)];
    for (a, expected) in cases {
        assert_eq!(approx::lg2_f32(a, true), expected);
    }
    assert_eq!(approx::lg2_f32(1, true), INF | NEG);
    assert_eq!(approx::lg2_f32(1, false), (-149f32).to_bits());
    let cases = [(INF | NEG, NEG), (NEG, INF | NEG), (0, INF), (INF, 0), (NAN, NAN)];
    for (a, expected) in cases {
        assert_eq!(approx::rcp_f32(a, true), expected);
    }
    assert_eq!(approx::rcp_f32(1, true), INF);
    assert_eq!(approx::rcp_f32(1 | NEG, true), INF | NEG);
    assert_eq!(approx::rcp_f32(0x7f00_0000, true), 0);
    assert_eq!(approx::rcp_f32(0x7f00_0000, false), 0x0040_0000);
    let cases = [(INF | NEG, NAN), (0xbf80_0000, NAN), (NEG, NEG), (0, 0), (INF, INF), (NAN, NAN)];
    for (a, expected) in cases {
        assert_eq!(approx::sqrt_f32(a, true), expected);
    }
    assert_eq!(approx::sqrt_f32(1 | NEG, true), NEG);
    let cases =
        [(INF | NEG, NAN), (0xbf80_0000, NAN), (NEG, INF | NEG), (0, INF), (INF, 0), (NAN, NAN)];
    for (a, expected) in cases {
        assert_eq!(approx::rsqrt_f32(a, true), expected, "{a:08x}");
    }
    let cases = [(INF | NEG, NAN), (NEG, NEG), (0, 0), (INF, NAN), (NAN, NAN), (1 | NEG, NEG)];
    for (a, expected) in cases {
        assert_eq!(approx::sin_f32(a, true), expected);
    }
    let cases = [(INF | NEG, NAN), (NEG, one), (0, one), (INF, NAN), (NAN, NAN), (1, one)];
    for (a, expected) in cases {
        assert_eq!(approx::cos_f32(a, true), expected);
    }
    let cases =
        [(INF | NEG, one | NEG), (NEG, NEG), (0, 0), (1 | NEG, 1 | NEG), (INF, one), (NAN, NAN)];
    for (a, expected) in cases {
        assert_eq!(approx::tanh_f32(a), expected);
    }
    // div.approx beyond 2^126.
    assert_eq!(approx::div_f32(one, 0x7e80_0001, false), 0);
    assert_eq!(approx::div_f32(INF, 0x7f00_0000, false), NAN);
    assert_eq!(approx::div_f32(one, INF, false), 0);
    assert_eq!(approx::div_f32(0x4040_0000, 0x4000_0000, false), 0x3fc0_0000);
}

#[test]
fn gross_f64_functions_keep_the_upper_word() {
    let mut random = Random::new(42);
    for _ in 0..50_000 {
        let a = random.next() & !(0x7ff << 52) | (1023 - 300 + random.below(600)) << 52;
        let x = f64::from_bits(a & !0xffff_ffff);
        let within = |actual: u64, exact: f64| {
            actual << 32 == 0
                && (f64::from_bits(actual) - exact).abs() <= exact.abs() * 2f64.powi(-20)
        };
        assert!(within(approx::rcp_ftz_f64(a), 1.0 / x), "{a:x}");
        assert!(within(approx::rsqrt_ftz_f64(a & !(1 << 63)), 1.0 / x.abs().sqrt()), "{a:x}");
        let exact = 1.0 / f64::from_bits(a & !(1 << 63)).sqrt();
        assert!(
            (f64::from_bits(approx::rsqrt_f64(a & !(1 << 63))) - exact).abs()
                <= exact * 2f64.powi(-52)
        );
    }
    let (inf, neg) = (0x7ff0u64 << 48, 1 << 63);
    assert_eq!(approx::rcp_ftz_f64(0), inf);
    assert_eq!(approx::rcp_ftz_f64(neg), inf | neg);
    assert_eq!(approx::rcp_ftz_f64(1), inf);
    assert_eq!(approx::rcp_ftz_f64(inf | neg), neg);
    assert_eq!(approx::rsqrt_ftz_f64(neg), inf | neg);
    assert_eq!(approx::rsqrt_ftz_f64(inf), 0);
    assert_eq!(approx::rsqrt_ftz_f64(0xbff0 << 48), 0x7fff_ffff << 32);
}

#[test]
fn every_half_is_within_the_bound() {
    for bits in 0..=u16::MAX {
        for (half, ex2_bound, tanh_bound) in [
            (Half::F16, 2f64.powf(-9.9), 2f64.powf(-10.987)),
            (Half::Bf16, 2f64.powi(-7), 2f64.powi(-8)),
        ] {
            let x = f64::from(half.widen(bits));
            let flush = half == Half::Bf16;
            let power = half.widen(approx::ex2_half(half, bits, flush));
            let tangent = half.widen(approx::tanh_half(half, bits));
            if x.is_nan() {
                assert_eq!(approx::ex2_half(half, bits, flush), 0x7fff);
                assert_eq!(approx::tanh_half(half, bits), 0x7fff);
                continue;
            }
            let exact = x.exp2();
            let largest = f64::from(half.widen(half.format().exponent_mask() as u16 - 1));
            if exact >= 2f64.powi(if half == Half::F16 { 16 } else { 128 }) {
                assert_eq!(power, f32::INFINITY);
            } else if exact > largest {
                assert_eq!(f64::from(power), largest);
            } else if exact < f64::from(half.widen(half.format().mantissa_mask() as u16 + 1)) {
                // Subnormal: cut off, or flushed.
                let unit = f64::from(half.widen(1));
                assert!(if flush {
                    power == 0.0
                } else {
                    (0.0..unit).contains(&(exact - f64::from(power)))
                });
            } else {
                assert!((f64::from(power) - exact).abs() <= exact * ex2_bound, "{bits:04x}");
            }
            assert!((f64::from(tangent) - x.tanh()).abs() <= tanh_bound, "{bits:04x}");
            assert!(tangent.is_sign_negative() == x.is_sign_negative());
        }
    }
}
