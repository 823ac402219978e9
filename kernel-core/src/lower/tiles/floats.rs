//! Arithmetic of `f32` and of `f64` by the same names, and the parts of functions that are alike in both.

use kernel_ptx::{Opcode, Type, Word};

use crate::lower::emitter::bits::{low_word, sign_extended};
use crate::lower::emitter::{Emitter, Val, mods};

/// A float type that functions are computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Single,
    Double,
}

/// Arithmetic in one of the types: each result is rounded to nearest.
pub(super) struct Floats<'e> {
    pub(super) e: &'e mut Emitter,
    pub(super) width: Width,
}

/// Coefficients by their bits, the lowest first.
pub(super) const fn singles<const N: usize>(bits: [u32; N]) -> [Val; N] {
    let mut values = [Val::F32(0); N];
    let mut at = 0;
    while at < N {
        values[at] = Val::F32(bits[at]);
        at += 1;
    }
    values
}

/// Coefficients by their bits, the lowest first.
pub(super) const fn doubles<const N: usize>(bits: [u64; N]) -> [Val; N] {
    let mut values = [Val::F64(0); N];
    let mut at = 0;
    while at < N {
        values[at] = Val::F64(bits[at]);
        at += 1;
    }
    values
}

impl Emitter {
    pub(super) fn floats(&mut self, width: Width) -> Floats<'_> {
        Floats { e: self, width }
    }
}

impl Floats<'_> {
    pub(super) fn ty(&self) -> Type {
        match self.width {
            Width::Single => Type::F32,
            Width::Double => Type::F64,
        }
    }

    /// The type of the bits.
    fn word(&self) -> Type {
        match self.width {
            Width::Single => Type::B32,
            Width::Double => Type::B64,
        }
    }

    /// The type of the bits as a signed integer.
    pub(super) fn integer(&self) -> Type {
        match self.width {
            Width::Single => Type::S32,
            Width::Double => Type::S64,
        }
    }

    /// The type of the bits as an unsigned integer.
    fn natural(&self) -> Type {
        match self.width {
            Width::Single => Type::U32,
            Width::Double => Type::U64,
        }
    }

    /// The bits of the fraction, below those of the exponent.
    fn fraction_bits(&self) -> u32 {
        match self.width {
            Width::Single => f32::MANTISSA_DIGITS - 1,
            Width::Double => f64::MANTISSA_DIGITS - 1,
        }
    }

    /// The number nearest to a constant.
    #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
    pub(super) fn constant(&self, value: f64) -> Val {
        match self.width {
            Width::Single => Val::F32((value as f32).to_bits()),
            Width::Double => Val::F64(value.to_bits()),
        }
    }

    /// An integer that stands for bits of the type.
    fn pattern(&self, bits: i64) -> Val {
        match self.width {
            Width::Single => Val::Int(sign_extended(bits, 32)),
            Width::Double => Val::Int(bits),
        }
    }

    /// 1.5 · 2^23 or 1.5 · 2^52. A number near it has no fraction: to add it rounds to an integer, which stands in the low bits of the sum.
    pub(super) fn rounder(&self) -> Val {
        self.constant(1.5 * 2f64.powi(self.fraction_bits().cast_signed()))
    }

    pub(super) fn add(&mut self, a: Val, b: Val) -> Val {
        self.e.float(Opcode::Add, self.ty(), &[a, b])
    }

    pub(super) fn sub(&mut self, a: Val, b: Val) -> Val {
        self.e.float(Opcode::Sub, self.ty(), &[a, b])
    }

    pub(super) fn mul(&mut self, a: Val, b: Val) -> Val {
        self.e.float(Opcode::Mul, self.ty(), &[a, b])
    }

    pub(super) fn div(&mut self, a: Val, b: Val) -> Val {
        self.e.float(Opcode::Div, self.ty(), &[a, b])
    }

    pub(super) fn fma(&mut self, a: Val, b: Val, c: Val) -> Val {
        self.e.float(Opcode::Fma, self.ty(), &[a, b, c])
    }

    pub(super) fn select(&mut self, mask: Val, a: Val, b: Val) -> Val {
        self.e.select(self.ty(), mask, a, b)
    }

    pub(super) fn compare(&mut self, word: Word, a: Val, b: Val) -> Val {
        self.e.compare_float(word, self.ty(), a, b)
    }

    pub(super) fn abs(&mut self, a: Val) -> Val {
        let ty = self.ty();
        self.e.pure(Opcode::Abs, mods![ty], ty, &[a])
    }

    pub(super) fn neg(&mut self, a: Val) -> Val {
        let ty = self.ty();
        self.e.pure(Opcode::Neg, mods![ty], ty, &[a])
    }

    /// The larger of two; NaN loses.
    pub(super) fn larger(&mut self, a: Val, b: Val) -> Val {
        let ty = self.ty();
        self.e.pure(Opcode::Max, mods![ty], ty, &[a, b])
    }

    /// `magnitude` with the sign of `sign`.
    pub(super) fn signed(&mut self, magnitude: Val, sign: Val) -> Val {
        let ty = self.ty();
        self.e.pure(Opcode::Copysign, mods![ty], ty, &[sign, magnitude])
    }

    /// `x` or, beyond them, the ends of a range. NaN stays.
    pub(super) fn within(&mut self, x: Val, least: f64, most: f64) -> Val {
        let (least, most) = (self.constant(least), self.constant(most));
        let low = self.compare(Word::Lt, x, least);
        let x = self.select(low, least, x);
        let high = self.compare(Word::Gt, x, most);
        self.select(high, most, x)
    }

    /// The bits of a number.
    pub(super) fn bits_of(&mut self, a: Val) -> Val {
        match a {
            Val::F32(bits) => Val::Int(sign_extended(i64::from(bits), 32)),
            Val::F64(bits) => Val::Int(bits.cast_signed()),
            Val::Reg(_) | Val::Int(_) => {
                let word = self.word();
                self.e.pure(Opcode::Mov, mods![word], word, &[a])
            }
        }
    }

    /// The number of these bits.
    pub(super) fn of_bits(&mut self, bits: Val) -> Val {
        match (bits, self.width) {
            (Val::Int(bits), Width::Single) => Val::F32(low_word(bits)),
            (Val::Int(bits), Width::Double) => Val::F64(bits.cast_unsigned()),
            (Val::Reg(_) | Val::F32(_) | Val::F64(_), _) => {
                let (word, ty) = (self.word(), self.ty());
                self.e.pure(Opcode::Mov, mods![word], ty, &[bits])
            }
        }
    }

    /// A polynomial, by Horner's rule; the lowest coefficient is the first.
    pub(super) fn polynomial(&mut self, coefficients: &[Val], x: Val) -> Val {
        let mut highest_first = coefficients.iter().rev().copied();
        let first = highest_first.next().expect("a polynomial has coefficients");
        highest_first.fold(first, |sum, next| self.fma(sum, x, next))
    }

    /// The integer n nearest to x · `factor`: its negative, and the sum that rounded it.
    pub(super) fn nearest_whole(&mut self, x: Val, factor: Val) -> (Val, Val) {
        let rounder = self.rounder();
        let sum = self.fma(x, factor, rounder);
        (self.sub(rounder, sum), sum)
    }

    /// 2^(n + more), a normal number, where `sum` is n + [`Self::rounder`].
    pub(super) fn two_to(&mut self, sum: Val, more: i64) -> Val {
        let bits = self.bits_of(sum);
        self.two_to_bits(bits, more)
    }

    /// 2^(n + more), of an integer whose low bits are n.
    fn two_to_bits(&mut self, n: Val, more: i64) -> Val {
        let (integer, at) = (self.integer(), self.fraction_bits());
        let bias = match self.width {
            Width::Single => i64::from(f32::MAX_EXP) - 1,
            Width::Double => i64::from(f64::MAX_EXP) - 1,
        };
        let bits = self.e.shl(integer, n, at);
        let bits = self.e.add(integer, bits, self.pattern((bias + more) << at));
        self.of_bits(bits)
    }

    /// `value` · 2^n, where `sum` is n + [`Self::rounder`], in two steps: 2^n may be no number of the type where the result is one.
    pub(super) fn scaled(&mut self, value: Val, sum: Val) -> Val {
        let integer = self.integer();
        let bits = self.bits_of(sum);
        let rounder = self.rounder();
        let rounder = self.bits_of(rounder);
        let n = self.e.sub(integer, bits, rounder);
        let half = self.e.shr(integer, n, 1);
        let other = self.e.sub(integer, n, half);
        [half, other].into_iter().fold(value, |value, exponent| {
            let scale = self.two_to_bits(exponent, 0);
            self.mul(value, scale)
        })
    }

    /// e and m of a positive x = 2^e · m, m between `least` and twice that.
    pub(super) fn split(&mut self, x: Val, least: Val) -> (Val, Val) {
        let raise = match self.width {
            Width::Single => 23,
            Width::Double => 52,
        };
        let least_normal = match self.width {
            Width::Single => f64::from(f32::MIN_POSITIVE),
            Width::Double => f64::MIN_POSITIVE,
        };
        let tiny = self.compare(Word::Lt, x, self.constant(least_normal));
        let raised = self.mul(x, self.constant(2f64.powi(raise)));
        let normal = self.select(tiny, raised, x);
        let below = self.select(tiny, self.constant(f64::from(-raise)), self.constant(0.0));
        let bits = self.bits_of(normal);
        let (shifted, m) = self.exponent_off(bits, least);
        let e = self.exponent_of(shifted);
        let one = self.constant(2f64.powi(-self.fraction_bits().cast_signed()));
        let e = self.fma(e, one, below);
        (e, m)
    }

    /// The bits of the exponent e of 2^e · m, and m, from the bits of a normal number.
    pub(super) fn exponent_off(&mut self, bits: Val, least: Val) -> (Val, Val) {
        let (integer, natural) = (self.integer(), self.natural());
        let least = self.bits_of(least);
        let above = self.e.sub(integer, bits, least);
        let upper = self.pattern(-1 << self.fraction_bits());
        let exponent = self.e.and(natural, above, upper);
        let m = self.e.sub(integer, bits, exponent);
        (exponent, self.of_bits(m))
    }

    /// An exponent that stands in its place among the bits, as a number of 2^23 or 2^52 too much.
    pub(super) fn exponent_of(&mut self, shifted: Val) -> Val {
        let (ty, integer) = (self.ty(), self.integer());
        self.e.pure(Opcode::Cvt, mods![Word::Rn, ty, integer], ty, &[shifted])
    }

    /// The logarithm of what is no positive finite number: -∞ of zeros, ∞ of ∞, NaN of the others; `log` of all others.
    pub(super) fn logarithm_ends(&mut self, x: Val, log: Val) -> Val {
        let natural = self.natural();
        let infinity = self.constant(f64::INFINITY);
        let bits = self.bits_of(x);
        let first_odd = self.bits_of(infinity);
        let odd = self.e.compare(Word::Ge, natural, bits, first_odd);
        let end = self.fma(x, infinity, infinity);
        let log = self.select(odd, end, log);
        let zero = self.compare(Word::Eq, x, self.constant(0.0));
        self.select(zero, self.constant(f64::NEG_INFINITY), log)
    }
}
