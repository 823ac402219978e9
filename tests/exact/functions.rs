//! Functions of `f64` to about 100 bits: slow, by the series of the textbooks, in sums of two `f64`.
//!
//! What is measured uses other series, other intervals and no sums of two numbers beyond the places that need them.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The sum of two `f64`, of which the second is below half a unit in the last place of the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum(f64, f64);

const LN_2: Sum = Sum(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const LN_10: Sum = Sum(std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
const HALF_PI: Sum = Sum(std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
/// 2/√π.
const TWO_BY_ROOT_PI: Sum = Sum(std::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);

fn two_sum(a: f64, b: f64) -> Sum {
    let sum = a + b;
    let part = sum - a;
    Sum(sum, (a - (sum - part)) + (b - part))
}

impl From<f64> for Sum {
    fn from(value: f64) -> Sum {
        Sum(value, 0.0)
    }
}

impl Neg for Sum {
    type Output = Sum;
    fn neg(self) -> Sum {
        Sum(-self.0, -self.1)
    }
}

impl Add for Sum {
    type Output = Sum;
    fn add(self, other: Sum) -> Sum {
        let (high, low) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let sum = two_sum(high.0, high.1 + low.0);
        two_sum(sum.0, sum.1 + low.1)
    }
}

impl Sub for Sum {
    type Output = Sum;
    fn sub(self, other: Sum) -> Sum {
        Add::add(self, -other)
    }
}

impl Mul for Sum {
    type Output = Sum;
    fn mul(self, other: Sum) -> Sum {
        let high = self.0 * other.0;
        let low = self.0.mul_add(other.0, -high);
        two_sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Sum {
    type Output = Sum;
    fn div(self, other: Sum) -> Sum {
        let first = self.0 / other.0;
        let rest = self - other * first.into();
        let second = rest.0 / other.0;
        let rest = rest - other * second.into();
        two_sum(first, second) + (rest.0 / other.0).into()
    }
}

impl Sum {
    fn times_power(self, exponent: i32) -> Sum {
        Sum(power_of_two(self.0, exponent), power_of_two(self.1, exponent))
    }
}

/// `value · 2^exponent`, if the result is a normal number.
fn power_of_two(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// A number times a power of two, or what has no digits: zeros, infinities and NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    value: Sum,
    exponent: i32,
}

impl From<Sum> for Exact {
    fn from(value: Sum) -> Exact {
        Exact { value, exponent: 0 }
    }
}

impl From<f64> for Exact {
    fn from(value: f64) -> Exact {
        Sum::from(value).into()
    }
}

impl Exact {
    /// How far `actual` is away, in units in the last place of an `f64` of the size of the exact value. Infinity stands for 2^1024;
    /// a wrong sign of zero, NaN for a number and a number for NaN are infinitely wrong.
    pub(crate) fn ulp(self, actual: f64) -> f64 {
        let Exact { value, exponent } = self;
        if actual.is_nan() || value.0.is_nan() {
            return if actual.is_nan() && value.0.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if actual.is_sign_negative() != value.0.is_sign_negative() {
            return f64::INFINITY;
        }
        if value.0 == 0.0 || value.0.is_infinite() {
            let same = actual.to_bits() == value.0.to_bits();
            return if same { 0.0 } else { f64::INFINITY };
        }
        let size = (value.0.abs().to_bits() >> 52).cast_signed();
        let size = i32::try_from(size).expect("11 bits") - 1023 + exponent;
        if size >= 1024 {
            return if actual.is_infinite() { 0.0 } else { f64::INFINITY };
        }
        let unit = size.max(-1022) - 52;
        // Both relative to the unit: what is far below it may vanish.
        let exact = value.times_power((exponent - unit).max(-200));
        let actual = if actual.is_infinite() {
            2f64.powi(500) * 2f64.powi(1024 - 500 - unit)
        } else {
            power_of_two(actual.abs(), -unit)
        };
        ((actual - exact.0.abs()) - exact.1 * exact.0.signum()).abs()
    }
}

/// The exponent of a positive number, and the number between 1/√2 and √2 that it leaves.
fn split(x: f64) -> (i32, f64) {
    let normal = if x < f64::MIN_POSITIVE { x * 2f64.powi(54) } else { x };
    let below = if x < f64::MIN_POSITIVE { -54 } else { 0 };
    let exponent = i32::try_from(normal.to_bits() >> 52).expect("11 bits") - 1023;
    let m = power_of_two(normal, -exponent);
    if m > std::f64::consts::SQRT_2 {
        (exponent + 1 + below, m / 2.0)
    } else {
        (exponent + below, m)
    }
}

/// e^r - 1 of |r| < 0.4.
fn exp_m1_near(r: Sum) -> Sum {
    let one = Sum::from(1.0);
    (2..=28).rev().fold(one, |sum, n| one + r * sum / f64::from(n).into()) * r
}

/// e^x, of |x| < 10^5.
fn power_of_e(x: Sum) -> Exact {
    let n = (x.0 / LN_2.0).round();
    let near = exp_m1_near(x - LN_2 * n.into());
    #[expect(clippy::cast_possible_truncation, reason = "an integral number")]
    let exponent = n as i32;
    Exact { value: near + 1.0.into(), exponent }
}

/// What is beyond the range of `f64` anyway.
fn clamped(x: f64) -> f64 {
    x.clamp(-1e4, 1e4)
}

pub(crate) fn exp(x: f64) -> Exact {
    if x.is_infinite() { x.exp().into() } else { power_of_e(clamped(x).into()) }
}

pub(crate) fn exp2(x: f64) -> Exact {
    if x.is_infinite() { x.exp2().into() } else { power_of_e(LN_2 * clamped(x).into()) }
}

pub(crate) fn exp_m1(x: f64) -> Exact {
    if x == 0.0 || x.is_nan() || x == f64::INFINITY {
        return x.into();
    }
    if x.abs() < 0.3 {
        return exp_m1_near(x.into()).into();
    }
    let power = power_of_e(clamped(x).into());
    match power.exponent {
        ..-200 => Sum(-1.0, 2f64.powi(-200)).into(),
        200.. => power,
        exponent => (power.value.times_power(exponent) - 1.0.into()).into(),
    }
}

/// ln((1 + s) / (1 - s)) = 2s (1 + s²/3 + s⁴/5 + ..).
fn twice_artanh(s: Sum) -> Sum {
    let square = s * s;
    let series = (0..30)
        .rev()
        .fold(Sum::from(0.0), |sum, k| sum * square + Sum::from(1.0) / f64::from(2 * k + 1).into());
    series * s * 2.0.into()
}

/// The exponent and the logarithm of what it leaves, of a positive finite number.
fn logarithm(x: f64) -> (Sum, Sum) {
    let (e, m) = split(x);
    (f64::from(e).into(), twice_artanh(two_sum(m, -1.0) / two_sum(m, 1.0)))
}

fn has_logarithm(x: f64) -> bool {
    x > 0.0 && x < f64::INFINITY && x.to_bits() != 1f64.to_bits()
}

fn ln_of(x: f64) -> Sum {
    let (e, m) = logarithm(x);
    e * LN_2 + m
}

pub(crate) fn ln(x: f64) -> Exact {
    if has_logarithm(x) { ln_of(x).into() } else { x.ln().into() }
}

pub(crate) fn log2(x: f64) -> Exact {
    if !has_logarithm(x) {
        return x.log2().into();
    }
    let (e, m) = logarithm(x);
    (e + m / LN_2).into()
}

pub(crate) fn log10(x: f64) -> Exact {
    if has_logarithm(x) { (ln_of(x) / LN_10).into() } else { x.log10().into() }
}

pub(crate) fn ln_1p(x: f64) -> Exact {
    if x == 0.0 || !(x > -1.0 && x < f64::INFINITY) {
        return x.ln_1p().into();
    }
    let sum = two_sum(1.0, x);
    if x.abs() < 2f64.powi(-60) {
        return Sum(x, -x * x / 2.0).into();
    }
    if x.abs() < 0.2 {
        return twice_artanh(Sum::from(x) / (sum + 1.0.into())).into();
    }
    // The logarithm of the rounded sum, and of what it leaves.
    (ln_of(sum.0) + (Sum::from(sum.1) / sum)).into()
}

/// The bits of 2/π after the point.
const TWO_OVER_PI: [u64; 18] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
];

fn low_word(value: u128) -> u64 {
    u64::try_from(value & u128::from(u64::MAX)).expect("64 bits")
}

/// The nearest multiple of π/2, and how far the angle is from it: all of 2/π times the significand, as a long number.
fn reduced(x: f64) -> (u64, Sum) {
    let bits = x.abs().to_bits();
    let (exponent, significand) = (bits >> 52, bits & ((1 << 52) - 1) | 1 << 52);
    let mut product = [0; 19];
    let mut carry = 0;
    for (place, word) in product.iter_mut().rev().zip(TWO_OVER_PI.into_iter().rev()) {
        carry += u128::from(word) * u128::from(significand);
        *place = low_word(carry);
        carry >>= 64;
    }
    product[0] = low_word(carry);
    // The product is times 2^(exponent - 1075 - 1152): the point stands before this bit, counted from the highest.
    let point = usize::try_from(exponent).expect("11 bits") + 64 - 1075;
    let bit = |at: usize| at < 64 * 19 && product[at / 64] >> (63 - at % 64) & 1 == 1;
    let whole = u64::from(bit(point - 1)) + 2 * u64::from(bit(point - 2));
    let mut fraction = [0u64; 3];
    for at in 0..192 {
        fraction[at / 64] |= u64::from(bit(point + at)) << (63 - at % 64);
    }
    let above = fraction[0] >> 63 == 1;
    if above {
        fraction = fraction.map(|word| !word);
    }
    let halves = fraction.into_iter().flat_map(|word| [word >> 32, word & 0xffff_ffff]);
    let sum = halves.zip(1..).fold(Sum::from(0.0), |sum, (half, at)| {
        let half = f64::from(u32::try_from(half).expect("32 bits"));
        sum + Sum::from(half * 2f64.powi(-32 * at))
    });
    let rest = sum * HALF_PI;
    (whole + u64::from(above), if above { -rest } else { rest })
}

/// The sine or, one quarter further, the cosine.
fn sine(x: f64, further: u64) -> Exact {
    if !x.is_finite() {
        return f64::NAN.into();
    }
    let (quarters, rest) = if x.abs() < 0.75 { (0, x.abs().into()) } else { reduced(x) };
    let rest = if x < 0.0 { -rest } else { rest };
    let quarters = if x < 0.0 { quarters.wrapping_neg() } else { quarters }.wrapping_add(further);
    let odd = quarters & 1;
    let square = rest * rest;
    let one = Sum::from(1.0);
    let series = (0..16).rev().fold(one, |sum, k| {
        let n = f64::from(2 * k + 1) + if odd == 1 { 0.0 } else { 1.0 };
        one - sum * square / Sum::from(n * (n + 1.0))
    });
    let value = if odd == 1 { series } else { series * rest };
    (if quarters & 2 == 2 { -value } else { value }).into()
}

pub(crate) fn sin(x: f64) -> Exact {
    if x == 0.0 { x.into() } else { sine(x, 0) }
}

pub(crate) fn cos(x: f64) -> Exact {
    sine(x, 1)
}

pub(crate) fn tanh(x: f64) -> Exact {
    if x == 0.0 || x.is_nan() {
        return x.into();
    }
    if x.abs() > 40.0 {
        return Sum(x.signum(), -x.signum() * 2f64.powi(-110)).into();
    }
    let Exact { value, exponent } = exp_m1(2.0 * x);
    let power = value.times_power(exponent);
    (power / (power + 2.0.into())).into()
}

/// e^(-x²).
fn bell(x: f64) -> Exact {
    let square = x * x;
    power_of_e(Sum(-square, -x.mul_add(x, -square)))
}

/// x · e^(-x²) · 2/√π · (1 + 2x²/3 + (2x²)²/(3·5) + ..), of which every term is positive (Abramowitz and Stegun, 7.1.6).
fn erf_near(x: f64) -> Sum {
    let twice = Sum::from(2.0 * x) * x.into();
    let (mut term, mut sum, mut odd) = (Sum::from(1.0), Sum::from(0.0), 1.0);
    while term.0 > sum.0 * 2f64.powi(-110) {
        sum = sum + term;
        odd += 2.0;
        term = term * twice / odd.into();
    }
    let Exact { value, exponent } = bell(x);
    TWO_BY_ROOT_PI * x.into() * sum * value.times_power(exponent)
}

pub(crate) fn erf(x: f64) -> Exact {
    if x == 0.0 || x.is_nan() {
        x.into()
    } else if x.abs() > 6.5 {
        Sum(x.signum(), -x.signum() * 2f64.powi(-64)).into()
    } else if x.abs() < 1e-30 {
        Exact { value: TWO_BY_ROOT_PI * (x * 2f64.powi(200)).into(), exponent: -200 }
    } else {
        erf_near(x).into()
    }
}

/// From 5 on e^(-x²)/√π / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ..)))) (Abramowitz and Stegun, 7.1.14).
pub(crate) fn erfc(x: f64) -> Exact {
    if x.is_nan() || x == f64::INFINITY {
        return (if x.is_nan() { x } else { 0.0 }).into();
    }
    if x < -6.5 {
        return Sum(2.0, -2f64.powi(-64)).into();
    }
    if x.abs() < 1e-30 {
        return Sum(1.0, -x).into();
    }
    if x < 5.0 {
        return (Sum::from(1.0) - erf_near(x)).into();
    }
    let x = x.min(100.0);
    let depth = (1..=150)
        .rev()
        .fold(Sum::from(x), |rest, k| Sum::from(x) + Sum::from(f64::from(k) / 2.0) / rest);
    let Exact { value, exponent } = bell(x);
    Exact { value: value * TWO_BY_ROOT_PI / depth, exponent: exponent - 1 }
}

pub(crate) fn cbrt(x: f64) -> Exact {
    if x == 0.0 || !x.is_finite() {
        return x.into();
    }
    let (e, m) = split(x.abs());
    let third = e.div_euclid(3);
    let m = power_of_two(m, e - 3 * third);
    let root = Sum::from(m.cbrt());
    let rest = Sum::from(m) - root * root * root;
    let value = root + rest / (root * root * 3.0.into());
    Exact { value: if x < 0.0 { -value } else { value }, exponent: third }
}

pub(crate) fn rsqrt(x: f64) -> Exact {
    if !(x > 0.0 && x.is_finite()) {
        return x.sqrt().recip().into();
    }
    let (e, m) = split(x);
    let half = e.div_euclid(2);
    let m = power_of_two(m, e - 2 * half);
    let root = Sum::from(m.sqrt().recip());
    let rest = Sum::from(1.0) - root * root * m.into();
    Exact { value: root + rest * root * 0.5.into(), exponent: -half }
}

/// x^y. What is special about the arguments is left to Rust.
pub(crate) fn powf(x: f64, y: f64) -> Exact {
    let rust = x.powf(y);
    if !x.is_finite()
        || !y.is_finite()
        || x == 0.0
        || y == 0.0
        || x.abs().to_bits() == 1f64.to_bits()
        || rust.is_nan()
    {
        return rust.into();
    }
    let log = ln_of(x.abs());
    let power = if (log.0 * y).abs() > 1e4 {
        power_of_e((1e4 * (log.0 * y).signum()).into())
    } else if y.abs() < 2f64.powi(-900) {
        Sum(1.0, log.0 * y).into()
    } else {
        power_of_e(log * y.into())
    };
    Exact { value: if rust.is_sign_negative() { -power.value } else { power.value }, ..power }
}
