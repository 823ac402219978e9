//! Approximate functions against the host's f64 library, within the manual's bounds, and their
//! special-case tables.
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
        nearest(approx::sin_f32(a, false), x.sin(), "sin", a);
        nearest(approx::cos_f32(a, false), x.cos(), "cos", a);
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

/// The tables of special cases beside each instruction in 9.7.3.
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
    let cases = [(INF | NEG, NAN), (NEG, NEG), (0, 0), (INF, NAN), (NAN, NAN)];
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
                && (f64::from_bits(actual) - exact).abs() <= exact.abs() * 2f64.powi(-21)
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
            if half.narrow(exact as f32) & 0x7fff >= half.format().exponent_mask() as u16 {
                assert_eq!(power, f32::INFINITY);
            } else if exact < f64::from(half.widen(half.format().mantissa_mask() as u16 + 1)) {
                // Subnormal: to half a unit, or flushed.
                let unit = f64::from(half.widen(1));
                assert!(if flush {
                    power == 0.0 || exact > unit * 127.0
                } else {
                    (f64::from(power) - exact).abs() <= unit / 2.0
                });
            } else {
                assert!((f64::from(power) - exact).abs() <= exact * ex2_bound, "{bits:04x}");
            }
            assert!((f64::from(tangent) - x.tanh()).abs() <= tanh_bound, "{bits:04x}");
            assert!(tangent.is_sign_negative() == x.is_sign_negative());
        }
    }
}
