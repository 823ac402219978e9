//! Elementwise arithmetic. An operand that is undefined makes the result undefined.

use super::element::{Element, Pointer, wrap};
use super::float::{self, add_to_odd, round, to_f32};
use crate::ir::{Binary, BitFunction, Compare, Const, Dtype, Funnel, Transcendental, Unary};

/// A constant of a type that `ir::verify` found to hold it.
pub(super) fn constant(value: Const) -> Element {
    match value {
        Const::Bool(value) => Element::Bool(value),
        Const::Int(value) => Element::Int(value),
        Const::Float(value) => Element::Float(value),
    }
}

/// A float or an integer given as the type holds it: rounded, or wrapped.
pub(super) fn number(dtype: Dtype, value: Element) -> Element {
    match value {
        Element::Int(value) => Element::Int(wrap(dtype, value)),
        Element::Float(value) => Element::Float(round(dtype, value)),
        Element::Bool(_) | Element::Pointer(_) | Element::Undefined => value,
    }
}

/// An operation on one operand of type `dtype`.
pub(super) fn unary(op: Unary, dtype: Dtype, a: Element) -> Element {
    match a {
        Element::Float(a) => Element::Float(float_unary(op, dtype, a)),
        Element::Int(a) => Element::Int(wrap(
            dtype,
            match op {
                Unary::Neg => -a,
                Unary::Not => !a,
                Unary::Abs => a.abs(),
                Unary::Bits(function) => bits(function, dtype, a),
                Unary::Sqrt | Unary::Rsqrt | Unary::Round(_) | Unary::Transcendental(_) => {
                    unreachable!("ir::verify requires floats for {op:?}")
                }
            },
        )),
        Element::Bool(a) => Element::Bool(!a),
        Element::Undefined => Element::Undefined,
        Element::Pointer(_) => unreachable!("ir::verify requires numbers for {op:?}"),
    }
}

fn float_unary(op: Unary, dtype: Dtype, a: f64) -> f64 {
    let exact = match op {
        Unary::Neg => -a,
        Unary::Abs => a.abs(),
        // Rounding the f64 root again is harmless: f64 has more than twice the bits of the narrower types, plus two.
        Unary::Sqrt => a.sqrt(),
        Unary::Rsqrt => a.sqrt().recip(),
        Unary::Transcendental(function) => transcendental(function, a),
        Unary::Round(rounding) => rounding.of(a),
        Unary::Not | Unary::Bits(_) => unreachable!("ir::verify requires integers for {op:?}"),
    };
    round(dtype, exact)
}

/// A function of the bits that the type has.
fn bits(function: BitFunction, dtype: Dtype, a: i128) -> i128 {
    let width = 8 * dtype.bytes();
    let low = a & ((1 << width) - 1);
    match function {
        BitFunction::CountOnes => i128::from(low.count_ones()),
        BitFunction::LeadingZeros => i128::from(low.leading_zeros() + width - i128::BITS),
        BitFunction::ReverseBits => low.reverse_bits() >> (i128::BITS - width) & ((1 << width) - 1),
    }
}

/// One word of two that stand side by side, shifted.
pub(super) fn funnel_shift(op: Funnel, dtype: Dtype, [high, low, amount]: [Element; 3]) -> Element {
    let (Element::Int(high), Element::Int(low), Element::Int(amount)) = (high, low, amount) else {
        return Element::Undefined;
    };
    let width = 8 * dtype.bytes();
    let word = |value: i128| (value & ((1 << width) - 1)).cast_unsigned();
    let both = word(high) << width | word(low);
    let amount = word(amount) % u128::from(width);
    let moved = match op {
        // What leaves 128 bits at the left is not of the high word.
        Funnel::Left => both << amount >> width,
        Funnel::Right => both >> amount,
    };
    Element::Int(wrap(dtype, word(moved.cast_signed()).cast_signed()))
}

/// The same bits as another type reads them.
pub(super) fn bitcast(from: Dtype, to: Dtype, value: Element) -> Element {
    value.to_bits(from).map_or(Element::Undefined, |bits| Element::from_bits(to, bits))
}

fn transcendental(function: Transcendental, a: f64) -> f64 {
    match function {
        Transcendental::Exp | Transcendental::ExpApprox => a.exp(),
        Transcendental::ExpM1 => a.exp_m1(),
        Transcendental::Exp2 | Transcendental::Exp2Approx => a.exp2(),
        Transcendental::Ln | Transcendental::LnApprox => a.ln(),
        Transcendental::Ln1p => a.ln_1p(),
        Transcendental::Log2 | Transcendental::Log2Approx => a.log2(),
        Transcendental::Log10 => a.log10(),
        Transcendental::Sin | Transcendental::SinApprox => a.sin(),
        Transcendental::Cos | Transcendental::CosApprox => a.cos(),
        Transcendental::Tanh | Transcendental::TanhApprox => a.tanh(),
        Transcendental::Erf => erf(a),
        Transcendental::Erfc => erfc(a),
        Transcendental::Cbrt => a.cbrt(),
    }
}

/// The error function, to a few units in the last place of `f64`: up to 1 x · exp(-x²) · 2/√π · (1 + 2x²/3 + (2x²)²/(3·5) + ..), of which
/// every term is positive (Abramowitz and Stegun, 7.1.6).
fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() >= 1.0 {
        return (1.0 - erfc(x.abs())).copysign(x);
    }
    let (mut term, mut sum, mut odd) = (1.0, 0.0, 1.0);
    while term > sum * f64::EPSILON / 4.0 {
        sum += term;
        odd += 2.0;
        term *= 2.0 * x * x / odd;
    }
    std::f64::consts::FRAC_2_SQRT_PI * x * bell(x) * sum
}

/// 1 - erf(x). From 1/2 on a continued fraction, in which nothing cancels (Abramowitz and Stegun, 7.1.14):
/// exp(-x²)/√π / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ..)))). At 1/2 it takes 800 terms.
fn erfc(x: f64) -> f64 {
    if x < 0.5 || x.is_nan() {
        return 1.0 - erf(x);
    }
    let depth = (1..=800_u32).rev().fold(x, |rest, k| x + f64::from(k) / 2.0 / rest);
    std::f64::consts::FRAC_2_SQRT_PI / 2.0 * bell(x) / depth
}

/// exp(-x²), with what the rounded square leaves out.
fn bell(x: f64) -> f64 {
    let square = x * x;
    // Below the least number from 746 on; a large square leaves out more than 1.
    if square > 1e3 { 0.0 } else { (-square).exp() * (1.0 - x.mul_add(x, -square)) }
}

/// An operation on two operands of type `dtype`.
pub(super) fn binary(op: Binary, dtype: Dtype, a: Element, b: Element) -> Element {
    match (a, b) {
        (Element::Undefined, _) | (_, Element::Undefined) => Element::Undefined,
        (Element::Float(a), Element::Float(b)) => Element::Float(float_binary(op, dtype, a, b)),
        (Element::Int(a), Element::Int(b)) => int_binary(op, dtype, a, b)
            .map_or(Element::Undefined, |value| Element::Int(wrap(dtype, value))),
        (Element::Bool(a), Element::Bool(b)) => Element::Bool(match op {
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::Div
            | Binary::Rem
            | Binary::Shl
            | Binary::Shr
            | Binary::Min
            | Binary::Max
            | Binary::MulHi
            | Binary::Copysign
            | Binary::Powf => unreachable!("ir::verify requires numbers for {op:?}"),
        }),
        _ => unreachable!("ir::verify requires operands of one type for {op:?}"),
    }
}

/// None if the hardware leaves the result open.
fn int_binary(op: Binary, dtype: Dtype, a: i128, b: i128) -> Option<i128> {
    let shift = b.rem_euclid(i128::from(8 * dtype.bytes()));
    Some(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        // Two unsigned 64-bit operands overflow 127 bits, but wrap to the right low bits.
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div => a.checked_div(b)?,
        Binary::Rem => a.checked_rem(b)?,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => a << shift,
        Binary::Shr => a >> shift,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::MulHi => high_half(a, b, 8 * dtype.bytes()),
        Binary::Copysign | Binary::Powf => unreachable!("ir::verify requires floats for {op:?}"),
    })
}

/// The bits above the lower `width` ones of a product. Of two unsigned words of 64 bits it has 128, the last of which is the sign of `i128`.
fn high_half(a: i128, b: i128, width: u32) -> i128 {
    if a < 0 || b < 0 {
        return (a * b) >> width;
    }
    ((a.cast_unsigned() * b.cast_unsigned()) >> width).cast_signed()
}

/// For `f16`, `bf16` and `f32` the operation in `f64` followed by rounding equals one rounding of the exact result: sums and
/// products are either exact or so far from a middle that the first rounding cannot reach it, and for quotients `f64` has more
/// than twice the bits of the narrower type, plus two.
fn float_binary(op: Binary, dtype: Dtype, a: f64, b: f64) -> f64 {
    let exact = match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => a % b,
        Binary::Min => lesser(a, b),
        Binary::Max => -lesser(-a, -b),
        Binary::Copysign => a.copysign(b),
        Binary::Powf => a.powf(b),
        Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr | Binary::MulHi => {
            unreachable!("ir::verify requires integers for {op:?}")
        }
    };
    round(dtype, exact)
}

/// The smaller; a NaN loses, and -0 is smaller than +0.
fn lesser(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a.total_cmp(&b).is_lt() {
        a
    } else {
        b
    }
}

/// `a * b + c`, rounded once.
pub(super) fn fma(dtype: Dtype, a: Element, b: Element, c: Element) -> Element {
    match (a, b, c) {
        (Element::Float(a), Element::Float(b), Element::Float(c)) => {
            Element::Float(match float::format(dtype) {
                // The product of two 16-bit floats is exact in f64.
                Some(format) => format.round(add_to_odd(a * b, c)),
                None if dtype == Dtype::F32 => f64::from(to_f32(a).mul_add(to_f32(b), to_f32(c))),
                None => a.mul_add(b, c),
            })
        }
        (Element::Int(a), Element::Int(b), Element::Int(c)) => {
            Element::Int(wrap(dtype, a.wrapping_mul(b).wrapping_add(c)))
        }
        _ => Element::Undefined,
    }
}

/// A comparison.
pub(super) fn compare(op: Compare, a: Element, b: Element) -> Element {
    let order = match (a, b) {
        (Element::Int(a), Element::Int(b)) => Some(a.cmp(&b)),
        (Element::Bool(a), Element::Bool(b)) => Some(a.cmp(&b)),
        (Element::Float(a), Element::Float(b)) => a.partial_cmp(&b),
        (Element::Pointer(a), Element::Pointer(b)) if a.param == b.param => {
            Some(a.offset_bytes.cmp(&b.offset_bytes))
        }
        // The places of two allocations are not known.
        (Element::Pointer(_), Element::Pointer(_))
        | (Element::Undefined, _)
        | (_, Element::Undefined) => {
            return Element::Undefined;
        }
        _ => unreachable!("ir::verify requires operands of one type for {op:?}"),
    };
    Element::Bool(match op {
        Compare::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        Compare::Le => order.is_some_and(std::cmp::Ordering::is_le),
        Compare::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        Compare::Ge => order.is_some_and(std::cmp::Ordering::is_ge),
        Compare::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
        Compare::Ne => order.is_none_or(std::cmp::Ordering::is_ne),
    })
}

/// A pointer moved by a number of elements of type `dtype`.
pub(super) fn offset(op: Binary, dtype: Dtype, pointer: Element, elements: Element) -> Element {
    let (Element::Pointer(pointer), Element::Int(elements)) = (pointer, elements) else {
        return Element::Undefined;
    };
    let bytes = elements * i128::from(dtype.bytes());
    let bytes = if op == Binary::Sub { -bytes } else { bytes };
    Element::Pointer(Pointer { offset_bytes: pointer.offset_bytes + bytes, ..pointer })
}

/// A conversion to `to`.
pub(super) fn cast(to: Dtype, value: Element) -> Element {
    match value {
        Element::Undefined => Element::Undefined,
        Element::Bool(value) if to == Dtype::Bool => Element::Bool(value),
        Element::Bool(value) => cast(to, Element::Int(i128::from(value))),
        Element::Int(value) if to == Dtype::Bool => Element::Bool(value != 0),
        Element::Int(value) if to.is_int() => Element::Int(wrap(to, value)),
        Element::Int(value) => Element::Float(int_to_float(to, value)),
        Element::Float(value) if to == Dtype::Bool => Element::Bool(value != 0.0),
        Element::Float(value) if to.is_int() => Element::Int(saturate(to, value)),
        Element::Float(value) => Element::Float(round(to, value)),
        Element::Pointer(_) => unreachable!("ir::verify requires numbers for Cast"),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "`as` rounds to the nearest, ties to even: the purpose"
)]
fn int_to_float(to: Dtype, value: i128) -> f64 {
    match float::format(to) {
        Some(format) => format.round_int(value),
        None if to == Dtype::F32 => f64::from(value as f32),
        None => value as f64,
    }
}

/// Truncated, then clamped to the type; NaN gives 0.
#[expect(clippy::cast_possible_truncation, reason = "`as` truncates and saturates: the purpose")]
fn saturate(to: Dtype, value: f64) -> i128 {
    let bits = 8 * to.bytes();
    let (low, high) = if to.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    (value as i128).clamp(low, high)
}
