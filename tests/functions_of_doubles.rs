//! The functions of `f64` against slow ones that are exact to about 100 bits.

#[path = "exact/functions.rs"]
mod exact;

use exact::Exact;
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
fn apply(x: Tensor<f64, 1>, out: TensorMut<f64, 2>) {
    let at = block_id(0) * 512;
    let put = |row: i32, value: Tile<f64>| out.tile([row, at], [1, 512]).store(value.expand(0));
    let x = x.tile([at], [512]).load();
    put(0, x.exp());
    put(1, x.exp_m1());
    put(2, x.exp2());
    put(3, x.ln());
    put(4, x.ln_1p());
    put(5, x.log2());
    put(6, x.log10());
    put(7, x.sin());
    put(8, x.cos());
    put(9, x.tanh());
    put(10, x.erf());
    put(11, x.erfc());
    put(12, x.cbrt());
    put(13, x.rsqrt());
}

type Function = fn(f64) -> Exact;

/// In the order of the rows.
const FUNCTIONS: [(&str, Function); 14] = [
    ("exp", exact::exp),
    ("exp_m1", exact::exp_m1),
    ("exp2", exact::exp2),
    ("ln", exact::ln),
    ("ln_1p", exact::ln_1p),
    ("log2", exact::log2),
    ("log10", exact::log10),
    ("sin", exact::sin),
    ("cos", exact::cos),
    ("tanh", exact::tanh),
    ("erf", exact::erf),
    ("erfc", exact::erfc),
    ("cbrt", exact::cbrt),
    ("rsqrt", exact::rsqrt),
];

/// The results of all functions of these values, a function a row.
fn results(values: &[f64]) -> Result<Vec<f64>> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.upload(values, [values.len()])?;
    let mut out = stream.zeros::<f64, 2>([FUNCTIONS.len(), values.len()])?;
    apply(apply::Args { x: &x, out: &mut out }).launch(&stream)?;
    out.to_vec(&stream)
}

fn check(values: &[f64], bound: f64) -> Result<()> {
    let results = results(values)?;
    for ((name, exact), row) in FUNCTIONS.iter().zip(results.chunks(values.len())) {
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

/// A generator of the kind of Marsaglia's xorshift.
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
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
    let ends = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN];
    let (zero, infinity, nan) = (0.0_f64, f64::INFINITY, f64::NAN);
    let required: [[f64; 5]; 14] = [
        [1.0, 1.0, infinity, zero, nan],
        [zero, -zero, infinity, -1.0, nan],
        [1.0, 1.0, infinity, zero, nan],
        [-infinity, -infinity, infinity, nan, nan],
        [zero, -zero, infinity, nan, nan],
        [-infinity, -infinity, infinity, nan, nan],
        [-infinity, -infinity, infinity, nan, nan],
        [zero, -zero, nan, nan, nan],
        [1.0, 1.0, nan, nan, nan],
        [zero, -zero, 1.0, -1.0, nan],
        [zero, -zero, 1.0, -1.0, nan],
        [1.0, 1.0, zero, 2.0, nan],
        [zero, -zero, infinity, -infinity, nan],
        [infinity, -infinity, zero, nan, nan],
    ];
    let actual = results(&ends)?;
    for ((name, _), (row, required)) in
        FUNCTIONS.iter().zip(actual.chunks(ends.len()).zip(required))
    {
        for ((&x, &actual), required) in ends.iter().zip(row).zip(required) {
            let same =
                actual.to_bits() == required.to_bits() || actual.is_nan() && required.is_nan();
            assert!(same, "{name}({x}) is {actual}, not {required}");
        }
    }
    Ok(())
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
fn raise(x: Tensor<f64, 1>, y: Tensor<f64, 1>, out: TensorMut<f64, 1>) {
    let at = [block_id(0) * 512];
    let power = x.tile(at, [512]).load().powf(y.tile(at, [512]).load());
    out.tile(at, [512]).store(power);
}

fn check_powers(pairs: &[(f64, f64)]) -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (x, y) = (stream.upload(&x, [x.len()])?, stream.upload(&y, [y.len()])?);
    let mut out = stream.zeros::<f64, 1>([pairs.len()])?;
    raise(raise::Args { x: &x, y: &y, out: &mut out }).launch(&stream)?;
    for (&(x, y), actual) in pairs.iter().zip(out.to_vec(&stream)?) {
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
