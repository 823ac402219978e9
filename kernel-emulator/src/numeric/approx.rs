//! `.approx` and `.full` functions. PTX ISA, "Floating Point Instructions" (div, rcp, sqrt, rsqrt, sin,
//! cos, lg2, ex2, tanh) and "Half Precision Floating Point Instructions" (ex2, tanh).
//!
//! The manual bounds the error and fixes the special cases, and leaves the bits to the device. The
//! result here is the exact one rounded to nearest (from an f64 whose own error is below 2^-40 of the
//! result), so it is within every bound that the manual states; a device's may differ from it by
//! as much as the bound allows. Where the device's way of computing shows far beyond rounding (sine
//! and cosine of large angles, `ex2` of halves), it is followed. No function of the host's mathematical library is used, whose last
//! bit differs between systems.

use super::exact;
use super::format::{Format, Overflow, Round, Special, Value};
use super::lossy::{low16, nearest};
use super::narrow::{self, Half};
use super::scalar::{self, Clamp, Mode, NAN_F32, flush_f32};

const fn mode(flush: bool) -> Mode {
    Mode { round: Round::NearestEven, flush, clamp: Clamp::None }
}

/// Rounds an f64 to f32 bits with the canonical NaN.
#[inline]
fn to_f32(x: f64, flush: bool) -> u32 {
    scalar::finish_f32(nearest(x).to_bits(), mode(flush))
}

#[inline]
fn operand(bits: u32, flush: bool) -> f64 {
    f64::from(f32::from_bits(if flush { flush_f32(bits) } else { bits }))
}

/// `div.approx{.ftz}.f32`: within 2 ulp for `|b|` in 2^-126 to 2^126. For larger finite `b` the
/// result is 0, or NaN if `a` is infinite, as the manual says, since 1 / b is taken first and is too
/// small for the divider.
pub fn div_f32(a: u32, b: u32, flush: bool) -> u32 {
    let magnitude = b & 0x7fff_ffff;
    if magnitude > 0x7e80_0000 && magnitude < 0x7f80_0000 {
        let infinite = a & 0x7fff_ffff >= 0x7f80_0000;
        return if infinite { NAN_F32 } else { (a ^ b) & 0x8000_0000 };
    }
    scalar::div_f32(a, b, mode(flush))
}

/// `div.full{.ftz}.f32`: within 2 ulp over the whole range.
pub fn div_full_f32(a: u32, b: u32, flush: bool) -> u32 {
    scalar::div_f32(a, b, mode(flush))
}

/// `rcp.approx{.ftz}.f32`: within 1 ulp.
pub fn rcp_f32(a: u32, flush: bool) -> u32 {
    scalar::rcp_f32(a, mode(flush))
}

/// `sqrt.approx{.ftz}.f32`: relative error at most 2^-23.
pub fn sqrt_f32(a: u32, flush: bool) -> u32 {
    scalar::sqrt_f32(a, mode(flush))
}

/// `rsqrt.approx{.ftz}.f32`: relative error at most 2^-22.9.
pub fn rsqrt_f32(a: u32, flush: bool) -> u32 {
    to_f32(1.0 / operand(a, flush).sqrt(), flush)
}

/// `rsqrt.approx.f64`.
pub fn rsqrt_f64(a: u64) -> u64 {
    let x = f64::from_bits(a);
    if x.is_nan() || x < 0.0 {
        return scalar::nan_f64(&[a]);
    }
    (1.0 / x.sqrt()).to_bits()
}

/// The upper 32 bits of an f64 as a format of their own, which the "gross" f64 functions use.
const UPPER: Format = Format { exponent_bits: 11, mantissa_bits: 20, special: Special::Ieee };

fn gross(a: u64, f: impl Fn(Value) -> Value) -> u64 {
    let upper = UPPER.flush(a >> 32);
    let result = match f(UPPER.decode(upper)) {
        Value::Nan => 0x7fff_ffff,
        value @ (Value::Infinite { .. } | Value::Finite(_)) => {
            UPPER.flush(UPPER.encode(value, Round::Zero, Overflow::Ieee))
        }
    };
    result << 32
}

fn one() -> Value {
    Format::F32.decode(0x3f80_0000)
}

/// `rcp.approx.ftz.f64`: the low 32 bits of operand and result are zero.
pub fn rcp_ftz_f64(a: u64) -> u64 {
    gross(a, |x| exact::divide(one(), x))
}

/// `rsqrt.approx.ftz.f64`: the low 32 bits of operand and result are zero.
pub fn rsqrt_ftz_f64(a: u64) -> u64 {
    gross(a, |x| {
        // A root to 53 bits is far more than the 20 that remain; -0 keeps its sign.
        let root = Format::F64.encode(exact::square_root(x), Round::NearestEven, Overflow::Ieee);
        match x {
            Value::Nan => Value::Nan,
            Value::Infinite { .. } | Value::Finite(_) => exact::divide(one(), root_value(root)),
        }
    })
}

fn root_value(bits: u64) -> Value {
    Format::F64.decode(bits)
}

/// `ex2.approx{.ftz}.f32`: within 2 ulp; 2^-inf = +0, 2^+inf = +inf, 2^0 and 2^subnormal = 1.
pub fn ex2_f32(a: u32, flush: bool) -> u32 {
    to_f32(exp2(operand(a, flush)), flush)
}

/// `lg2.approx{.ftz}.f32`: absolute error at most 2^-22 on [0.5, 2], relative error at most 2^-22
/// elsewhere. Zeros of either sign give -inf.
pub fn lg2_f32(a: u32, flush: bool) -> u32 {
    to_f32(log2(operand(a, flush)), flush)
}

/// `sin.approx{.ftz}.f32`: absolute error at most 2^-20.5 within a period of 0. Further out the manual
/// promises nothing; the result here is what an H200's way gives: the angle in turns, cut to f32, then
/// its sine.
pub fn sin_f32(a: u32, flush: bool) -> u32 {
    to_f32(sin_cos(turns(a)).0, flush)
}

/// `cos.approx{.ftz}.f32`: as [`sin_f32`].
pub fn cos_f32(a: u32, flush: bool) -> u32 {
    to_f32(sin_cos(turns(a)).1, flush)
}

/// `tanh.approx.f32`: relative error at most 2^-11; subnormals are kept.
pub fn tanh_f32(a: u32) -> u32 {
    to_f32(tanh(operand(a, false)), false)
}

/// A function of a half, rounded to the half's format.
fn half_function(half: Half, a: u16, flush: bool, round: Round, f: impl Fn(f64) -> f64) -> u16 {
    let format = half.format();
    let a = if flush { low16(format.flush(a.into())) } else { a };
    let x = f(f64::from(half.widen(a)));
    if x.is_nan() {
        return narrow::NAN_HALF;
    }
    let bits = if x.is_infinite() {
        format.exponent_mask() | if x < 0.0 { format.sign_bit() } else { 0 }
    } else {
        format.encode_f64(x.to_bits(), round)
    };
    low16(if flush { format.flush(bits) } else { bits })
}

/// `ex2.approx.f16` (relative error at most 2^-9.9) and `ex2.approx.ftz.bf16` (2^-7). An H200 cuts the
/// f32 result off, and so does this.
pub fn ex2_half(half: Half, a: u16, flush: bool) -> u16 {
    let beyond = match half {
        Half::F16 => 65536.0,
        // The f32 that is cut has bf16's range.
        Half::Bf16 => f64::INFINITY,
    };
    half_function(half, a, flush, Round::Zero, |x| {
        let power = f64::from(nearest(exp2(x)));
        // Cutting alone would stop at the largest number.
        if power >= beyond { f64::INFINITY } else { power }
    })
}

/// `tanh.approx.f16` (absolute error at most 2^-10.987) and `.bf16` (2^-8); subnormals are kept.
pub fn tanh_half(half: Half, a: u16) -> u16 {
    half_function(half, a, false, Round::NearestEven, tanh)
}

/// 2^x for an x of f32 range; without branches, so that loops over lanes vectorise.
#[inline]
fn exp2(x: f64) -> f64 {
    // Beyond these the result is infinite or zero in every destination. NaN stays.
    let x = x.clamp(-400.0, 400.0);
    // Adding 1.5 * 2^52 rounds to an integer and leaves it in the sum's low bits.
    let shifted = x + 6_755_399_441_055_744.0;
    let whole = shifted - 6_755_399_441_055_744.0;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let t = (x - whole) * std::f64::consts::LN_2;
    // Taylor series of e^t on |t| <= 0.35: the first term left out is below 2^-46.
    horner(&EXPONENTIAL, t) * power
}

/// The binary logarithm of an x that is an f32 value.
fn log2(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh(s) with |s| <= 0.172; the first term left out is below 2^-54 of the sum.
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    f64::from(exponent) + 2.0 * s * horner(&ARTANH, square) * std::f64::consts::LOG2_E
}

fn tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 1.0 / 1024.0 {
        let square = x * x;
        return x * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0)));
    }
    if magnitude > 40.0 {
        return 1.0f64.copysign(x);
    }
    let power = exp2(2.0 * x * std::f64::consts::LOG2_E);
    (power - 1.0) / (power + 1.0)
}

/// The angle in turns: the product with the f32 nearest to 1 / (2 pi), rounded towards zero to f32. An
/// H200 takes this step in f32 and then the sine of the turns to within 2^-21.5, for operands of every
/// size; subnormal operands count as zero.
fn turns(a: u32) -> f64 {
    let x = f64::from(f32::from_bits(flush_f32(a)));
    let product = x * f64::from(f32::from_bits(0x3e22_f983));
    // No product of a normal operand is so small that f32 would lose more than these bits.
    f64::from_bits(product.to_bits() & !0x1fff_ffff)
}

/// Sine and cosine of an angle in turns, an f32 value.
fn sin_cos(turns: f64) -> (f64, f64) {
    if !turns.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // Whole turns drop out without error, and so do quarters.
    let within = turns % 1.0;
    // As in `exp2`, the sum's low bits hold the integer.
    let shifted = within * 4.0 + 6_755_399_441_055_744.0;
    let quarters = shifted - 6_755_399_441_055_744.0;
    let reduced = (within - quarters * 0.25) * std::f64::consts::TAU;
    let (s, c) = (sin_series(reduced), cos_series(reduced));
    match shifted.to_bits() & 3 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// Sine for |x| <= pi / 4.
fn sin_series(x: f64) -> f64 {
    x * horner(&SINE, x * x)
}

/// Cosine for |x| <= pi / 4.
fn cos_series(x: f64) -> f64 {
    horner(&COSINE, x * x)
}

/// The polynomial with these coefficients, lowest power first.
#[inline]
fn horner<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// `1 / n!`
const fn inverse_factorial(n: u32) -> f64 {
    let mut product = 1.0;
    let mut i = 2;
    while i <= n {
        product *= i as f64;
        i += 1;
    }
    1.0 / product
}

/// The Taylor coefficients `sign^i / (step * i + first)!`.
const fn taylor<const N: usize>(first: u32, step: u32, sign: f64) -> [f64; N] {
    let mut coefficients = [0.0; N];
    let mut s = 1.0;
    let mut n = first;
    let mut i = 0;
    while i < N {
        coefficients[i] = s * inverse_factorial(n);
        s *= sign;
        n += step;
        i += 1;
    }
    coefficients
}

const EXPONENTIAL: [f64; 12] = taylor(0, 1, 1.0);
const SINE: [f64; 8] = taylor(1, 2, -1.0);
const COSINE: [f64; 9] = taylor(0, 2, -1.0);

/// artanh(s) / s in powers of s^2: 1 / (2i + 1).
const ARTANH: [f64; 10] = {
    let mut coefficients = [0.0; 10];
    let mut odd = 1.0;
    let mut i = 0;
    while i < 10 {
        coefficients[i] = 1.0 / odd;
        odd += 2.0;
        i += 1;
    }
    coefficients
};
