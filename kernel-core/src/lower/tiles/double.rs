//! Elementwise operations on `f64`, and the remainder of floats, which the hardware lacks.

use kernel_ptx::{Guard, Opcode, Operand, Type, Word};

use super::floats::Width;
use crate::ir::{Dtype, Rounding, Unary};
use crate::lower::emitter::{Emitter, FrameKind, Val, mods};

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

    /// An elementwise operation on an `f64`.
    pub(crate) fn unary_f64(&mut self, op: Unary, a: Val) -> Val {
        match op {
            Unary::Neg => match a {
                Val::F64(bits) => Val::F64(bits ^ (1 << 63)),
                Val::Reg(_) | Val::Int(_) | Val::F32(_) => self.negate_f64(a),
            },
            Unary::Abs => self.pure(Opcode::Abs, mods![Type::F64], Type::F64, &[a]),
            Unary::Sqrt => self.double(Opcode::Sqrt, &[a]),
            Unary::Rsqrt => {
                let root = self.double(Opcode::Sqrt, &[a]);
                self.double(Opcode::Div, &[f64_const(1.0), root])
            }
            Unary::Round(rounding) => self.round(rounding, Type::F64, a),
            Unary::Transcendental(function) => {
                self.floats(Width::Double).double_function(function, a)
            }
            Unary::Not | Unary::Bits(_) => {
                unreachable!("ir::verify rejects {op:?} of f64")
            }
        }
    }

    /// 2 to a normal exponent.
    pub(super) fn power_of_two(&mut self, exponent: Val) -> Val {
        let biased = self.add(Type::S32, exponent, Val::Int(1023));
        let wide = self.widen(biased);
        let bits = self.shl(Type::S64, wide, 52);
        self.pure(Opcode::Mov, mods![Type::B64], Type::F64, &[bits])
    }

    /// The exponent of a positive number, subnormals included.
    fn exponent(&mut self, a: Val) -> Val {
        let tiny = self.compare_float(Word::Lt, Type::F64, a, f64_const(f64::MIN_POSITIVE));
        let raised = self.double(Opcode::Mul, &[a, f64_const(18_014_398_509_481_984.0)]);
        let normal = self.select_f64(tiny, raised, a);
        let bits = self.pure(Opcode::Mov, mods![Type::B64], Type::B64, &[normal]);
        let field = self.shr(Type::U64, bits, 52);
        let field = self.narrow(field);
        let bias = self.select(Type::S32, tiny, Val::Int(-1023 - 54), Val::Int(-1023));
        self.add(Type::S32, field, bias)
    }

    /// The remainder of floats: exact, with the sign of `a`. Long division, fifty bits an iteration.
    pub(crate) fn float_remainder(&mut self, dtype: Dtype, a: Val, b: Val) -> Val {
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
        let above = self.exponent(now);
        let below = self.exponent(divisor);
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
        let whole = self.round(Rounding::Trunc, Type::F64, quotient);
        let negated = self.negate_f64(whole);
        let next = self.double(Opcode::Fma, &[negated, scaled, now]);
        self.assign(rest, next);
        self.effect(Opcode::Bra, &[], [Operand::Label(top)]);
        self.leave();
        self.rehome(rest, outer);
        self.place_label(end);
        // Threads leave the loop at different iterations.
        self.sync_warp();
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
