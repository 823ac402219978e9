//! Functions of `f32` with an error of at most 2 ulp, and the forms of them that the hardware has.
//!
//! Polynomials are minimax fits whose coefficients were rounded to `f32` one after the other, the lowest first, each time with a new
//! fit of the rest. They weigh the error by that of the function. Additions, products and `fma` round to nearest, so that a function
//! that uses neither `ex2` nor `lg2` has the same bits on every target.

use kernel_ptx::{Opcode, Type, Word};

use super::floats::Width;
use crate::ir::{Dtype, Transcendental};
use crate::lower::emitter::bits::{low_word, sign_extended};
use crate::lower::emitter::{Emitter, Val, mods};

/// A constant.
pub(super) const fn f32_const(value: f32) -> Val {
    Val::F32(value.to_bits())
}

/// 1.5 · 2^23. An `f32` near it has no fraction: to add it rounds to an integer, which stands in the low bits of the sum.
pub(super) const ROUNDER: f32 = 12_582_912.0;

const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// What the `f32` nearest to log2(e) leaves out.
const LOG2_E_REST: f32 = 1.925_963e-8;
/// ln(2) in two parts, of which the first has so few bits that products with exponents are exact.
const LN_2_HIGH: f32 = f32::from_bits(0x3f31_7200);
const LN_2_LOW: f32 = f32::from_bits(0x35bf_be8e);

impl Emitter {
    pub(super) fn f32_op(&mut self, opcode: Opcode, words: &[Word], a: Val) -> Val {
        let mut modifiers: Vec<_> = words.iter().map(|&word| word.into()).collect();
        modifiers.push(Type::F32.into());
        self.pure(opcode, &modifiers, Type::F32, &[a])
    }

    pub(super) fn add_f32(&mut self, a: Val, b: Val) -> Val {
        self.float(Opcode::Add, Type::F32, &[a, b])
    }

    pub(super) fn sub_f32(&mut self, a: Val, b: Val) -> Val {
        self.float(Opcode::Sub, Type::F32, &[a, b])
    }

    pub(super) fn mul_f32(&mut self, a: Val, b: Val) -> Val {
        self.float(Opcode::Mul, Type::F32, &[a, b])
    }

    pub(super) fn fma_f32(&mut self, a: Val, b: Val, c: Val) -> Val {
        self.float(Opcode::Fma, Type::F32, &[a, b, c])
    }

    pub(super) fn select_f32(&mut self, mask: Val, a: Val, b: Val) -> Val {
        self.select(Type::F32, mask, a, b)
    }

    pub(super) fn abs_f32(&mut self, a: Val) -> Val {
        self.f32_op(Opcode::Abs, &[], a)
    }

    pub(super) fn neg_f32(&mut self, a: Val) -> Val {
        self.f32_op(Opcode::Neg, &[], a)
    }

    /// `magnitude` with the sign of `sign`.
    pub(super) fn signed_f32(&mut self, magnitude: Val, sign: Val) -> Val {
        self.pure(Opcode::Copysign, mods![Type::F32], Type::F32, &[sign, magnitude])
    }

    /// The bits of an `f32`.
    pub(super) fn bits_of_f32(&mut self, a: Val) -> Val {
        match a {
            Val::F32(bits) => Val::Int(sign_extended(i64::from(bits), 32)),
            Val::Reg(_) | Val::Int(_) | Val::F64(_) => {
                self.pure(Opcode::Mov, mods![Type::B32], Type::B32, &[a])
            }
        }
    }

    /// The `f32` of these bits.
    pub(super) fn f32_of_bits(&mut self, bits: Val) -> Val {
        match bits {
            Val::Int(bits) => Val::F32(low_word(bits)),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                self.pure(Opcode::Mov, mods![Type::B32], Type::F32, &[bits])
            }
        }
    }

    /// A polynomial, by Horner's rule; the coefficients are bits of `f32`, the lowest first.
    pub(super) fn polynomial(&mut self, coefficients: &[u32], x: Val) -> Val {
        let coefficients: Vec<Val> = coefficients.iter().map(|&bits| Val::F32(bits)).collect();
        self.floats(Width::Single).polynomial(&coefficients, x)
    }

    fn ex2(&mut self, x: Val) -> Val {
        self.f32_op(Opcode::Ex2, &[Word::Approx, Word::Ftz], x)
    }

    fn rcp(&mut self, x: Val) -> Val {
        self.f32_op(Opcode::Rcp, &[Word::Approx, Word::Ftz], x)
    }

    /// A function of an `f32`, apart from the sine and the cosine.
    pub(super) fn transcendental(&mut self, function: Transcendental, x: Val) -> Val {
        match function {
            Transcendental::Exp => self.exp(x),
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
            Transcendental::ExpApprox => {
                let scaled = self.mul_f32(x, f32_const(LOG2_E));
                self.ex2(scaled)
            }
            Transcendental::Exp2Approx => self.ex2(x),
            Transcendental::LnApprox => self.log_approx(std::f32::consts::LN_2, x),
            Transcendental::Log2Approx => self.f32_op(Opcode::Lg2, &[Word::Approx], x),
            Transcendental::SinApprox => self.f32_op(Opcode::Sin, &[Word::Approx], x),
            Transcendental::CosApprox => self.f32_op(Opcode::Cos, &[Word::Approx], x),
            Transcendental::TanhApprox => self.f32_op(Opcode::Tanh, &[Word::Approx], x),
            Transcendental::Sin | Transcendental::Cos => {
                unreachable!("`elementwise` computes sines of all elements together")
            }
        }
    }

    /// A function of the `f32` value of a half, in a form whose error is less than 1/64 ulp of the half. What the hardware has is
    /// enough for powers and, of bfloat16, for logarithms; near 1 an `f16` has logarithms that `lg2` is too coarse for.
    pub(super) fn of_half(&mut self, function: Transcendental, dtype: Dtype, x: Val) -> Val {
        match (function, dtype) {
            // The least f16 is far above the numbers that `.ftz` flushes; the least bfloat16 is one of them.
            (Transcendental::Exp, Dtype::F16) => self.transcendental(Transcendental::ExpApprox, x),
            (Transcendental::Exp2, Dtype::F16) => self.ex2(x),
            (Transcendental::Exp2, Dtype::Bf16) => self.f32_op(Opcode::Ex2, &[Word::Approx], x),
            (Transcendental::Exp, Dtype::Bf16) => {
                let scaled = self.mul_f32(x, f32_const(LOG2_E));
                self.f32_op(Opcode::Ex2, &[Word::Approx], scaled)
            }
            (Transcendental::Ln, Dtype::Bf16) => self.log_approx(std::f32::consts::LN_2, x),
            (Transcendental::Log2, Dtype::Bf16) => self.f32_op(Opcode::Lg2, &[Word::Approx], x),
            (Transcendental::Log10, Dtype::Bf16) => self.log_approx(std::f32::consts::LOG10_2, x),
            _ => self.transcendental(function, x),
        }
    }

    /// A logarithm to the base of which 2 has the logarithm `of_two`.
    fn log_approx(&mut self, of_two: f32, x: Val) -> Val {
        let log2 = self.f32_op(Opcode::Lg2, &[Word::Approx], x);
        self.mul_f32(log2, f32_const(of_two))
    }

    /// 2^n · 2^r: n is the floor of x · log2(e), between -126 and 127, and r the rest, to which `ex2` is applied.
    ///
    /// Beyond these n the rest is what is left: the power of it then brings the result to infinity, or down to the subnormal
    /// numbers and 0. The saturated sum is 0 for NaN, which stays in the rest.
    fn exp(&mut self, x: Val) -> Val {
        self.power(x, 1.0 / (253.0 * std::f32::consts::LN_2), |lower, minus_n| {
            let rest = lower.fma_f32(x, f32_const(LOG2_E), minus_n);
            lower.fma_f32(x, f32_const(LOG2_E_REST), rest)
        })
    }

    /// [`Self::exp`] for powers of 2, whose rest is exact: `ex2` alone is off by more than 2 ulp outside of 0 to 1.
    fn exp2(&mut self, x: Val) -> Val {
        self.power(x, 1.0 / 253.0, |lower, minus_n| lower.add_f32(x, minus_n))
    }

    /// 2^n · 2^r, where `scale` · 253 · x has the floor n and `rest` computes r from -n.
    fn power(&mut self, x: Val, scale: f32, rest: impl FnOnce(&mut Self, Val) -> Val) -> Val {
        let offset = 126.0 / 253.0;
        let part = self.pure(
            Opcode::Fma,
            mods![Word::Rn, Word::Sat, Type::F32],
            Type::F32,
            &[x, f32_const(scale), f32_const(offset)],
        );
        // The low bits are n + 127, an exponent as an `f32` has it; what is above them leaves in the shift.
        let whole = self.pure(
            Opcode::Fma,
            mods![Word::Rm, Type::F32],
            Type::F32,
            &[part, f32_const(253.0), f32_const(ROUNDER + 1.0)],
        );
        let minus_n = self.sub_f32(f32_const(ROUNDER + 127.0), whole);
        let rest = rest(self, minus_n);
        let power = self.ex2(rest);
        let bits = self.bits_of_f32(whole);
        let bits = self.shl(Type::S32, bits, 23);
        let two_to_n = self.f32_of_bits(bits);
        self.mul_f32(power, two_to_n)
    }

    /// e^f - 1 for f within ±0.35.
    fn exp_m1_near(&mut self, f: Val) -> Val {
        const Q: [u32; 6] =
            [0x3f00_0000, 0x3e2a_aa96, 0x3d2a_aa81, 0x3c08_aae8, 0x3ab6_9761, 0x391d_6a5e];
        let q = self.polynomial(&Q, f);
        let square = self.mul_f32(f, f);
        self.fma_f32(square, q, f)
    }

    /// 2^n · (e^f - 1) + (2^n - 1), both halved, so that n may be 128.
    fn exp_m1(&mut self, x: Val) -> Val {
        // Below -30 the result is -1, above 128 infinite. Both comparisons leave NaN as it is.
        let low = self.compare_float(Word::Lt, Type::F32, x, f32_const(-30.0));
        let within = self.select_f32(low, f32_const(-30.0), x);
        let high = self.compare_float(Word::Gt, Type::F32, x, f32_const(128.0));
        let within = self.select_f32(high, f32_const(128.0), within);
        let (minus_n, sum) = self.floats(Width::Single).nearest_whole(within, f32_const(LOG2_E));
        let f = self.fma_f32(minus_n, f32_const(LN_2_HIGH), within);
        let f = self.fma_f32(minus_n, f32_const(LN_2_LOW), f);
        let near = self.exp_m1_near(f);
        let half_scale = self.floats(Width::Single).two_to(sum, -1);
        let offset = self.sub_f32(half_scale, f32_const(0.5));
        let half = self.fma_f32(near, half_scale, offset);
        let result = self.add_f32(half, half);
        // From 89 on 2^n is no `f32`, and its place is that of other numbers.
        let beyond = self.compare_float(Word::Gt, Type::F32, x, f32_const(89.0));
        let result = self.select_f32(beyond, f32_const(f32::INFINITY), result);
        // The sum gives +0 for -0.
        self.signed_f32(result, x)
    }

    /// e · log(2) + log(m), m between 2/3 and 4/3: with r = m - 1 the latter is r · log(e) + r² · q(r).
    fn logarithm(&mut self, base: &Base, x: Val) -> Val {
        let (e, m) = self.floats(Width::Single).split(x, TWO_THIRDS);
        let r = self.sub_f32(m, f32_const(1.0));
        let log = self.logarithm_near(base, e, r);
        self.floats(Width::Single).logarithm_ends(x, log)
    }

    fn logarithm_near(&mut self, base: &Base, e: Val, r: Val) -> Val {
        let q = self.polynomial(&base.q, r);
        let square = self.mul_f32(r, r);
        let two = match base.of_two {
            Two::One | Two::Short(_) => None,
            Two::Long([_, rest]) => Some(rest),
        };
        let log = match base.of_e {
            None => self.fma_f32(square, q, r),
            Some([high, rest]) => {
                let mut low = self.mul_f32(r, f32_const(rest));
                if let Some(two) = two {
                    low = self.fma_f32(e, f32_const(two), low);
                }
                let low = self.fma_f32(square, q, low);
                self.fma_f32(r, f32_const(high), low)
            }
        };
        match base.of_two {
            Two::One => self.add_f32(e, log),
            Two::Short(two) | Two::Long([two, _]) => self.fma_f32(e, f32_const(two), log),
        }
    }

    /// ln(1 + x): the exponent is that of the rounded sum, and m - 1 is x · 2^-e + (2^-e - 1), so that no bit of x is lost.
    fn ln_1p(&mut self, x: Val) -> Val {
        let sum = self.add_f32(x, f32_const(1.0));
        let sum_bits = self.bits_of_f32(sum);
        let (exponent, _) = self.floats(Width::Single).exponent_off(sum_bits, TWO_THIRDS);
        // 4 · 2^-e, a normal number for each e up to 128.
        let inverse = self.sub(Type::S32, Val::Int(0x4080_0000), exponent);
        let inverse = self.f32_of_bits(inverse);
        let offset = self.fma_f32(inverse, f32_const(0.25), f32_const(-1.0));
        let x_bits = self.bits_of_f32(x);
        let scaled = self.sub(Type::S32, x_bits, exponent);
        let scaled = self.f32_of_bits(scaled);
        let r = self.add_f32(scaled, offset);
        let e = self.floats(Width::Single).exponent_of(exponent);
        let e = self.mul_f32(e, f32_const(1.0 / 8_388_608.0));
        let log = self.logarithm_near(&NATURAL, e, r);
        let log = self.floats(Width::Single).logarithm_ends(sum, log);
        // The sum gives +0 for -0.
        self.signed_f32(log, x)
    }

    /// x + x³ · p(x²) between -1 and 1, 1 - 2 / (e^(2|x|) + 1) with the sign of x further out.
    fn tanh(&mut self, x: Val) -> Val {
        const NEAR: [u32; 7] = [
            0xbeaa_aa9e,
            0x3e08_85f3,
            0xbd5c_b142,
            0x3cb0_05d3,
            0xbc02_3341,
            0x3b16_da55,
            0xb9bb_ff7c,
        ];
        let square = self.mul_f32(x, x);
        let p = self.polynomial(&NEAR, square);
        let cube = self.mul_f32(x, square);
        let near = self.fma_f32(cube, p, x);
        let magnitude = self.abs_f32(x);
        let scaled = self.mul_f32(magnitude, f32_const(2.0 * LOG2_E));
        let power = self.ex2(scaled);
        let sum = self.add_f32(power, f32_const(1.0));
        let part = self.rcp(sum);
        let far = self.fma_f32(part, f32_const(-2.0), f32_const(1.0));
        let inside = self.compare_float(Word::Lt, Type::F32, magnitude, f32_const(1.0));
        let value = self.select_f32(inside, near, far);
        self.signed_f32(value, x)
    }

    /// The root by a logarithm and a power, and one step of Newton's method.
    fn cbrt(&mut self, x: Val) -> Val {
        let magnitude = self.abs_f32(x);
        let log2 = self.f32_op(Opcode::Lg2, &[Word::Approx], magnitude);
        let third = self.mul_f32(log2, f32_const(1.0 / 3.0));
        let root = self.ex2(third);
        let square = self.mul_f32(root, root);
        let inverse = self.rcp(square);
        let minus_root = self.neg_f32(root);
        let rest = self.fma_f32(magnitude, inverse, minus_root);
        let root = self.fma_f32(rest, f32_const(1.0 / 3.0), root);
        let root = self.signed_f32(root, x);
        // Zeros and infinities are their own roots.
        let double = self.add_f32(x, x);
        let own = self.compare_float(Word::Eq, Type::F32, double, x);
        self.select_f32(own, x, root)
    }

    /// The error function with an error of at most 2 ulp: x + x · p(x²) between -1 and 1, 1 - 2^q(|x|) with the sign of x further out.
    ///
    /// The polynomials are minimax fits, p of erf(x)/x - 1 and q of log2(1 - erf(x)); both weigh the error by that of the result.
    /// The highest coefficient of q is negative, so that infinities give ±1.
    fn erf(&mut self, x: Val) -> Val {
        const NEAR: [u32; 7] = [
            0x3e03_75d4,
            0xbec0_939f,
            0x3de7_167c,
            0xbcdb_fc86,
            0x3baa_02d9,
            0xba51_fb7f,
            0x38a4_b517,
        ];
        const FAR: [u32; 8] = [
            0x398e_8db7,
            0xbfd0_980a,
            0xbf69_dda3,
            0xbe20_2c91,
            0x3d14_f992,
            0xbbc6_cd2f,
            0x3a26_f64c,
            0xb803_4b56,
        ];
        let magnitude = self.abs_f32(x);
        let square = self.mul_f32(x, x);
        let p = self.polynomial(&NEAR, square);
        let near = self.fma_f32(x, p, x);
        let q = self.polynomial(&FAR, magnitude);
        let rest = self.ex2(q);
        let far = self.sub_f32(f32_const(1.0), rest);
        let far = self.signed_f32(far, x);
        let inside = self.compare(Word::Lt, Type::F32, magnitude, f32_const(1.0));
        self.select_f32(inside, near, far)
    }

    /// 1 - erf(x) up to 1/2. From there on e^(-x²) · g(x), with g(x) = e^(x²) · erfc(x).
    fn erfc(&mut self, x: Val) -> Val {
        // Above 10.5 the result is 0; below 1/4 nothing asks.
        let below = self.compare_float(Word::Lt, Type::F32, x, f32_const(10.5));
        let y = self.select_f32(below, x, f32_const(10.5));
        let above = self.compare_float(Word::Gt, Type::F32, y, f32_const(0.25));
        let y = self.select_f32(above, y, f32_const(0.25));
        let minus_y = self.neg_f32(y);
        // The square is the rounded one and a low part; e to its negative is 2^n · (1 + power).
        let square = self.mul_f32(y, y);
        let minus_square = self.neg_f32(square);
        let minus_low = self.fma_f32(minus_y, y, square);
        let (minus_n, sum) = self.floats(Width::Single).nearest_whole(square, f32_const(-LOG2_E));
        let rest = self.fma_f32(minus_n, f32_const(LN_2_HIGH), minus_square);
        let low = self.fma_f32(minus_n, f32_const(LN_2_LOW), minus_low);
        let rest = self.add_f32(rest, low);
        let power = self.exp_m1_near(rest);
        let [large, small] = self.erfc_factor(y, minus_y);
        let both = self.add_f32(large, small);
        let inner = self.fma_f32(both, power, small);
        let tail = self.add_f32(large, inner);
        // n is -160 at the least: the power of two is put on in two steps, of which the last may round to a subnormal number.
        let scale = self.floats(Width::Single).two_to(sum, 64);
        let tail = self.mul_f32(tail, scale);
        let tail = self.mul_f32(tail, f32_const(f32::from_bits((127 - 64) << 23)));
        let erf = self.erf(x);
        let near = self.sub_f32(f32_const(1.0), erf);
        let outside = self.compare_float(Word::Gt, Type::F32, x, f32_const(0.5));
        self.select_f32(outside, tail, near)
    }

    /// e^(y²) · erfc(y) of y >= 1/2 as a large and a small part: a constant and a polynomial of the distance from 3/4 or 3/2, and from 2
    /// on 1/(y√π) · (1 + p(1/y²)).
    fn erfc_factor(&mut self, y: Val, minus_y: Val) -> [Val; 2] {
        const FIRST: [u32; 8] = [
            0xbebc_66eb,
            0x3e6c_8051,
            0xbe04_f35f,
            0x3d88_c49b,
            0xbd02_d513,
            0x3c6e_02e4,
            0xbbbb_b6f6,
            0x3a16_90ff,
        ];
        const SECOND: [u32; 8] = [
            0xbe27_8cc4,
            0x3d9b_f51c,
            0xbd06_e2bd,
            0x3c5b_24e0,
            0xbba8_8009,
            0x3af9_2ae1,
            0xba35_2f37,
            0x3949_1027,
        ];
        const LAST: [u32; 8] = [
            0xbeff_ff7f,
            0x3f3f_dd9f,
            0xbfec_ac65,
            0x40bc_bc69,
            0xc199_2ff7,
            0x4247_61ba,
            0xc2a6_5946,
            0x427e_2a3f,
        ];
        /// e^(y²) · erfc(y) at 3/4 and at 3/2, and 1/√π: each as an `f32` and what that leaves out.
        const AT_FIRST: [f32; 2] = [0.506_937_6, 2.726_916e-8];
        const AT_SECOND: [f32; 2] = [0.321_585_42, -3.395_057e-10];
        const OF_ROOT: [f32; 2] = [0.564_189_6, -2.931_769e-8];
        // 1/y, and what it leaves out relative to it.
        let inverse = self.rcp(y);
        let rest = self.fma_f32(minus_y, inverse, f32_const(1.0));
        let inverse = self.fma_f32(inverse, rest, inverse);
        let rest = self.fma_f32(minus_y, inverse, f32_const(1.0));
        let second = self.compare_float(Word::Gt, Type::F32, y, f32_const(1.0625));
        let last = self.compare_float(Word::Gt, Type::F32, y, f32_const(2.0));
        let center = self.select_f32(second, f32_const(-1.5), f32_const(-0.75));
        let distance = self.add_f32(y, center);
        let square = self.mul_f32(inverse, inverse);
        let argument = self.select_f32(last, square, distance);
        let coefficients = FIRST.into_iter().zip(SECOND).zip(LAST).map(|((first, middle), end)| {
            let near = self.select_f32(second, Val::F32(middle), Val::F32(first));
            self.select_f32(last, Val::F32(end), near)
        });
        let sum = coefficients
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .reduce(|sum, next| self.fma_f32(sum, argument, next))
            .expect("a polynomial has coefficients");
        let [large, small] = [0, 1].map(|part| {
            self.select_f32(second, f32_const(AT_SECOND[part]), f32_const(AT_FIRST[part]))
        });
        let small = self.fma_f32(argument, sum, small);
        let far = self.mul_f32(inverse, f32_const(OF_ROOT[0]));
        let minus_far = self.neg_f32(far);
        let far_rest = self.fma_f32(inverse, f32_const(OF_ROOT[0]), minus_far);
        let rest = self.add_f32(rest, f32_const(OF_ROOT[1] / OF_ROOT[0]));
        let rest = self.fma_f32(square, sum, rest);
        let far_small = self.fma_f32(far, rest, far_rest);
        [(far, large), (far_small, small)].map(|(far, near)| self.select_f32(last, far, near))
    }
}

/// The least m of x = 2^e · m: its distance from 1 is that of the largest.
const TWO_THIRDS: Val = Val::F32(0x3f2a_aaab);

/// What a logarithm is made of: log(e), that of 2, and q of r · log(e) + r² · q(r) = log(1 + r) for |r| <= 1/3.
struct Base {
    /// An `f32` and what that leaves out; none for 1.
    of_e: Option<[f32; 2]>,
    of_two: Two,
    q: [u32; 9],
}

/// The logarithm of 2.
enum Two {
    /// 1.
    One,
    /// An `f32` that is near enough.
    Short(f32),
    /// An `f32` and what that leaves out.
    Long([f32; 2]),
}

const NATURAL: Base = Base {
    of_e: None,
    of_two: Two::Short(std::f32::consts::LN_2),
    q: [
        0xbf00_0000,
        0x3eaa_aa7d,
        0xbe7f_ffca,
        0x3e4c_eacd,
        0xbe2a_bee6,
        0x3e0f_3ef4,
        0xbdfb_4867,
        0x3e10_144b,
        0xbe00_4bc7,
    ],
};

const BINARY: Base = Base {
    of_e: Some([LOG2_E, LOG2_E_REST]),
    of_two: Two::One,
    q: [
        0xbf38_aa3b,
        0x3ef6_380a,
        0xbeb8_aa49,
        0x3e93_d1c9,
        0xbe76_4521,
        0x3e4e_8d4a,
        0xbe36_02f0,
        0x3e50_6eab,
        0xbe36_96cf,
    ],
};

const DECIMAL: Base = Base {
    of_e: Some([std::f32::consts::LOG10_E, -1.010_305e-8]),
    of_two: Two::Long([std::f32::consts::LOG10_2, -1.432_098_9e-8]),
    q: [
        0xbe5e_5bd9,
        0x3e14_3d17,
        0xbdde_5b38,
        0x3db1_fb5a,
        0xbd94_6079,
        0x3d79_18c6,
        0xbd58_6c4a,
        0x3d78_fbcd,
        0xbd66_a7ac,
    ],
};
