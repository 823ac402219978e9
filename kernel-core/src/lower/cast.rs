//! Conversions between element types.

use kernel_ptx::{Opcode, Type, Word};

use super::bits::low_word;
use super::emitter::{Emitter, Val, mods};
use super::fold::register;
use super::scalar::{arithmetic, float_constant};
use crate::ir::{Dtype, Elem};

impl Emitter {
    /// An element converted as Rust's `as` does it; floats round to nearest even.
    pub(super) fn cast(&mut self, from: Elem, to: Elem, value: Val) -> Val {
        match (from, to) {
            (Elem::Number(from), Elem::Number(to)) => self.cast_number(from, to, value),
            (Elem::Ptr(_), Elem::Ptr(_)) => value,
            (Elem::Ptr(_), Elem::Number(to)) => self.cast_number(Dtype::U64, to, value),
            (Elem::Number(from), Elem::Ptr(_)) => self.cast_number(from, Dtype::U64, value),
        }
    }

    fn cast_number(&mut self, from: Dtype, to: Dtype, value: Val) -> Val {
        if from == to {
            return value;
        }
        match (from, to) {
            (Dtype::Bool, _) if to.is_float() => {
                let (one, zero) = (float_constant(1.0, to), float_constant(0.0, to));
                self.select(arithmetic(to), value, one, zero)
            }
            (Dtype::Bool, _) => self.select(arithmetic(to), value, Val::Int(1), Val::Int(0)),
            (_, Dtype::Bool) if from.is_float() => {
                let (value, from) = self.widened(from, value);
                self.compare_float(Word::Ne, arithmetic(from), value, float_constant(0.0, from))
            }
            (_, Dtype::Bool) => self.compare(Word::Ne, arithmetic(from), value, Val::Int(0)),
            _ => match (from.is_float(), to.is_float()) {
                (false, false) => self.int_to_int(from, to, value),
                (false, true) => self.int_to_float(from, to, value),
                (true, false) => self.float_to_int(from, to, value),
                (true, true) => self.float_to_float(from, to, value),
            },
        }
    }

    /// A half as `f32`, anything else as it is, with the type it then has.
    fn widened(&mut self, dtype: Dtype, value: Val) -> (Val, Dtype) {
        if matches!(dtype, Dtype::F16 | Dtype::Bf16) {
            (self.half_to_f32(dtype, value), Dtype::F32)
        } else {
            (value, dtype)
        }
    }

    fn int_to_int(&mut self, from: Dtype, to: Dtype, value: Val) -> Val {
        match (from.bytes() == 8, to.bytes() == 8) {
            (true, true) => value,
            (true, false) => {
                let low = self.narrow(value);
                self.extend(to, low)
            }
            (false, true) if from == Dtype::U32 => match value {
                Val::Int(value) => Val::Int(i64::from(low_word(value))),
                Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                    self.pure(Opcode::Cvt, mods![Type::U64, Type::U32], Type::B64, &[value])
                }
            },
            (false, true) => self.widen(value),
            (false, false) => self.extend(to, value),
        }
    }

    fn int_to_float(&mut self, from: Dtype, to: Dtype, value: Val) -> Val {
        let source = arithmetic(from);
        // Every float type holds integers up to 256. A negative constant of an unsigned type is a large number.
        if let Val::Int(known) = value
            && known.unsigned_abs() <= 256
            && (known >= 0 || from.is_signed())
            && let Ok(known) = i16::try_from(known)
        {
            return float_constant(f64::from(known), to);
        }
        if to == Dtype::Bf16 {
            let odd = self.int_to_odd_f32(source, value);
            return self.f32_to_half(to, odd);
        }
        let ty = arithmetic(to);
        self.pure(Opcode::Cvt, mods![Word::Rn, ty, source], register(ty), &[value])
    }

    /// An integer as an `f32` whose last bit says that something was cut off, so that rounding it again is exact.
    fn int_to_odd_f32(&mut self, source: Type, value: Val) -> Val {
        let cut = self.pure(Opcode::Cvt, mods![Word::Rz, Type::F32, source], Type::F32, &[value]);
        let back =
            self.pure(Opcode::Cvt, mods![Word::Rzi, source, Type::F32], register(source), &[cut]);
        let inexact = self.compare(Word::Ne, source, back, value);
        self.make_odd(cut, inexact)
    }

    fn make_odd(&mut self, cut: Val, inexact: Val) -> Val {
        let bits = self.pure(Opcode::Mov, mods![Type::B32], Type::B32, &[cut]);
        let sticky = self.select(Type::U32, inexact, Val::Int(1), Val::Int(0));
        let odd = self.or(Type::U32, bits, sticky);
        self.pure(Opcode::Mov, mods![Type::B32], Type::F32, &[odd])
    }

    fn float_to_int(&mut self, from: Dtype, to: Dtype, value: Val) -> Val {
        let (value, from) = self.widened(from, value);
        let source = arithmetic(from);
        // The narrow ranges lie inside that of s32, which is clamped further.
        let target = if to.bytes() < 4 { Type::S32 } else { arithmetic(to) };
        let held = register(target);
        let converted = self.pure(Opcode::Cvt, mods![Word::Rzi, target, source], held, &[value]);
        let (low, high) = match to {
            Dtype::I8 => (-128, 127),
            Dtype::I16 => (-32768, 32767),
            Dtype::U8 => (0, 255),
            Dtype::U16 => (0, 65535),
            Dtype::Bool
            | Dtype::I32
            | Dtype::I64
            | Dtype::U32
            | Dtype::U64
            | Dtype::F16
            | Dtype::Bf16
            | Dtype::F32
            | Dtype::F64 => {
                if from == Dtype::F32 && to.bytes() == 4 {
                    return converted;
                }
                // With 64 bits on either side the instruction does not give 0 for a NaN.
                let number =
                    self.pure(Opcode::Setp, mods![Word::Num, source], Type::Pred, &[value, value]);
                return self.select(target, number, converted, Val::Int(0));
            }
        };
        let above = self.extreme(Opcode::Max, Type::S32, converted, Val::Int(low));
        let clamped = self.extreme(Opcode::Min, Type::S32, above, Val::Int(high));
        if from == Dtype::F32 {
            return clamped;
        }
        let number = self.pure(Opcode::Setp, mods![Word::Num, source], Type::Pred, &[value, value]);
        self.select(Type::S32, number, clamped, Val::Int(0))
    }

    fn float_to_float(&mut self, from: Dtype, to: Dtype, value: Val) -> Val {
        match (from, to) {
            (Dtype::F64, Dtype::Bf16) => {
                let cut = self.pure(
                    Opcode::Cvt,
                    mods![Word::Rz, Type::F32, Type::F64],
                    Type::F32,
                    &[value],
                );
                let back = self.pure(Opcode::Cvt, mods![Type::F64, Type::F32], Type::F64, &[cut]);
                // An ordered comparison: a NaN must keep its bits.
                let inexact =
                    self.pure(Opcode::Setp, mods![Word::Ne, Type::F64], Type::Pred, &[back, value]);
                let odd = self.make_odd(cut, inexact);
                self.f32_to_half(to, odd)
            }
            (Dtype::F16 | Dtype::Bf16, Dtype::F64) => {
                let wide = self.half_to_f32(from, value);
                self.pure(Opcode::Cvt, mods![Type::F64, Type::F32], Type::F64, &[wide])
            }
            (Dtype::F16 | Dtype::Bf16, _) => {
                let wide = self.half_to_f32(from, value);
                if to == Dtype::F32 { wide } else { self.f32_to_half(to, wide) }
            }
            (_, Dtype::F64) => {
                self.pure(Opcode::Cvt, mods![Type::F64, Type::F32], Type::F64, &[value])
            }
            _ => {
                let ty = arithmetic(to);
                self.pure(
                    Opcode::Cvt,
                    mods![Word::Rn, ty, arithmetic(from)],
                    register(ty),
                    &[value],
                )
            }
        }
    }
}
