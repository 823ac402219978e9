//! Conversions between element types.
//!
//! FP8 numbers go through binary16, which has every value of them: instructions convert pairs between these, and from
//! `f32`, and nothing else (PTX ISA, "cvt").

use kernel_ptx::{Opcode, Type, Word};

use super::scalar::{arithmetic, float_constant};
use crate::ir::{Dtype, Elem};
use crate::lower::emitter::bits::low_word;
use crate::lower::emitter::fold::register;
use crate::lower::emitter::{Emitter, Val, mods};

impl Emitter {
    /// An element converted as Rust's `as` does it; floats round to nearest even.
    pub(crate) fn cast(&mut self, from: Elem, to: Elem, value: Val) -> Val {
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
            (_, Dtype::E4m3 | Dtype::E5m2) if !from.is_float() || from == Dtype::F64 => {
                // An integer that f32 would round is above the largest value of either type.
                let wide = if from == Dtype::F64 {
                    self.f64_to_odd_f32(value)
                } else {
                    self.cast_number(from, Dtype::F32, value)
                };
                self.cast_number(Dtype::F32, to, wide)
            }
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

    /// A half or less as `f32`, anything else as it is, with the type it then has.
    fn widened(&mut self, dtype: Dtype, value: Val) -> (Val, Dtype) {
        if dtype.is_float8() {
            let [half, _] = self.bytes_to_halves(dtype, value, Val::Int(0));
            (self.half_to_f32(Dtype::F16, half), Dtype::F32)
        } else if dtype.is_half() {
            (self.half_to_f32(dtype, value), Dtype::F32)
        } else {
            (value, dtype)
        }
    }

    /// Two neighbours converted by one instruction, if there is one.
    pub(crate) fn cast_pair(
        &mut self,
        from: Elem,
        to: Elem,
        low: Val,
        high: Val,
    ) -> Option<[Val; 2]> {
        let (Elem::Number(from), Elem::Number(to)) = (from, to) else { return None };
        match (from, to) {
            (Dtype::F32, Dtype::F16 | Dtype::Bf16) => Some(self.f32_to_halves(to, low, high)),
            (Dtype::F32, Dtype::E4m3 | Dtype::E5m2) => Some(self.f32_to_bytes(to, low, high)),
            (Dtype::Bf16, Dtype::E4m3 | Dtype::E5m2) => {
                let [low, high] = [low, high].map(|half| self.half_to_f32(from, half));
                Some(self.f32_to_bytes(to, low, high))
            }
            (Dtype::F16, Dtype::E4m3 | Dtype::E5m2) => {
                let word = self.pack(low, high);
                Some(self.halves_to_bytes(to, word))
            }
            (Dtype::E4m3 | Dtype::E5m2, _) if from != to && to.is_float() => {
                let halves = self.bytes_to_halves(from, low, high);
                if to.is_float8() {
                    let word = self.pack(halves[0], halves[1]);
                    return Some(self.halves_to_bytes(to, word));
                }
                Some(halves.map(|half| self.cast_number(Dtype::F16, to, half)))
            }
            _ => None,
        }
    }

    /// Two FP8 numbers as binary16, exactly.
    fn bytes_to_halves(&mut self, dtype: Dtype, low: Val, high: Val) -> [Val; 2] {
        let (word, half) = match self.half_of_bytes(low, high) {
            Some((word, half)) => (Val::Reg(word), usize::from(half)),
            None => (self.pack_two_bytes(low, high), 0),
        };
        let pair = self.unpack(word)[half];
        let pair = Val::Reg(self.reg(pair, Type::B16));
        let word =
            self.pure(Opcode::Cvt, mods![Word::Rn, Type::F16x2, packed(dtype)], Type::B32, &[pair]);
        self.unpack(word)
    }

    /// Two `f32` as FP8 numbers: the nearest, ties to even, and none that is infinite.
    fn f32_to_bytes(&mut self, dtype: Dtype, low: Val, high: Val) -> [Val; 2] {
        let modifiers = mods![Word::Rn, Word::Satfinite, packed(dtype), Type::F32];
        let pair = self.pure(Opcode::Cvt, modifiers, Type::B16, &[high, low]);
        self.two_bytes(dtype, pair)
    }

    /// The two halves of a word as FP8 numbers, likewise.
    fn halves_to_bytes(&mut self, dtype: Dtype, word: Val) -> [Val; 2] {
        let word = Val::Reg(self.reg(word, Type::B32));
        let modifiers = mods![Word::Rn, Word::Satfinite, packed(dtype), Type::F16x2];
        let pair = self.pure(Opcode::Cvt, modifiers, Type::B16, &[word]);
        self.two_bytes(dtype, pair)
    }

    /// The bytes of a register of 16 bits.
    fn two_bytes(&mut self, dtype: Dtype, pair: Val) -> [Val; 2] {
        let word = self.pack(pair, Val::Int(0));
        let bytes = [self.extend(dtype, word), self.shr(Type::U32, word, 8)];
        for (index, byte) in (0u8..).zip(bytes) {
            self.note_pair(byte, pair, index);
        }
        bytes
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
        // The narrow ranges are inside that of s32, which is clamped further.
        let target = if to.bytes() < 4 { Type::S32 } else { arithmetic(to) };
        let held = register(target);
        let converted = self.pure(Opcode::Cvt, mods![Word::Rzi, target, source], held, &[value]);
        let clamped = if to.bytes() < 4 {
            let bits = 8 * to.bytes();
            let low = if to.is_signed() { -1 << (bits - 1) } else { 0 };
            let above = self.extreme(Opcode::Max, Type::S32, converted, Val::Int(low));
            self.extreme(Opcode::Min, Type::S32, above, Val::Int(low + (1 << bits) - 1))
        } else {
            converted
        };
        if from == Dtype::F32 && to.bytes() <= 4 {
            return clamped;
        }
        // With 64 bits on either side the instruction does not give 0 for a NaN.
        let number = self.pure(Opcode::Setp, mods![Word::Num, source], Type::Pred, &[value, value]);
        self.select(target, number, clamped, Val::Int(0))
    }

    /// An `f64` as an `f32` whose last bit says that something was cut off.
    fn f64_to_odd_f32(&mut self, value: Val) -> Val {
        let cut =
            self.pure(Opcode::Cvt, mods![Word::Rz, Type::F32, Type::F64], Type::F32, &[value]);
        let back = self.pure(Opcode::Cvt, mods![Type::F64, Type::F32], Type::F64, &[cut]);
        // An ordered comparison: a NaN must keep its bits.
        let inexact =
            self.pure(Opcode::Setp, mods![Word::Ne, Type::F64], Type::Pred, &[back, value]);
        self.make_odd(cut, inexact)
    }

    fn float_to_float(&mut self, from: Dtype, to: Dtype, value: Val) -> Val {
        match (from, to) {
            (Dtype::F64, Dtype::Bf16) => {
                let odd = self.f64_to_odd_f32(value);
                self.f32_to_half(to, odd)
            }
            (Dtype::E4m3 | Dtype::E5m2, _) | (_, Dtype::E4m3 | Dtype::E5m2) => {
                let zero = super::scalar::zero(Elem::Number(from));
                self.cast_pair(Elem::Number(from), Elem::Number(to), value, zero)
                    .expect("FP8 numbers are converted in pairs, and an f64 was narrowed before")[0]
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

/// The instruction type of two FP8 numbers.
fn packed(dtype: Dtype) -> Type {
    if dtype == Dtype::E4m3 { Type::E4m3x2 } else { Type::E5m2x2 }
}
