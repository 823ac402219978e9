//! Functions of `f64` with an error of at most 2 ulp, apart from sines, cosines and powers, which `f32` has too.
//!
//! No instruction computes a function of `f64` to more than a few digits, so that these are made of additions, products, `fma` and
//! divisions, which round to nearest, and have the same bits on every target. The cube root alone begins with instructions of `f32`,
//! whose result it corrects. Polynomials are minimax fits, by Remez's algorithm in 400 bits; a comment says over which interval, and
//! how large the error is relative to the function once the coefficients are rounded.

use kernel_ptx::{Opcode, Type, Word};

use super::floats::{Floats, Width, doubles};
use crate::ir::Transcendental;
use crate::lower::emitter::{Val, mods};

const fn f64_of(bits: u64) -> Val {
    Val::F64(bits)
}

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// ln(2) as an `f64` and what that leaves out. The product of the first with an integer that is subtracted by `fma` leaves no rest.
const LN_2: [Val; 2] = [f64_of(0x3fe6_2e42_fefa_39ef), f64_of(0x3c7a_bc9e_3b39_803f)];

/// (e^r - 1 - r) / r² within ±0.3473: 2^-63.6 of e^r - 1.
const EXP: [Val; 12] = doubles([
    0x3fe0_0000_0000_0000,
    0x3fc5_5555_5555_5556,
    0x3fa5_5555_5555_5557,
    0x3f81_1111_1111_0d4a,
    0x3f56_c16c_16c1_553e,
    0x3f2a_01a0_1a1d_11e2,
    0x3efa_01a0_1ac9_2fd5,
    0x3ec7_1de3_5067_f370,
    0x3e92_7e4c_c69e_643f,
    0x3e5a_e729_6353_2eb7,
    0x3e21_f8db_3550_f6f5,
    0x3de5_447d_16ff_505f,
]);

/// (ln((1 + s) / (1 - s)) - 2s) / s³ of s² up to 0.0296: 2^-59.4 of the logarithm.
const LOG: [Val; 7] = doubles([
    0x3fe5_5555_5555_5595,
    0x3fd9_9999_9997_ee6d,
    0x3fd2_4924_942d_9a70,
    0x3fcc_71c5_1402_7957,
    0x3fc7_4666_a915_8521,
    0x3fc3_99d1_9d6a_5282,
    0x3fc2_f363_773f_e9b0,
]);

/// (tanh(x) - x) / x³ of x² up to 0.3167: 2^-59 of tanh(x).
const TANH: [Val; 11] = doubles([
    0xbfd5_5555_5555_554b,
    0x3fc1_1111_1111_0246,
    0xbfab_a1ba_1b92_fab3,
    0x3f96_64f4_847f_8832,
    0xbf82_26e2_cd66_5a08,
    0x3f6d_6d24_0c43_847e,
    0xbf57_d8b3_fdac_f04d,
    0x3f43_45df_6f4a_98a1,
    0xbf2e_7ef9_4644_289c,
    0x3f15_926a_d492_5518,
    0xbef3_c712_42b5_3fc0,
]);

/// erf(x) / x - 1 of x² up to 1: 2^-56.3 of erf(x).
const ERF: [Val; 13] = doubles([
    0x3fc0_6eba_8214_db69,
    0xbfd8_1274_6b03_7a25,
    0x3fbc_e2f2_1a04_58d7,
    0xbf9b_82ce_3135_4c4e,
    0x3f75_65bc_d2c6_0a55,
    0xbf4c_02db_9328_8c9e,
    0x3f1f_9a3b_93e4_c816,
    0xbeef_4dce_f7f2_bd78,
    0x3ebb_a68f_9cc1_ff88,
    0xbe86_38fc_d0a8_dec5,
    0x3e51_31b0_f339_6393,
    0xbe1c_4957_4f52_1061,
    0x3de3_b6d0_cea7_5097,
]);

/// (1 + 2y) · e^(y²) · erfc(y) of t = (y - 4) / (y + 4), for y from 0.25 to 27.5: 2^-60.3 of it. The first coefficient has two parts.
const ERFC_FIRST: [Val; 2] = [f64_of(0x3ff3_ba59_16e9_fd7f), f64_of(0xbc8a_a9c4_1567_9e6f)];
const ERFC: [Val; 23] = doubles([
    0xbfc1_df1a_d154_a28e,
    0x3f8f_7f5d_f66f_d7be,
    0x3fb1_6ece_fcfa_5359,
    0xbfb9_ddb2_3c3e_90f4,
    0x3fb7_fee0_04e1_2ca4,
    0xbfb0_fb06_dfe4_9027,
    0x3fa3_079e_df67_5abc,
    0xbf90_9623_8852_88f2,
    0x3f74_9c67_2893_1a35,
    0xbf48_d4a9_9c4c_7ff5,
    0xbf2a_1df2_6ed9_529f,
    0x3f23_be03_910a_5a90,
    0xbef9_9593_212e_3fdf,
    0xbee7_8836_a570_1432,
    0x3ed7_f296_98c9_917a,
    0x3e93_91a7_7ff7_1f4a,
    0xbeab_b354_37e8_8a18,
    0x3e74_cd15_342d_6fc1,
    0x3e7d_b7a8_eb63_6522,
    0xbe55_7bb5_45de_c335,
    0xbe4f_fb0c_715a_546a,
    0x3e25_7cba_d0b2_81cc,
    0x3e1b_84e7_97e5_ed70,
]);

/// What a logarithm is made of: log(e) as an `f64` and what that leaves out, none for 1, and that of 2.
struct Base {
    of_e: Option<[Val; 2]>,
    of_two: Two,
}

/// The logarithm of 2.
enum Two {
    One,
    /// A number of so few bits that products with exponents are exact, and what it leaves out.
    Parts([Val; 2]),
}

const NATURAL: Base = Base {
    of_e: None,
    of_two: Two::Parts([f64_of(0x3fe6_2e42_fefa_3800), f64_of(0x3d2e_f357_93c7_6730)]),
};

const BINARY: Base = Base {
    of_e: Some([f64_of(0x3ff7_1547_652b_82fe), f64_of(0x3c77_77d0_ffda_0d24)]),
    of_two: Two::One,
};

const DECIMAL: Base = Base {
    of_e: Some([f64_of(0x3fdb_cb7b_1526_e50e), f64_of(0x3c69_5355_baaa_fad3)]),
    of_two: Two::Parts([f64_of(0x3fd3_4413_509f_7800), f64_of(0x3d1f_ef31_1f12_b358)]),
};

/// √½, between which and √2 logarithms are computed.
const ROOT_HALF: Val = f64_of(0x3fe6_a09e_667f_3bcd);

/// From here on the error function is 1 less its complement.
const NEAR_ERF: f64 = 1.0;

impl Floats<'_> {
    /// A function of an `f64`, apart from the sine and the cosine.
    pub(super) fn double_function(&mut self, function: Transcendental, x: Val) -> Val {
        assert_eq!(self.width, Width::Double, "the coefficients are those of f64");
        match function {
            Transcendental::Exp => {
                // Beyond, the result is infinite or 0.
                let x = self.within(x, -800.0, 800.0);
                self.power_of_e(x)
            }
            Transcendental::ExpM1 => self.exp_m1(x),
            Transcendental::Exp2 => self.exp2(x),
            Transcendental::Ln => self.logarithm(&NATURAL, x),
            Transcendental::Ln1p => self.ln_1p(x),
            Transcendental::Log2 => self.logarithm(&BINARY, x),
            Transcendental::Log10 => self.logarithm(&DECIMAL, x),
            Transcendental::Tanh => self.tanh(x),
            Transcendental::Erf => self.erf(x),
            Transcendental::Erfc => self.erfc(x),
            Transcendental::Cbrt => self.cbrt(x),
            Transcendental::ExpApprox
            | Transcendental::Exp2Approx
            | Transcendental::LnApprox
            | Transcendental::Log2Approx
            | Transcendental::SinApprox
            | Transcendental::CosApprox
            | Transcendental::TanhApprox => {
                unreachable!("ir::verify rejects {function:?} of f64")
            }
            Transcendental::Sin | Transcendental::Cos => {
                unreachable!("`elementwise` computes sines of all elements together")
            }
        }
    }

    /// e^r - 1 for r within ±0.3473.
    fn exp_m1_near(&mut self, r: Val) -> Val {
        let q = self.polynomial(&EXP, r);
        let square = self.mul(r, r);
        self.fma(square, q, r)
    }

    /// e^r - 1 of the sum of two numbers, as a number and what that leaves out.
    fn exp_m1_of_sum(&mut self, high: Val, low: Val) -> [Val; 2] {
        let [r, left] = self.short_sum(high, low);
        // e^left - 1 times e^r, to the first order in both.
        let left = self.fma(left, r, left);
        let q = self.polynomial(&EXP, r);
        let square = self.mul(r, r);
        let inner = self.fma(square, q, left);
        self.short_sum(r, inner)
    }

    /// The sum of two numbers, the first of which is not smaller, and what it leaves out.
    pub(super) fn short_sum(&mut self, high: Val, low: Val) -> [Val; 2] {
        let sum = self.add(high, low);
        let taken = self.sub(sum, high);
        [sum, self.sub(low, taken)]
    }

    /// 2^n · e^r with n the integer nearest to x · log2(e), of |x| up to 800.
    fn power_of_e(&mut self, x: Val) -> Val {
        let (minus_n, sum) = self.nearest_whole(x, self.constant(LOG2_E));
        let r = self.fma(minus_n, LN_2[0], x);
        let r = self.fma(minus_n, LN_2[1], r);
        let near = self.exp_m1_near(r);
        let power = self.add(near, self.constant(1.0));
        self.scaled(power, sum)
    }

    fn exp2(&mut self, x: Val) -> Val {
        let x = self.within(x, -1200.0, 1200.0);
        let sum = self.add(x, self.rounder());
        let n = self.sub(sum, self.rounder());
        let fraction = self.sub(x, n);
        let r = self.mul(fraction, LN_2[0]);
        let r = self.fma(fraction, LN_2[1], r);
        let near = self.exp_m1_near(r);
        let power = self.add(near, self.constant(1.0));
        self.scaled(power, sum)
    }

    /// 2^n · (e^r - 1) + (2^n - 1), both halved, so that n may be 1024.
    fn exp_m1(&mut self, x: Val) -> Val {
        // Below -50 the result is -1, above 710 infinite.
        let within = self.within(x, -50.0, 710.0);
        let (minus_n, sum) = self.nearest_whole(within, self.constant(LOG2_E));
        let high = self.fma(minus_n, LN_2[0], within);
        let low = self.mul(minus_n, LN_2[1]);
        let [near, left] = self.exp_m1_of_sum(high, low);
        let half_scale = self.two_to(sum, -1);
        let offset = self.sub(half_scale, self.constant(0.5));
        let half = self.fma(near, half_scale, offset);
        let half = self.fma(left, half_scale, half);
        let result = self.add(half, half);
        // The sum gives +0 for -0.
        self.signed(result, x)
    }

    /// log(2^e · m), m between √½ and √2.
    fn logarithm(&mut self, base: &Base, x: Val) -> Val {
        let (e, m) = self.split(x, ROOT_HALF);
        let distance = self.sub(m, self.constant(1.0));
        let ratio = self.half_ratio(distance);
        let log = self.logarithm_near(base, e, distance, ratio, self.constant(0.0));
        self.logarithm_ends(x, log)
    }

    /// f / (2 + f).
    fn half_ratio(&mut self, f: Val) -> Val {
        let sum = self.add(f, self.constant(2.0));
        self.div(f, sum)
    }

    /// e · log(2) + log(1 + f) + `more` · log(e), with s = f / (2 + f).
    ///
    /// The natural logarithm of 1 + f is f - f²/2 + s · (f²/2 + s² · p(s²)); the first two terms are summed without a rest.
    fn logarithm_near(&mut self, base: &Base, e: Val, f: Val, s: Val, more: Val) -> Val {
        let square = self.mul(s, s);
        let p = self.polynomial(&LOG, square);
        let p = self.mul(square, p);
        let half = self.mul(f, self.constant(0.5));
        let half_square = self.mul(half, f);
        let minus_half_square = self.neg(half_square);
        let left_out = self.fma(half, f, minus_half_square);
        let [high, low] = self.short_sum(f, minus_half_square);
        let low = self.sub(low, left_out);
        let inner = self.add(half_square, p);
        let inner = self.fma(s, inner, more);
        let low = self.add(low, inner);
        let (high, low) = match base.of_e {
            None => (high, low),
            Some([of_e, rest]) => {
                let product = self.mul(high, of_e);
                let minus_product = self.neg(product);
                let left_out = self.fma(high, of_e, minus_product);
                let left_out = self.fma(high, rest, left_out);
                (product, self.fma(low, of_e, left_out))
            }
        };
        let (whole, low) = match base.of_two {
            Two::One => (e, low),
            Two::Parts([two, rest]) => (self.mul(e, two), self.fma(e, rest, low)),
        };
        let [sum, left_out] = self.short_sum(whole, high);
        let low = self.add(left_out, low);
        self.add(sum, low)
    }

    /// ln(1 + x) is the logarithm of the rounded sum, and what that leaves out over the sum.
    fn ln_1p(&mut self, x: Val) -> Val {
        let one = self.constant(1.0);
        let sum = self.add(x, one);
        let part = self.sub(sum, one);
        let of_one = self.sub(sum, part);
        let of_one = self.sub(one, of_one);
        let of_x = self.sub(x, part);
        let left_out = self.add(of_one, of_x);
        let bits = self.bits_of(sum);
        let (exponent, m) = self.exponent_off(bits, ROOT_HALF);
        // 2^-e, by way of 4 · 2^-e: a normal number for each e up to 1024.
        let integer = self.integer();
        let inverse = self.e.sub(integer, Val::Int(0x4010_0000_0000_0000), exponent);
        let inverse = self.of_bits(inverse);
        let inverse = self.mul(inverse, self.constant(0.25));
        let left_out = self.mul(left_out, inverse);
        let distance = self.sub(m, one);
        let ratio = self.half_ratio(distance);
        // 1 / m = (1 - ratio) / (1 + ratio), to 1/100.
        let slope = self.fma(ratio, self.constant(2.0), self.constant(-2.0));
        let slope = self.fma(ratio, slope, one);
        let more = self.mul(left_out, slope);
        let e = self.exponent_of(exponent);
        let e = self.mul(e, self.constant(2f64.powi(-52)));
        let log = self.logarithm_near(&NATURAL, e, distance, ratio, more);
        let log = self.logarithm_ends(sum, log);
        // The sum gives +0 for -0.
        self.signed(log, x)
    }

    /// x + x³ · p(x²) up to 9/16, 1 - 2 / (e^(2|x|) + 1) with the sign of x further out.
    fn tanh(&mut self, x: Val) -> Val {
        let square = self.mul(x, x);
        let p = self.polynomial(&TANH, square);
        let cube = self.mul(x, square);
        let near = self.fma(cube, p, x);
        let magnitude = self.abs(x);
        // From 20 on the result is 1.
        let y = self.within(magnitude, 0.0, 22.0);
        let twice = self.add(y, y);
        let power = self.power_of_e(twice);
        let sum = self.add(power, self.constant(1.0));
        let part = self.div(self.constant(2.0), sum);
        let far = self.sub(self.constant(1.0), part);
        let inside = self.compare(Word::Lt, magnitude, self.constant(0.5625));
        let value = self.select(inside, near, far);
        self.signed(value, x)
    }

    /// x + x · p(x²), of |x| up to 1.
    fn erf_near(&mut self, x: Val) -> Val {
        let square = self.mul(x, x);
        let p = self.polynomial(&ERF, square);
        self.fma(x, p, x)
    }

    fn erf(&mut self, x: Val) -> Val {
        let near = self.erf_near(x);
        let magnitude = self.abs(x);
        let tail = self.erfc_tail(magnitude);
        let far = self.sub(self.constant(1.0), tail);
        let far = self.signed(far, x);
        let inside = self.compare(Word::Lt, magnitude, self.constant(NEAR_ERF));
        self.select(inside, near, far)
    }

    /// From 1/4 on the tail. Below that nothing cancels: 1 - erf(x) and, below -1, 2 less the tail.
    fn erfc(&mut self, x: Val) -> Val {
        let near = self.erf_near(x);
        let near = self.sub(self.constant(1.0), near);
        let magnitude = self.abs(x);
        let tail = self.erfc_tail(magnitude);
        let far = self.sub(self.constant(2.0), tail);
        let left = self.compare(Word::Le, x, self.constant(-NEAR_ERF));
        let value = self.select(left, far, near);
        let right = self.compare(Word::Gt, x, self.constant(0.25));
        self.select(right, tail, value)
    }

    /// erfc(y) of y from 1/4 on: e^(-y²) · h(t) / (1 + 2y), where h is the polynomial of t = (y - 4) / (y + 4).
    ///
    /// Each of the three is computed as a number and what that leaves out.
    fn erfc_tail(&mut self, y: Val) -> Val {
        let one = self.constant(1.0);
        // Above 27.3 the result is 0; below 1/4 nothing asks.
        let y = self.within(y, 0.25, 28.0);
        let square = self.mul(y, y);
        let minus_square = self.neg(square);
        let minus_y = self.neg(y);
        let minus_low = self.fma(minus_y, y, square);
        let (minus_n, sum) = self.nearest_whole(square, self.constant(-LOG2_E));
        let high = self.fma(minus_n, LN_2[0], minus_square);
        let low = self.fma(minus_n, LN_2[1], minus_low);
        let [power, power_low] = self.exp_m1_of_sum(high, low);
        let distance = self.sub(y, self.constant(4.0));
        let reach = self.add(y, self.constant(4.0));
        let t = self.div(distance, reach);
        let slope = self.polynomial(&ERFC, t);
        let rest = self.fma(t, slope, ERFC_FIRST[1]);
        let [h, h_low] = self.short_sum(ERFC_FIRST[0], rest);
        let divisor = self.fma(y, self.constant(2.0), one);
        let taken = self.sub(one, divisor);
        let divisor_low = self.fma(y, self.constant(2.0), taken);
        let inverse = self.e.float(Opcode::Rcp, Type::F64, &[divisor]);
        let quotient = self.mul(h, inverse);
        let minus_quotient = self.neg(quotient);
        let rest = self.fma(minus_quotient, divisor, h);
        let rest = self.fma(minus_quotient, divisor_low, rest);
        let rest = self.add(rest, h_low);
        let quotient_low = self.mul(rest, inverse);
        let inner = self.fma(quotient, power_low, quotient_low);
        let inner = self.fma(quotient, power, inner);
        let tail = self.add(quotient, inner);
        self.scaled(tail, sum)
    }

    /// The root of m in x = 2^(3k) · m, m between 1 and 8: by instructions of `f32`, and two terms of the root of what that leaves.
    fn cbrt(&mut self, x: Val) -> Val {
        let magnitude = self.abs(x);
        let tiny = self.compare(Word::Lt, magnitude, self.constant(f64::MIN_POSITIVE));
        let raised = self.mul(magnitude, self.constant(2f64.powi(54)));
        let normal = self.select(tiny, raised, magnitude);
        let bits = self.bits_of(normal);
        let exponent = self.e.shr(Type::U64, bits, 52);
        let exponent = self.e.narrow(exponent);
        // (exponent - 1023) / 3 and 342 more, rounded down: 21846 is a third of 2^16, and exact enough for numbers below 2^13.
        let raised = self.e.add(Type::S32, exponent, Val::Int(3));
        let third = self.e.mul(Type::S32, raised, Val::Int(21846));
        let third = self.e.shr(Type::S32, third, 16);
        let whole = self.e.mul(Type::S32, third, Val::Int(3));
        let whole = self.e.sub(Type::S32, whole, Val::Int(1026));
        let whole = self.e.widen(whole);
        let whole = self.e.shl(Type::S64, whole, 52);
        let m = self.e.sub(Type::S64, bits, whole);
        let m = self.of_bits(m);
        let approximate = self.f32_root(m);
        let square = self.mul(approximate, approximate);
        let minus_square = self.neg(square);
        let rest = self.fma(minus_square, approximate, m);
        let cube = self.mul(square, approximate);
        let d = self.div(rest, cube);
        // The cube root of 1 + d, less 1.
        let slope = self.fma(d, self.constant(-1.0 / 9.0), self.constant(1.0 / 3.0));
        let change = self.mul(d, slope);
        let root = self.fma(approximate, change, approximate);
        let below = self.e.select(Type::S32, tiny, Val::Int(-342 - 18), Val::Int(-342));
        let k = self.e.add(Type::S32, third, below);
        let scale = self.e.power_of_two(k);
        let root = self.mul(root, scale);
        let root = self.signed(root, x);
        // Zeros, infinities and NaN are their own roots. The comparison is false for NaN.
        let double = self.add(x, x);
        let other = self.e.pure(Opcode::Setp, mods![Word::Ne, Type::F64], Type::Pred, &[double, x]);
        self.select(other, root, x)
    }

    /// The cube root of a number between 1 and 8, to 2^-19.
    fn f32_root(&mut self, m: Val) -> Val {
        let modifiers = mods![Word::Rn, Type::F32, Type::F64];
        let m = self.e.pure(Opcode::Cvt, modifiers, Type::F32, &[m]);
        let log2 = self.e.f32_op(Opcode::Lg2, &[Word::Approx], m);
        let third = self.e.mul_f32(log2, super::functions::f32_const(1.0 / 3.0));
        let root = self.e.f32_op(Opcode::Ex2, &[Word::Approx, Word::Ftz], third);
        self.e.pure(Opcode::Cvt, mods![Type::F64, Type::F32], Type::F64, &[root])
    }
}
