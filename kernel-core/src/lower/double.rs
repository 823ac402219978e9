//! Functions of `f64` that the hardware lacks, and the remainder of floats.
//!
//! Each function reduces its argument exactly and sums a series to the last bit or two.

use kernel_ptx::{Guard, Opcode, Operand, Type, Word};

use super::emitter::{Emitter, FrameKind, Val, mods};
use crate::ir::{Dtype, Unary};

const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// π/2 as three terms; the first two have zeros at the end, so that products with small integers are exact.
const HALF_PI: [f64; 3] =
    [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];

fn f64_const(value: f64) -> Val {
    Val::F64(value.to_bits())
}

impl Emitter {
    fn double(&mut self, opcode: Opcode, args: &[Val]) -> Val {
        self.float(opcode, Type::F64, args)
    }

    fn negate_f64(&mut self, a: Val) -> Val {
        self.pure(Opcode::Neg, mods![Type::F64], Type::F64, &[a])
    }

    fn select_f64(&mut self, mask: Val, a: Val, b: Val) -> Val {
        self.select(Type::F64, mask, a, b)
    }

    fn round_f64(&mut self, word: Word, a: Val) -> Val {
        self.pure(Opcode::Cvt, mods![word, Type::F64, Type::F64], Type::F64, &[a])
    }

    /// Horner's rule; coefficients from the highest power down.
    fn polynomial(&mut self, coefficients: impl IntoIterator<Item = f64>, x: Val) -> Val {
        let mut coefficients = coefficients.into_iter();
        let first = f64_const(coefficients.next().expect("a polynomial has coefficients"));
        coefficients.fold(first, |sum, next| self.double(Opcode::Fma, &[sum, x, f64_const(next)]))
    }

    /// An elementwise operation on an `f64`.
    pub(super) fn unary_f64(&mut self, op: Unary, a: Val) -> Val {
        match op {
            Unary::Neg => match a {
                Val::F64(bits) => Val::F64(bits ^ (1 << 63)),
                Val::Reg(_) | Val::Int(_) | Val::F32(_) => self.negate_f64(a),
            },
            Unary::Abs => self.pure(Opcode::Abs, mods![Type::F64], Type::F64, &[a]),
            Unary::Exp => self.exp_f64(a),
            Unary::Exp2 => {
                let whole = self.round_f64(Word::Rni, a);
                let rest = self.double(Opcode::Sub, &[a, whole]);
                let reduced = self.double(Opcode::Mul, &[rest, f64_const(std::f64::consts::LN_2)]);
                self.scaled_exp(a, reduced, whole, 1100.0)
            }
            Unary::Log => self.log_f64(a),
            Unary::Log2 => {
                let log = self.log_f64(a);
                self.double(Opcode::Mul, &[log, f64_const(std::f64::consts::LOG2_E)])
            }
            Unary::Sqrt => self.double(Opcode::Sqrt, &[a]),
            Unary::Rsqrt => {
                let root = self.double(Opcode::Sqrt, &[a]);
                self.double(Opcode::Div, &[f64_const(1.0), root])
            }
            Unary::Sin => self.sine_f64(a, 0),
            Unary::Cos => self.sine_f64(a, 1),
            Unary::Tanh => self.tanh_f64(a),
            Unary::Floor => self.round_f64(Word::Rmi, a),
            Unary::Ceil => self.round_f64(Word::Rpi, a),
            Unary::Not => unreachable!("ir::verify rejects `!` of a float"),
        }
    }

    fn exp_f64(&mut self, a: Val) -> Val {
        let (reduced, whole) = self.reduce_exp(a);
        self.scaled_exp(a, reduced, whole, 800.0)
    }

    /// `a = whole · ln 2 + reduced`.
    fn reduce_exp(&mut self, a: Val) -> (Val, Val) {
        let turns = self.double(Opcode::Mul, &[a, f64_const(std::f64::consts::LOG2_E)]);
        let whole = self.round_f64(Word::Rni, turns);
        let high = self.double(Opcode::Fma, &[whole, f64_const(-LN_2_HIGH), a]);
        let reduced = self.double(Opcode::Fma, &[whole, f64_const(-LN_2_LOW), high]);
        (reduced, whole)
    }

    /// `(e^x − 1) / x` for small `x`.
    fn exp_series(&mut self, x: Val) -> Val {
        let mut factorial = 1.0;
        let mut coefficients: Vec<f64> = (1..=14)
            .map(|n| {
                factorial *= f64::from(n);
                1.0 / factorial
            })
            .collect();
        coefficients.reverse();
        self.polynomial(coefficients, x)
    }

    /// `e^reduced · 2^whole`; 0 or infinity where `argument` lies beyond ±`limit`.
    fn scaled_exp(&mut self, argument: Val, reduced: Val, whole: Val, limit: f64) -> Val {
        let series = self.exp_series(reduced);
        let power = self.double(Opcode::Fma, &[series, reduced, f64_const(1.0)]);
        let exponent =
            self.pure(Opcode::Cvt, mods![Word::Rzi, Type::S32, Type::F64], Type::B32, &[whole]);
        let half = self.shr(Type::S32, exponent, 1);
        let rest = self.sub(Type::S32, exponent, half);
        let result = [half, rest].into_iter().fold(power, |value, exponent| {
            let scale = self.power_of_two(exponent);
            self.double(Opcode::Mul, &[value, scale])
        });
        let large = self.compare_float(Word::Gt, Type::F64, argument, f64_const(limit));
        let result = self.select_f64(large, f64_const(f64::INFINITY), result);
        let small = self.compare_float(Word::Lt, Type::F64, argument, f64_const(-limit));
        let result = self.select_f64(small, f64_const(0.0), result);
        self.keep_nan(argument, result)
    }

    fn keep_nan(&mut self, argument: Val, result: Val) -> Val {
        let number =
            self.pure(Opcode::Setp, mods![Word::Num, Type::F64], Type::Pred, &[argument, argument]);
        self.select_f64(number, result, argument)
    }

    /// 2 to a normal exponent.
    fn power_of_two(&mut self, exponent: Val) -> Val {
        let biased = self.add(Type::S32, exponent, Val::Int(1023));
        let wide = self.widen(biased);
        let bits = self.shl(Type::S64, wide, 52);
        self.pure(Opcode::Mov, mods![Type::B64], Type::F64, &[bits])
    }

    /// The exponent of a positive number, subnormals included, and its bits once normal.
    fn exponent(&mut self, a: Val) -> (Val, Val) {
        let tiny = self.compare_float(Word::Lt, Type::F64, a, f64_const(f64::MIN_POSITIVE));
        let raised = self.double(Opcode::Mul, &[a, f64_const(18_014_398_509_481_984.0)]);
        let normal = self.select_f64(tiny, raised, a);
        let bits = self.pure(Opcode::Mov, mods![Type::B64], Type::B64, &[normal]);
        let field = self.shr(Type::U64, bits, 52);
        let field = self.narrow(field);
        let bias = self.select(Type::S32, tiny, Val::Int(-1023 - 54), Val::Int(-1023));
        (self.add(Type::S32, field, bias), bits)
    }

    fn log_f64(&mut self, a: Val) -> Val {
        let (exponent, bits) = self.exponent(a);
        let fraction = self.and(Type::S64, bits, Val::Int((1 << 52) - 1));
        let bits = self.or(Type::S64, fraction, Val::Int(1023 << 52));
        let mantissa = self.pure(Opcode::Mov, mods![Type::B64], Type::F64, &[bits]);
        let large =
            self.compare_float(Word::Gt, Type::F64, mantissa, f64_const(std::f64::consts::SQRT_2));
        let halved = self.double(Opcode::Mul, &[mantissa, f64_const(0.5)]);
        let mantissa = self.select_f64(large, halved, mantissa);
        let carry = self.select(Type::S32, large, Val::Int(1), Val::Int(0));
        let exponent = self.add(Type::S32, exponent, carry);
        let exponent =
            self.pure(Opcode::Cvt, mods![Word::Rn, Type::F64, Type::S32], Type::F64, &[exponent]);
        let above = self.double(Opcode::Sub, &[mantissa, f64_const(1.0)]);
        let below = self.double(Opcode::Add, &[mantissa, f64_const(1.0)]);
        let s = self.double(Opcode::Div, &[above, below]);
        let square = self.double(Opcode::Mul, &[s, s]);
        // log m = 2 artanh s, s = (m − 1) / (m + 1).
        let series = self.polynomial((0..=11).rev().map(|n| 2.0 / f64::from(2 * n + 1)), square);
        let log = self.double(Opcode::Mul, &[series, s]);
        let low = self.double(Opcode::Fma, &[exponent, f64_const(LN_2_LOW), log]);
        let result = self.double(Opcode::Fma, &[exponent, f64_const(LN_2_HIGH), low]);
        let infinite = self.compare_float(Word::Eq, Type::F64, a, f64_const(f64::INFINITY));
        let result = self.select_f64(infinite, a, result);
        let zero = self.compare_float(Word::Eq, Type::F64, a, f64_const(0.0));
        let result = self.select_f64(zero, f64_const(f64::NEG_INFINITY), result);
        let negative = self.compare_float(Word::Lt, Type::F64, a, f64_const(0.0));
        let result = self.select_f64(negative, f64_const(f64::NAN), result);
        self.keep_nan(a, result)
    }

    /// The sine of `a` plus `quarter` quarter turns.
    fn sine_f64(&mut self, a: Val, quarter: i64) -> Val {
        let turns = self.double(Opcode::Mul, &[a, f64_const(std::f64::consts::FRAC_2_PI)]);
        let whole = self.round_f64(Word::Rni, turns);
        let reduced = HALF_PI
            .into_iter()
            .fold(a, |rest, part| self.double(Opcode::Fma, &[whole, f64_const(-part), rest]));
        let count =
            self.pure(Opcode::Cvt, mods![Word::Rzi, Type::S64, Type::F64], Type::B64, &[whole]);
        let count = self.narrow(count);
        let count = self.add(Type::S32, count, Val::Int(quarter));
        let square = self.double(Opcode::Mul, &[reduced, reduced]);
        let factorials = |first: u32| {
            let mut coefficients = Vec::new();
            let mut value = 1.0;
            for n in 0..9 {
                coefficients.push(value);
                let next = f64::from(2 * n + first);
                value /= -(next + 1.0) * (next + 2.0);
            }
            coefficients.reverse();
            coefficients
        };
        let odd = self.polynomial(factorials(1), square);
        let sine = self.double(Opcode::Mul, &[odd, reduced]);
        let cosine = self.polynomial(factorials(0), square);
        let swap = self.and(Type::S32, count, Val::Int(1));
        let swap = self.compare(Word::Ne, Type::S32, swap, Val::Int(0));
        let value = self.select_f64(swap, cosine, sine);
        let flip = self.and(Type::S32, count, Val::Int(2));
        let flip = self.compare(Word::Ne, Type::S32, flip, Val::Int(0));
        let negated = self.negate_f64(value);
        self.select_f64(flip, negated, value)
    }

    fn tanh_f64(&mut self, a: Val) -> Val {
        // tanh |a| = −m / (m + 2), m = e^(−2|a|) − 1, by its series where the subtraction would cancel.
        let size = self.unary_f64(Unary::Abs, a);
        let argument = self.double(Opcode::Mul, &[size, f64_const(-2.0)]);
        let series = self.exp_series(argument);
        let near = self.double(Opcode::Mul, &[series, argument]);
        let power = self.exp_f64(argument);
        let far = self.double(Opcode::Sub, &[power, f64_const(1.0)]);
        let small = self.compare_float(Word::Gt, Type::F64, argument, f64_const(-0.35));
        let m = self.select_f64(small, near, far);
        let below = self.double(Opcode::Add, &[m, f64_const(2.0)]);
        let quotient = self.double(Opcode::Div, &[m, below]);
        let size = self.unary_f64(Unary::Abs, quotient);
        let signed = self.pure(Opcode::Copysign, mods![Type::F64], Type::F64, &[a, size]);
        self.keep_nan(a, signed)
    }

    /// The remainder of floats: exact, with the sign of `a`. Long division, fifty bits a turn.
    pub(super) fn float_remainder(&mut self, dtype: Dtype, a: Val, b: Val) -> Val {
        if dtype == Dtype::F32 {
            // The remainder of two f32 values is one.
            let [a, b] = [a, b].map(|value| {
                self.pure(Opcode::Cvt, mods![Type::F64, Type::F32], Type::F64, &[value])
            });
            let exact = self.float_remainder(Dtype::F64, a, b);
            return self.pure(
                Opcode::Cvt,
                mods![Word::Rn, Type::F32, Type::F64],
                Type::F32,
                &[exact],
            );
        }
        let divisor = self.unary_f64(Unary::Abs, b);
        let start = self.unary_f64(Unary::Abs, a);
        let outer = self.current();
        let rest = self.fresh_in(Type::F64, outer);
        self.assign(rest, start);
        let (top, end) = (self.label(), self.label());
        let frame = self.enter(FrameKind::Loop);
        self.rehome(rest, frame);
        let now = Val::Reg(rest);
        self.place_label(top);
        let divides = self.compare_float(Word::Ge, Type::F64, now, divisor);
        let positive = self.compare_float(Word::Gt, Type::F64, divisor, f64_const(0.0));
        let finite = self.compare_float(Word::Lt, Type::F64, now, f64_const(f64::INFINITY));
        let both = self.and(Type::Pred, divides, positive);
        let again = self.and(Type::Pred, both, finite);
        let predicate = self.reg(again, Type::Pred);
        let exit = Some(Guard { predicate, negated: true });
        self.effect_if(exit, Opcode::Bra, &[], [Operand::Label(end)]);
        let (above, _) = self.exponent(now);
        let (below, _) = self.exponent(divisor);
        let distance = self.sub(Type::S32, above, below);
        let distance = self.sub(Type::S32, distance, Val::Int(50));
        let distance = self.extreme(Opcode::Max, Type::S32, distance, Val::Int(0));
        let half = self.shr(Type::S32, distance, 1);
        let other = self.sub(Type::S32, distance, half);
        let scaled = [half, other].into_iter().fold(divisor, |value, exponent| {
            let scale = self.power_of_two(exponent);
            self.double(Opcode::Mul, &[value, scale])
        });
        let quotient =
            self.pure(Opcode::Div, mods![Word::Rz, Type::F64], Type::F64, &[now, scaled]);
        let whole = self.round_f64(Word::Rzi, quotient);
        let negated = self.negate_f64(whole);
        let next = self.double(Opcode::Fma, &[negated, scaled, now]);
        self.assign(rest, next);
        self.effect(Opcode::Bra, &[], [Operand::Label(top)]);
        self.leave();
        self.rehome(rest, outer);
        self.place_label(end);
        // Threads leave the loop at different turns.
        self.effect(Opcode::Bar, mods![Word::Warp, Word::Sync], [Operand::Int(0xffff_ffff)]);
        let valid = self.and(Type::Pred, positive, Val::Int(1));
        let finite = self.compare_float(Word::Lt, Type::F64, start, f64_const(f64::INFINITY));
        let valid = self.and(Type::Pred, valid, finite);
        let number =
            self.pure(Opcode::Setp, mods![Word::Num, Type::F64], Type::Pred, &[start, divisor]);
        let valid = self.and(Type::Pred, valid, number);
        let signed = self.pure(Opcode::Copysign, mods![Type::F64], Type::F64, &[a, now]);
        self.select_f64(valid, signed, f64_const(f64::NAN))
    }
}
