//! The functions of `f64` against slow ones that are exact to about 100 bits.

#[path = "exact/functions.rs"]
mod exact;
#[path = "exact/kernels.rs"]
mod kernels;

use exact::Exact;
use kernels::{NAMES, check_ends, powers, random, results};
use kiln::prelude::*;

type Function = fn(f64) -> Exact;

/// In the order of the rows.
const FUNCTIONS: [Function; NAMES.len()] = [
    exact::exp,
    exact::exp_m1,
    exact::exp2,
    exact::ln,
    exact::ln_1p,
    exact::log2,
    exact::log10,
    exact::sin,
    exact::cos,
    exact::tanh,
    exact::erf,
    exact::erfc,
    exact::cbrt,
    exact::rsqrt,
];

fn check(values: &[f64], bound: f64) -> Result<()> {
    let results = results(values)?;
    for ((name, exact), row) in NAMES.iter().zip(FUNCTIONS).zip(results.chunks(values.len())) {
        let worst = values
            .iter()
            .zip(row)
            .map(|(&x, &actual)| (exact(x).ulp(actual), x, actual))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let (error, x, actual) = worst.expect("there are values");
        assert!(error <= bound, "{name}({x:e}) is {actual:e}, {error} ulp from it");
    }
    Ok(())
}

/// A number from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn part(word: u64) -> f64 {
    (word >> 11) as f64 / 2f64.powi(53)
}

#[test]
fn the_error_is_at_most_two_ulp_at_all_sizes() -> Result<()> {
    let mut random = random();
    let values: Vec<f64> = (0..8192).map(|_| f64::from_bits(random())).collect();
    check(&values, 2.0)
}

/// Of the size that functions change at: most random bits are far larger or smaller.
#[test]
fn the_error_is_at_most_two_ulp_of_usual_numbers() -> Result<()> {
    let mut random = random();
    let wide = [3.0, 30.0, 750.0, 1e6];
    let mut values = Vec::new();
    for range in wide {
        values.extend((0..2048).map(|_| range * (2.0 * part(random()) - 1.0)));
    }
    // Near 1, the nearer the more.
    values.extend((0..2048).map(|n| 1.0 + (part(random()) - 0.5) * 2f64.powi(-(n % 50))));
    check(&values, 2.0)
}

/// Where functions change from one formula to the next, are nearly zero, overflow or become subnormal.
#[test]
fn the_error_is_at_most_two_ulp_at_the_bends() -> Result<()> {
    let bends = [
        0.25,
        0.5,
        0.5625,
        1.0,
        2.0,
        std::f64::consts::FRAC_1_SQRT_2,
        std::f64::consts::SQRT_2,
        std::f64::consts::LN_2 / 2.0,
        std::f64::consts::FRAC_PI_4,
        20.0,
        22.0,
        26.54,
        27.23,
        28.0,
        50.0,
        708.3964,
        709.7827,
        710.0,
        745.1332,
        1022.0,
        1024.0,
        1075.0,
        1_073_741_824.0,
        f64::MIN_POSITIVE,
        1e-310,
        1e-160,
        f64::MAX / 2.0,
    ];
    let around = |bend: f64| {
        let bits = bend.to_bits();
        let first = bits.saturating_sub(20);
        (first..bits + 20).map(f64::from_bits)
    };
    let mut values: Vec<f64> = bends.into_iter().flat_map(around).flat_map(|x| [x, -x]).collect();
    values.extend([5e-324, -5e-324, f64::MAX, f64::MIN]);
    check(&values, 2.0)
}

/// Of these angles little is left when multiples of π/2 are taken off.
#[test]
fn the_error_is_at_most_two_ulp_near_multiples_of_a_quarter_turn() -> Result<()> {
    let mut random = random();
    let near = (0..8192).map(|n| {
        let whole = (part(random()) * 2f64.powi(n % 1020)).round();
        whole * std::f64::consts::FRAC_PI_2
    });
    let values: Vec<f64> = near.collect();
    check(&values, 2.0)
}

/// The `f64` that is nearest to a multiple of π/2 (Muller, "Elementary Functions", section on argument reduction).
#[test]
fn the_angle_nearest_to_a_quarter_turn_keeps_its_digits() -> Result<()> {
    let x = 6_381_956_970_095_103.0 * 2f64.powi(797);
    let results = results(&[x])?;
    let (sine, cosine) = (results[7], results[8]);
    let required = -4.687_165_924_254_628e-19;
    assert!((cosine - required).abs() <= 2e-34, "{cosine:e}");
    assert_eq!(sine.to_bits(), 1f64.to_bits());
    Ok(())
}

/// Zeros with their signs, infinities and NaN: as in C99, Annex F, and Rust.
#[test]
fn the_ends_are_exact() -> Result<()> {
    check_ends::<f64>()
}

fn check_powers(pairs: &[(f64, f64)]) -> Result<()> {
    for (&(x, y), actual) in pairs.iter().zip(powers(pairs)?) {
        let error = exact::powf(x, y).ulp(actual);
        assert!(error <= 2.0, "{x:e} to the {y:e} is {actual:e}, {error} ulp from it");
    }
    Ok(())
}

/// Bases of all sizes, between 1/2 and 2 and near 1, with results of all sizes; then any two numbers.
#[test]
fn powers_are_within_two_ulp() -> Result<()> {
    let mut random = random();
    let pairs: Vec<(f64, f64)> = (0..16384)
        .map(|n| {
            let log2 = 2200.0 * part(random()) - 1100.0;
            let x = match n % 4 {
                0 => f64::from_bits(random() & (u64::MAX >> 1)),
                1 => 0.5 + 1.5 * part(random()),
                2 => 1.0 + (part(random()) - 0.5) * 2f64.powi(-(n % 45)),
                _ => return (f64::from_bits(random()), f64::from_bits(random())),
            };
            (x, log2 / x.log2())
        })
        .collect();
    check_powers(&pairs)
}

/// Every pair of these: zeros, infinities, NaN, ±1, integers odd and even, and others (C99, F.9.4.4).
#[test]
fn powers_of_ends_are_those_of_rust() -> Result<()> {
    let ends = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1.0,
        -1.0,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.5,
        -0.5,
        1e300,
        -1e300,
        9_007_199_254_740_993.0,
        5e-324,
    ];
    let pairs: Vec<(f64, f64)> = ends.into_iter().flat_map(|x| ends.map(|y| (x, y))).collect();
    check_powers(&pairs)
}
