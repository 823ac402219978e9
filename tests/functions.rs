//! The functions of floats against the mathematics of `f64`, over the range of `f32`.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
fn apply(x: Tensor<f32, 1>, out: TensorMut<f32, 2>) {
    let at = block_id(0) * 512;
    let put = |row: i32, value: Tile<f32>| out.tile([row, at], [1, 512]).store(value.expand(0));
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

type Function = fn(f64) -> f64;

/// In the order of the rows.
const FUNCTIONS: [(&str, Function); 14] = [
    ("exp", f64::exp),
    ("exp_m1", f64::exp_m1),
    ("exp2", f64::exp2),
    ("ln", f64::ln),
    ("ln_1p", f64::ln_1p),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tanh", f64::tanh),
    ("erf", libm::erf),
    ("erfc", libm::erfc),
    ("cbrt", f64::cbrt),
    ("rsqrt", |x| 1.0 / x.sqrt()),
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

/// The results of all functions of these values, a function a row.
fn results(values: &[f32]) -> Result<Vec<f32>> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.upload(values, [values.len()])?;
    let mut out = stream.zeros::<f32, 2>([FUNCTIONS.len(), values.len()])?;
    apply(apply::Args { x: &x, out: &mut out }).launch(&stream)?;
    out.to_vec(&stream)
}

fn check(values: &[f32], bound: f64) -> Result<()> {
    let results = results(values)?;
    for ((name, exact), row) in FUNCTIONS.iter().zip(results.chunks(values.len())) {
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
    let ends = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN];
    check(&ends, 0.0)?;
    // These are exact in the manual's formulas.
    let (zero, infinity, nan) = (0.0_f32, f32::INFINITY, f32::NAN);
    let required: [[f32; 5]; 14] = [
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
fn raise(x: Tensor<f32, 1>, y: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 512];
    let power = x.tile(at, [512]).load().powf(y.tile(at, [512]).load());
    out.tile(at, [512]).store(power);
}

fn check_powers(pairs: &[(f32, f32)]) -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let (x, y): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let (x, y) = (stream.upload(&x, [x.len()])?, stream.upload(&y, [y.len()])?);
    let mut out = stream.zeros::<f32, 1>([pairs.len()])?;
    raise(raise::Args { x: &x, y: &y, out: &mut out }).launch(&stream)?;
    for (&(x, y), actual) in pairs.iter().zip(out.to_vec(&stream)?) {
        let error = ulp(actual, f64::from(x).powf(f64::from(y)));
        assert!(error <= 2.0, "{x:e} to the {y:e} is {actual:e}, {error} ulp from it");
    }
    Ok(())
}

/// A generator of the kind of Marsaglia's xorshift.
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        for (left, by) in [(true, 13), (false, 7), (true, 17)] {
            state ^= if left { state << by } else { state >> by };
        }
        state
    }
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
