//! Elementwise operations on the values where types differ.

use super::super::arith;
use super::super::element::Element;
use crate::ir::{Binary, Compare, Dtype, Rounding, Transcendental, Unary};

const INT: fn(i128) -> Element = Element::Int;
const FLOAT: fn(f64) -> Element = Element::Float;

/// Equal, of one sign if zero, or both NaN.
#[track_caller]
fn same(actual: Element, required: Element) {
    match (actual, required) {
        (Element::Float(a), Element::Float(b)) => {
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{a} instead of {b}");
        }
        _ => assert_eq!(actual, required),
    }
}

#[test]
fn integers_wrap() {
    let binary = |op, dtype, a, b| arith::binary(op, dtype, INT(a), INT(b));
    same(binary(Binary::Add, Dtype::I32, i32::MAX.into(), 1), INT(i32::MIN.into()));
    same(binary(Binary::Sub, Dtype::U8, 0, 1), INT(255));
    same(binary(Binary::Mul, Dtype::U64, u64::MAX.into(), u64::MAX.into()), INT(1));
    same(binary(Binary::Mul, Dtype::I64, i64::MIN.into(), -1), INT(i64::MIN.into()));
    same(binary(Binary::Div, Dtype::I32, i32::MIN.into(), -1), INT(i32::MIN.into()));
    same(binary(Binary::Div, Dtype::I32, -7, 2), INT(-3));
    same(binary(Binary::Rem, Dtype::I32, -7, 2), INT(-1));
    same(binary(Binary::Div, Dtype::I32, 1, 0), Element::Undefined);
    same(binary(Binary::Rem, Dtype::U16, 1, 0), Element::Undefined);
    same(binary(Binary::Shl, Dtype::I32, 1, 33), INT(2));
    same(binary(Binary::Shl, Dtype::I8, 1, 7), INT(-128));
    same(binary(Binary::Shr, Dtype::I32, -8, 1), INT(-4));
    same(binary(Binary::Shr, Dtype::U32, 0xffff_fff8, 1), INT(0x7fff_fffc));
    same(binary(Binary::Min, Dtype::I16, -1, 1), INT(-1));
    same(binary(Binary::Xor, Dtype::U8, 0xf0, 0xff), INT(0x0f));
    same(arith::unary(Unary::Neg, Dtype::I8, INT(-128)), INT(-128));
    same(arith::unary(Unary::Abs, Dtype::I8, INT(-128)), INT(-128));
    same(arith::unary(Unary::Not, Dtype::U8, INT(1)), INT(254));
    same(arith::unary(Unary::Not, Dtype::Bool, Element::Bool(true)), Element::Bool(false));
    same(arith::fma(Dtype::I32, INT(1 << 20), INT(1 << 20), INT(3)), INT(3));
}

#[test]
fn floats_are_rounded_to_their_type() {
    let binary = |op, dtype, a, b| arith::binary(op, dtype, FLOAT(a), FLOAT(b));
    same(binary(Binary::Add, Dtype::F16, 2048.0, 1.0), FLOAT(2048.0));
    same(binary(Binary::Add, Dtype::F16, 65504.0, 16.0), FLOAT(f64::INFINITY));
    same(binary(Binary::Mul, Dtype::Bf16, 1.007_812_5, 1.007_812_5), FLOAT(1.015_625));
    same(binary(Binary::Add, Dtype::F32, 16_777_216.0, 1.0), FLOAT(16_777_216.0));
    same(binary(Binary::Div, Dtype::F32, 1.0, 3.0), FLOAT(f64::from(1.0_f32 / 3.0_f32)));
    same(binary(Binary::Rem, Dtype::F32, -5.5, 2.0), FLOAT(-1.5));
    same(binary(Binary::Min, Dtype::F32, f64::NAN, 1.0), FLOAT(1.0));
    same(binary(Binary::Max, Dtype::F32, 1.0, f64::NAN), FLOAT(1.0));
    same(binary(Binary::Max, Dtype::F32, f64::NAN, f64::NAN), FLOAT(f64::NAN));
    same(binary(Binary::Min, Dtype::F32, 0.0, -0.0), FLOAT(-0.0));
    same(binary(Binary::Max, Dtype::F32, -0.0, 0.0), FLOAT(0.0));
    same(arith::unary(Unary::Sqrt, Dtype::F32, FLOAT(2.0)), FLOAT(f64::from(2.0_f32.sqrt())));
    same(arith::unary(Unary::Rsqrt, Dtype::F32, FLOAT(0.25)), FLOAT(2.0));
    same(
        arith::unary(Transcendental::Exp2.into(), Dtype::F16, FLOAT(-24.0)),
        FLOAT(0.5_f64.powi(24)),
    );
    same(
        arith::unary(Transcendental::Log2.into(), Dtype::F32, FLOAT(0.0)),
        FLOAT(f64::NEG_INFINITY),
    );
    same(arith::unary(Rounding::Floor.into(), Dtype::F32, FLOAT(-0.5)), FLOAT(-1.0));
    same(arith::unary(Rounding::Ceil.into(), Dtype::F32, FLOAT(-0.5)), FLOAT(-0.0));
}

#[test]
fn fused_products_are_rounded_once() {
    let fma = |dtype, a, b, c| arith::fma(dtype, FLOAT(a), FLOAT(b), FLOAT(c));
    // (1 + 2^-10)² = 1 + 2^-9 + 2^-20; rounded on its way it would lose the last term.
    let a = 1.0 + 0.5_f64.powi(10);
    same(fma(Dtype::F16, a, a, -1.0 - 0.5_f64.powi(9)), FLOAT(0.5_f64.powi(20)));
    // The middle between two values of bf16, and something far below what f64 keeps of the sum.
    let product = (1.0 + 0.5_f64.powi(4), 1.0 + 0.5_f64.powi(4));
    let exact = product.0 * product.1;
    same(fma(Dtype::Bf16, product.0, product.1, 0.0), FLOAT(1.125));
    same(fma(Dtype::Bf16, product.0, product.1, 0.5_f64.powi(100)), FLOAT(1.132_812_5));
    assert!(
        (exact - (1.125 + 0.5_f64.powi(8))).abs() < f64::EPSILON,
        "the middle between 1.125 and the next one"
    );
    let b = 1.0 + 0.5_f64.powi(12);
    same(fma(Dtype::F32, b, b, -1.0 - 0.5_f64.powi(11)), FLOAT(0.5_f64.powi(24)));
}

#[test]
fn casts_saturate_as_rust_does() {
    same(arith::cast(Dtype::I32, FLOAT(f64::NAN)), INT(0));
    same(arith::cast(Dtype::I32, FLOAT(1e20)), INT(i32::MAX.into()));
    same(arith::cast(Dtype::U8, FLOAT(-1.5)), INT(0));
    same(arith::cast(Dtype::I8, FLOAT(-1.9)), INT(-1));
    same(arith::cast(Dtype::I64, FLOAT(f64::NEG_INFINITY)), INT(i64::MIN.into()));
    same(arith::cast(Dtype::U8, INT(-1)), INT(255));
    same(arith::cast(Dtype::I8, INT(200)), INT(-56));
    same(arith::cast(Dtype::F16, INT(2049)), FLOAT(2048.0));
    same(arith::cast(Dtype::F32, INT(16_777_217)), FLOAT(16_777_216.0));
    same(arith::cast(Dtype::F32, Element::Bool(true)), FLOAT(1.0));
    same(arith::cast(Dtype::Bool, FLOAT(0.5)), Element::Bool(true));
    same(arith::cast(Dtype::Bf16, FLOAT(1.0 + 0.5_f64.powi(8))), FLOAT(1.0));
    same(arith::cast(Dtype::E4m3, FLOAT(1.0625)), FLOAT(1.0));
    same(arith::cast(Dtype::E4m3, FLOAT(f64::INFINITY)), FLOAT(448.0));
    same(arith::cast(Dtype::E5m2, INT(-100_000)), FLOAT(-57344.0));
    same(arith::cast(Dtype::I8, FLOAT(-448.0)), INT(-128));
}

#[test]
fn nan_differs_from_everything() {
    for op in [Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge, Compare::Eq] {
        same(arith::compare(op, FLOAT(f64::NAN), FLOAT(0.0)), Element::Bool(false));
    }
    same(arith::compare(Compare::Ne, FLOAT(f64::NAN), FLOAT(f64::NAN)), Element::Bool(true));
    same(arith::compare(Compare::Eq, FLOAT(-0.0), FLOAT(0.0)), Element::Bool(true));
    same(arith::compare(Compare::Ge, INT(3), INT(3)), Element::Bool(true));
}

#[test]
fn elements_survive_memory() {
    for &dtype in Dtype::ALL {
        for bits in [0_u128, 1, 0x41, 0x4248, 0x4048_f5c3, 0x4009_21fb_5444_2d18] {
            let width = 8 * dtype.bytes();
            let bits = if width < 64 { bits & ((1 << width) - 1) } else { bits };
            let bits = if dtype == Dtype::Bool { bits & 1 } else { bits };
            let element = Element::from_bits(dtype, bits);
            assert_eq!(element.to_bits(dtype), Ok(bits), "{dtype}");
        }
    }
    same(Element::from_bits(Dtype::I16, 0xffff), INT(-1));
    same(Element::from_bits(Dtype::Bf16, 0x3f80), FLOAT(1.0));
    same(Element::from_bits(Dtype::F16, 0x3c00), FLOAT(1.0));
}
