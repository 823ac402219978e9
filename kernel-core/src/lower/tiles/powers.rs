//! Powers of `f32`: 2^(y · log2(x)), the logarithm and the product as sums of two `f32`.

use kernel_ptx::{Opcode, Type, Word};

use super::functions::{ROUNDER, f32_const};
use crate::ir::Rounding;
use crate::lower::emitter::{Emitter, Val, mods};

/// The least m of x = 2^e · m, near √½.
const ROOT_HALF: f32 = f32::from_bits(0x3f35_04f3);

/// A number as the sum of an `f32` and what that leaves out.
#[derive(Clone, Copy)]
struct Double {
    high: Val,
    low: Val,
}

impl Emitter {
    /// `x` to the power of `y`, with the special cases of C's `pow`, which IEEE 754 has too.
    pub(super) fn powf(&mut self, x: Val, y: Val) -> Val {
        /// 2^f within ±1/2 is 1 + f · q(f).
        const Q: [u32; 7] = [
            0x3f31_7218,
            0x3e75_fdf0,
            0x3d63_5837,
            0x3c1d_9531,
            0x3aae_d2c8,
            0x3922_0308,
            0x3770_486f,
        ];
        let magnitude = self.abs_f32(x);
        let log = self.log2_of_power(magnitude);
        let high = self.mul_f32(y, log.high);
        let minus_high = self.neg_f32(high);
        let low = self.fma_f32(y, log.high, minus_high);
        let low = self.fma_f32(y, log.low, low);
        // Beyond 160 the result is infinite, or 0, whatever the low part says.
        let size = self.abs_f32(high);
        let within = self.compare_float(Word::Le, Type::F32, size, f32_const(160.0));
        let end = self.signed_f32(f32_const(160.0), high);
        let high = self.select_f32(within, high, end);
        let low = self.select_f32(within, low, f32_const(0.0));
        let sum = self.add_f32(high, f32_const(ROUNDER));
        let whole = self.sub_f32(sum, f32_const(ROUNDER));
        let fraction = self.sub_f32(high, whole);
        let fraction = self.add_f32(fraction, low);
        let slope = self.polynomial(&Q, fraction);
        let power = self.fma_f32(fraction, slope, f32_const(1.0));
        let power = self.scaled(power, sum);
        self.power_ends(x, y, magnitude, power)
    }

    /// `value` · 2^n, where `sum` is n + [`ROUNDER`], in two steps: 2^n may be no `f32` where the result is one.
    fn scaled(&mut self, value: Val, sum: Val) -> Val {
        let bits = self.bits_of_f32(sum);
        let n = self.sub(Type::S32, bits, Val::Int(i64::from(ROUNDER.to_bits())));
        let half = self.shr(Type::S32, n, 1);
        let other = self.sub(Type::S32, n, half);
        [half, other].into_iter().fold(value, |value, exponent| {
            let bits = self.shl(Type::S32, exponent, 23);
            let bits = self.add(Type::S32, bits, Val::Int(127 << 23));
            let scale = self.f32_of_bits(bits);
            self.mul_f32(value, scale)
        })
    }

    /// What differs from the power of the magnitude.
    fn power_ends(&mut self, x: Val, y: Val, magnitude: Val, power: Val) -> Val {
        let [one, infinity, nan] = [1.0, f32::INFINITY, f32::NAN].map(f32_const);
        let is = |this: &mut Self, a, b| this.compare_float(Word::Eq, Type::F32, a, b);
        let y_size = self.abs_f32(y);
        // Odd powers have the sign of x. All large numbers are even.
        let whole = self.round(Rounding::Trunc, Type::F32, y);
        let integral = is(self, whole, y);
        let half = self.mul_f32(y, f32_const(0.5));
        let half_whole = self.round(Rounding::Trunc, Type::F32, half);
        let uneven = self.compare_float(Word::Ne, Type::F32, half_whole, half);
        let odd = self.and(Type::Pred, integral, uneven);
        let signed = self.signed_f32(power, x);
        let power = self.select_f32(odd, signed, power);
        // A finite negative number has no other powers than those to integers.
        let negative = self.compare_float(Word::Lt, Type::F32, x, f32_const(0.0));
        let finite = self.compare_float(Word::Lt, Type::F32, magnitude, infinity);
        let broken = self.not(Type::Pred, integral);
        let none = self.and(Type::Pred, negative, finite);
        let none = self.and(Type::Pred, none, broken);
        let power = self.select_f32(none, nan, power);
        // ±1 to an infinite power.
        let unit = is(self, magnitude, one);
        let endless = is(self, y_size, infinity);
        let stays = self.and(Type::Pred, unit, endless);
        let power = self.select_f32(stays, one, power);
        let number = self.pure(Opcode::Setp, mods![Word::Num, Type::F32], Type::Pred, &[x, y]);
        let power = self.select_f32(number, power, nan);
        // 1 to any power and anything to the power 0, even NaN.
        let exponent_zero = is(self, y, f32_const(0.0));
        let base_one = is(self, x, one);
        let always = self.or(Type::Pred, exponent_zero, base_one);
        self.select_f32(always, one, power)
    }

    /// log2(x) of x >= 0, to 2^-33 of it. With q = 2 (m - 1) / (m + 1) the natural logarithm of m is q + q³/12 + q⁵ · r(q²).
    fn log2_of_power(&mut self, x: Val) -> Double {
        /// r, times log2(e).
        const R: [u32; 3] = [0x3c93_bb87, 0x3b52_ddf7, 0x3a2c_f802];
        /// log2(e) and a twelfth of it, each as an `f32` and what that leaves out.
        const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, 1.925_963e-8];
        const TWELFTH: [f32; 2] = [0.120_224_59, -8.785_577e-10];
        let (e, m) = self.split_f32(x, ROOT_HALF);
        let one = f32_const(1.0);
        // m + 1, and what the sum leaves out of it.
        let sum = self.add_f32(m, one);
        let back = self.sub_f32(sum, one);
        let sum_low = self.sub_f32(m, back);
        let distance = self.sub_f32(m, one);
        let twice = self.add_f32(distance, distance);
        let inverse = self.f32_op(Opcode::Rcp, &[Word::Approx, Word::Ftz], sum);
        let q = self.mul_f32(twice, inverse);
        let minus_q = self.neg_f32(q);
        let rest = self.fma_f32(minus_q, sum, twice);
        let rest = self.fma_f32(minus_q, sum_low, rest);
        let q_low = self.mul_f32(inverse, rest);
        let square = self.mul_f32(q, q);
        let minus_square = self.neg_f32(square);
        let square_low = self.fma_f32(q, q, minus_square);
        let double_q = self.add_f32(q, q);
        let square_low = self.fma_f32(double_q, q_low, square_low);
        // log2(e) + square · (log2(e)/12 + square · r)
        let others = self.polynomial(&R, square);
        let twelfth_low = self.fma_f32(others, square, f32_const(TWELFTH[1]));
        let high = self.mul_f32(square, f32_const(TWELFTH[0]));
        let minus_high = self.neg_f32(high);
        let low = self.fma_f32(square, f32_const(TWELFTH[0]), minus_high);
        let low = self.fma_f32(square, twelfth_low, low);
        let low = self.fma_f32(square_low, f32_const(TWELFTH[0]), low);
        let factor = self.add_f32(high, f32_const(LOG2_E[0]));
        let taken = self.sub_f32(factor, f32_const(LOG2_E[0]));
        let factor_low = self.sub_f32(high, taken);
        let low = self.add_f32(low, f32_const(LOG2_E[1]));
        let factor_low = self.add_f32(factor_low, low);
        // q times that, and e.
        let product = self.mul_f32(q, factor);
        let minus_product = self.neg_f32(product);
        let low = self.fma_f32(q, factor, minus_product);
        let low = self.fma_f32(q, factor_low, low);
        let low = self.fma_f32(q_low, factor, low);
        let high = self.add_f32(e, product);
        let taken = self.sub_f32(high, e);
        let rest = self.sub_f32(product, taken);
        let low = self.add_f32(rest, low);
        let [zero, infinity] = [f32_const(0.0), f32_const(f32::INFINITY)];
        let nothing = self.compare_float(Word::Eq, Type::F32, x, zero);
        let high = self.select_f32(nothing, f32_const(f32::NEG_INFINITY), high);
        let endless = self.compare_float(Word::Eq, Type::F32, x, infinity);
        let high = self.select_f32(endless, infinity, high);
        Double { high, low }
    }
}
