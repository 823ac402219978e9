//! Powers of `f32` and `f64`: 2^(y · log2(x)), the logarithm and the product as sums of two numbers of the type.

use kernel_ptx::{Opcode, Type, Word};

use super::floats::{Floats, Width, doubles, singles};
use crate::ir::Rounding;
use crate::lower::emitter::{Val, mods};

/// The constants of a type.
struct Constants {
    /// The least m of x = 2^e · m, near √½.
    root_half: Val,
    /// log2(e) and a twelfth of it, each as a number and what that leaves out.
    log2_e: [Val; 2],
    twelfth: [Val; 2],
    /// r in ln(m) = q + q³/12 + q⁵ · r(q²) with q = 2 (m - 1) / (m + 1), times log2(e).
    log: &'static [Val],
    /// q in 2^f = 1 + f · q(f), of f within ±1/2.
    power: &'static [Val],
    /// Beyond this the result is infinite, or 0, whatever the low part of y · log2(x) says.
    beyond: f64,
}

const SINGLE: Constants = Constants {
    root_half: Val::F32(0x3f35_04f3),
    log2_e: singles([0x3fb8_aa3b, 0x32a5_7060]),
    twelfth: singles([0x3df6_384f, 0xb071_7f01]),
    log: &singles([0x3c93_bb87, 0x3b52_ddf7, 0x3a2c_f802]),
    power: &singles([
        0x3f31_7218,
        0x3e75_fdf0,
        0x3d63_5837,
        0x3c1d_9531,
        0x3aae_d2c8,
        0x3922_0308,
        0x3770_486f,
    ]),
    beyond: 160.0,
};

/// The errors of the fits are 2^-71.8 of the logarithm and 2^-59 of the power.
const DOUBLE: Constants = Constants {
    root_half: Val::F64(0x3fe6_a09e_667f_3bcd),
    log2_e: doubles([0x3ff7_1547_652b_82fe, 0x3c77_77d0_ffda_0d24]),
    twelfth: doubles([0x3fbe_c709_dc3a_03fd, 0x3c5d_27f0_5548_af0c]),
    log: &doubles([
        0x3f92_776c_50ef_9bfb,
        0x3f6a_6176_2a7a_f25f,
        0x3f44_84b1_3d66_dc0f,
        0x3f20_c9a8_5576_9fc0,
        0x3efc_68ed_af0b_879a,
        0x3ed8_a0bc_caf4_93ae,
        0x3eb5_8d40_08cb_853a,
        0x3e96_33a6_8b0a_eadc,
    ]),
    power: &doubles([
        0x3fe6_2e42_fefa_39ef,
        0x3fce_bfbd_ff82_c592,
        0x3fac_6b08_d704_a25f,
        0x3f83_b2ab_6fba_42d5,
        0x3f55_d87f_e783_a126,
        0x3f24_3091_2fbc_0785,
        0x3eef_fcbf_f51c_5193,
        0x3eb6_2c01_4dd3_930c,
        0x3e7b_51b2_dd2b_3ae4,
        0x3e3e_5001_a681_a7fe,
        0x3e00_4a63_e7a6_751f,
        0x3db8_1c19_85c4_fd4a,
        0xbdc3_6198_c51f_4c5f,
    ]),
    beyond: 1200.0,
};

/// A number as the sum of one of the type and what that leaves out.
#[derive(Clone, Copy)]
struct Double {
    high: Val,
    low: Val,
}

impl Floats<'_> {
    fn constants(&self) -> &'static Constants {
        match self.width {
            Width::Single => &SINGLE,
            Width::Double => &DOUBLE,
        }
    }

    /// `x` to the power of `y`, with the special cases of C's `pow`, which IEEE 754 has too.
    pub(super) fn powf(&mut self, x: Val, y: Val) -> Val {
        let constants = self.constants();
        let magnitude = self.abs(x);
        let log = self.log2_of_power(magnitude);
        let high = self.mul(y, log.high);
        let minus_high = self.neg(high);
        let low = self.fma(y, log.high, minus_high);
        let low = self.fma(y, log.low, low);
        // Further out the result is infinite, or 0, whatever the low part says.
        let size = self.abs(high);
        let within = self.compare(Word::Le, size, self.constant(constants.beyond));
        let end = self.signed(self.constant(constants.beyond), high);
        let high = self.select(within, high, end);
        let low = self.select(within, low, self.constant(0.0));
        let sum = self.add(high, self.rounder());
        let whole = self.sub(sum, self.rounder());
        let fraction = self.sub(high, whole);
        let fraction = self.add(fraction, low);
        let slope = self.polynomial(constants.power, fraction);
        let power = self.fma(fraction, slope, self.constant(1.0));
        let power = self.scaled(power, sum);
        self.power_ends(x, y, magnitude, power)
    }

    /// What differs from the power of the magnitude.
    fn power_ends(&mut self, x: Val, y: Val, magnitude: Val, power: Val) -> Val {
        let [one, infinity, nan] = [1.0, f64::INFINITY, f64::NAN].map(|value| self.constant(value));
        let is = |this: &mut Self, a, b| this.compare(Word::Eq, a, b);
        let y_size = self.abs(y);
        // Odd powers have the sign of x. All large numbers are even.
        let whole = self.e.round(Rounding::Trunc, self.ty(), y);
        let integral = is(self, whole, y);
        let half = self.mul(y, self.constant(0.5));
        let half_whole = self.e.round(Rounding::Trunc, self.ty(), half);
        let uneven = self.compare(Word::Ne, half_whole, half);
        let odd = self.e.and(Type::Pred, integral, uneven);
        let signed = self.signed(power, x);
        let power = self.select(odd, signed, power);
        // A finite negative number has no other powers than those to integers.
        let negative = self.compare(Word::Lt, x, self.constant(0.0));
        let finite = self.compare(Word::Lt, magnitude, infinity);
        let broken = self.e.not(Type::Pred, integral);
        let none = self.e.and(Type::Pred, negative, finite);
        let none = self.e.and(Type::Pred, none, broken);
        let power = self.select(none, nan, power);
        // ±1 to an infinite power.
        let unit = is(self, magnitude, one);
        let endless = is(self, y_size, infinity);
        let stays = self.e.and(Type::Pred, unit, endless);
        let power = self.select(stays, one, power);
        let number = self.e.pure(Opcode::Setp, mods![Word::Num, self.ty()], Type::Pred, &[x, y]);
        let power = self.select(number, power, nan);
        // 1 to any power and anything to the power 0, even NaN.
        let exponent_zero = is(self, y, self.constant(0.0));
        let base_one = is(self, x, one);
        let always = self.e.or(Type::Pred, exponent_zero, base_one);
        self.select(always, one, power)
    }

    /// log2(x) of x >= 0, to 2^-33 of it in `f32` and 2^-65 in `f64`.
    ///
    /// With q = 2 (m - 1) / (m + 1) the natural logarithm of m is q + q³/12 + q⁵ · r(q²).
    fn log2_of_power(&mut self, x: Val) -> Double {
        let constants = self.constants();
        let (e, m) = self.split(x, constants.root_half);
        let one = self.constant(1.0);
        // m + 1, and what the sum leaves out of it.
        let sum = self.add(m, one);
        let back = self.sub(sum, one);
        let sum_low = self.sub(m, back);
        let distance = self.sub(m, one);
        let twice = self.add(distance, distance);
        let inverse = self.inverse(sum);
        let q = self.mul(twice, inverse);
        let minus_q = self.neg(q);
        let rest = self.fma(minus_q, sum, twice);
        let rest = self.fma(minus_q, sum_low, rest);
        let q_low = self.mul(inverse, rest);
        let square = self.mul(q, q);
        let minus_square = self.neg(square);
        let square_low = self.fma(q, q, minus_square);
        let double_q = self.add(q, q);
        let square_low = self.fma(double_q, q_low, square_low);
        // log2(e) + square · (log2(e)/12 + square · r)
        let others = self.polynomial(constants.log, square);
        let twelfth_low = self.fma(others, square, constants.twelfth[1]);
        let high = self.mul(square, constants.twelfth[0]);
        let minus_high = self.neg(high);
        let low = self.fma(square, constants.twelfth[0], minus_high);
        let low = self.fma(square, twelfth_low, low);
        let low = self.fma(square_low, constants.twelfth[0], low);
        let factor = self.add(high, constants.log2_e[0]);
        let taken = self.sub(factor, constants.log2_e[0]);
        let factor_low = self.sub(high, taken);
        let low = self.add(low, constants.log2_e[1]);
        let factor_low = self.add(factor_low, low);
        // q times that, and e.
        let product = self.mul(q, factor);
        let minus_product = self.neg(product);
        let low = self.fma(q, factor, minus_product);
        let low = self.fma(q, factor_low, low);
        let low = self.fma(q_low, factor, low);
        let high = self.add(e, product);
        let taken = self.sub(high, e);
        let rest = self.sub(product, taken);
        let low = self.add(rest, low);
        let (high, low) = match self.width {
            Width::Single => (high, low),
            // The low part has bits that the high one has room for, and a large y would carry them out of the interval of the power.
            Width::Double => {
                let [high, low] = self.short_sum(high, low);
                (high, low)
            }
        };
        let [zero, infinity] = [self.constant(0.0), self.constant(f64::INFINITY)];
        let nothing = self.compare(Word::Eq, x, zero);
        let high = self.select(nothing, self.constant(f64::NEG_INFINITY), high);
        let endless = self.compare(Word::Eq, x, infinity);
        let high = self.select(endless, infinity, high);
        Double { high, low }
    }

    /// 1 / `a`, or near it.
    fn inverse(&mut self, a: Val) -> Val {
        match self.width {
            Width::Single => self.e.f32_op(Opcode::Rcp, &[Word::Approx, Word::Ftz], a),
            Width::Double => self.e.float(Opcode::Rcp, Type::F64, &[a]),
        }
    }
}
