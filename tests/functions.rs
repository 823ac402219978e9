//! The functions of floats against the mathematics of `f64`, over the range of `f32`.

#[path = "exact/kernels.rs"]
mod kernels;

use kernels::{NAMES, check_ends, powers, random, results};
use kiln::prelude::*;

type Function = fn(f64) -> f64;

/// In the order of the rows.
const FUNCTIONS: [Function; NAMES.len()] = [
    f64::exp,
    f64::exp_m1,
    f64::exp2,
    f64::ln,
    f64::ln_1p,
    f64::log2,
    f64::log10,
    f64::sin,
    f64::cos,
    f64::tanh,
    libm::erf,
    libm::erfc,
    f64::cbrt,
    |x| 1.0 / x.sqrt(),
];

/// How far `actual` is from the exact value, in units in the last place of the exact value. Infinity stands for 2^128.
fn ulp(actual: f32, exact: f64) -> f64 {
    if actual.is_nan() || exact.is_nan() {
        return if actual.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    #[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is asked for")]
    let nearest = exact as f32;
    let same = nearest.abs().to_bits() == actual.abs().to_bits();
    if same && (actual.is_infinite() || exact == 0.0) {
        let signs = actual.is_sign_negative() == exact.is_sign_negative();
        return if signs { 0.0 } else { f64::INFINITY };
    }
    let value = if actual.is_infinite() {
        2f64.powi(128).copysign(f64::from(actual))
    } else {
        f64::from(actual)
    };
    if exact.is_infinite() {
        return f64::INFINITY;
    }
    let exponent = (exact.abs().to_bits() >> 52).cast_signed() - 1023;
    let unit = 2f64.powi(i32::try_from(exponent.max(-126)).unwrap_or_default() - 23);
    (value - exact).abs() / unit
}

fn check(values: &[f32], bound: f64) -> Result<()> {
    let results = results(values)?;
    for ((name, exact), row) in NAMES.iter().zip(FUNCTIONS).zip(results.chunks(values.len())) {
        let worst = values
            .iter()
            .zip(row)
            .map(|(&x, &actual)| (ulp(actual, exact(f64::from(x))), x, actual))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let (error, x, actual) = worst.expect("there are values");
        assert!(error <= bound, "{name}({x:e}) is {actual:e}, {error} ulp from it");
    }
    Ok(())
}

/// An odd step: all the last bits occur, at all exponents and of both signs.
#[test]
fn the_error_is_at_most_two_ulp_over_the_whole_range() -> Result<()> {
    let values: Vec<f32> = (0..=u32::MAX).step_by(131_071).map(f32::from_bits).collect();
    check(&values, 2.0)
}

/// Where functions change from one formula to the next, are nearly zero, overflow or become subnormal.
#[test]
fn the_error_is_at_most_two_ulp_at_the_bends() -> Result<()> {
    let bends = [
        0.5,
        1.0,
        1.0625,
        2.0,
        0.25,
        0.75,
        2.0 / 3.0,
        4.0 / 3.0,
        88.72,
        87.33,
        103.97,
        104.0,
        10.05,
        9.19,
        128.0,
        126.0,
        149.0,
        30.0,
        89.0,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::PI,
        std::f32::consts::TAU,
        131_072.0,
        131_072.5,
        1.274e16,
        3.4e38,
        1.2e-38,
        1e-44,
    ];
    let around = |bend: f32| {
        let bits = bend.to_bits();
        (bits.saturating_sub(40)..(bits + 40).min(f32::MAX.to_bits())).map(f32::from_bits)
    };
    let values: Vec<f32> = bends.into_iter().flat_map(around).flat_map(|x| [x, -x]).collect();
    check(&values, 2.0)
}

/// Zeros with their signs, infinities and NaN: as in C99, Annex F, and Rust.
#[test]
fn the_ends_are_exact() -> Result<()> {
    check_ends::<f32>()
}

fn check_powers(pairs: &[(f32, f32)]) -> Result<()> {
    for (&(x, y), actual) in pairs.iter().zip(powers(pairs)?) {
        let error = ulp(actual, f64::from(x).powf(f64::from(y)));
        assert!(error <= 2.0, "{x:e} to the {y:e} is {actual:e}, {error} ulp from it");
    }
    Ok(())
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "bits are taken from words")]
#[expect(clippy::cast_precision_loss, reason = "an exponent need not be exact")]
fn powers_are_within_two_ulp_whatever_their_size() -> Result<()> {
    let mut random = random();
    let pairs = (0..40_000).map(|index| {
        let (bits, word) = (random() as u32, random());
        // The logarithm of the result, so that results of all sizes occur.
        let log2 = (word >> 11) as f64 / 2f64.powi(53) * 300.0 - 150.0;
        let x = match index % 3 {
            0 => f32::from_bits(bits & 0x7fff_ffff),
            1 => f32::from_bits(0x3f00_0000 + (bits & 0xff_ffff)),
            _ => f32::from_bits(0x3f7f_0000 + (bits & 0x1_ffff)),
        };
        (x, (log2 / f64::from(x).log2()) as f32)
    });
    check_powers(&pairs.collect::<Vec<_>>())
}

/// All pairs of these: C99, Annex F, has a rule for each.
#[test]
fn special_powers_are_those_of_c() -> Result<()> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.5,
        -0.5,
        1.5,
        -1.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-45,
        -1e-45,
        16_777_216.0,
        16_777_215.0,
        -16_777_215.0,
        8_388_607.5,
        8_388_609.0,
        1e30,
        -1e30,
        0.999_999_94,
        1.000_000_1,
        -0.999_999_94,
        -1.000_000_1,
    ];
    let pairs = special.into_iter().flat_map(|x| special.into_iter().map(move |y| (x, y)));
    check_powers(&pairs.collect::<Vec<_>>())
}
