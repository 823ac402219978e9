//! One element at a time: arithmetic, comparison, selection.
//!
//! Integers of up to 32 bits are in 32-bit registers, with sign or zero extension; what may leave the
//! range of an 8- or 16-bit type is extended again. FP8 numbers and what tensor cores alone read live there as their bits, as a `u8` does. Halves live in
//! 16-bit registers, booleans in predicates, pointers in 64-bit registers.

use kernel_ptx::{Opcode, Type, Word};

use super::floats::Width;
use crate::ir::dtype::{Class, Float, Float8, Register};
use crate::ir::{Binary, Compare, Const, Dtype, Elem, Rounding, Unary};
use crate::lower::emitter::bits::{low_word, sign_extended};
use crate::lower::emitter::fold::register;
use crate::lower::emitter::{Emitter, Val, mods};

/// The instruction type of an element: `.s32` for `i8`, whose registers have 32 bits.
pub(crate) fn arithmetic(dtype: Dtype) -> Type {
    dtype.row().instruction
}

/// The register type of an element.
pub(crate) fn held(elem: Elem) -> Type {
    held_in(elem).ty()
}

/// The register of an element.
pub(crate) fn held_in(elem: Elem) -> Register {
    match elem {
        Elem::Ptr(_) => Register::B64,
        Elem::Number(dtype) => dtype.register(),
    }
}

/// A constant as a value.
pub(crate) fn constant(value: Const, dtype: Dtype) -> Val {
    match value {
        Const::Bool(value) => Val::Int(i64::from(value)),
        Const::Int(value) => {
            // An unsigned constant of 64 bits is kept by its bits.
            let bits = i64::try_from(value).unwrap_or_else(|_| {
                u64::try_from(value)
                    .expect("a constant lies in the range of its type")
                    .cast_signed()
            });
            Val::Int(if dtype.bytes() == 8 { bits } else { sign_extended(bits, 32) })
        }
        Const::Float(value) => float_constant(value, dtype),
    }
}

/// A float that `dtype` holds exactly.
#[expect(clippy::cast_possible_truncation, reason = "the type holds the value exactly")]
pub(crate) fn float_constant(value: f64, dtype: Dtype) -> Val {
    match dtype.class() {
        Class::Float(Float::F64) => Val::F64(value.to_bits()),
        Class::Float(Float::F32) => Val::F32((value as f32).to_bits()),
        Class::Float(Float::Bf16) => Val::Int(i64::from((value as f32).to_bits() >> 16)),
        Class::Float(Float::F16) => Val::Int(half_bits(value as f32)),
        Class::Float8(format) => Val::Int(byte_bits(value, format)),
        Class::Bool | Class::Signed | Class::Unsigned | Class::Opaque => {
            unreachable!("ir::verify rejects a float literal of a type that is none")
        }
    }
}

/// The bits of a value that binary16 holds exactly.
fn half_bits(value: f32) -> i64 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let exponent = ((bits >> 23) & 0xff).cast_signed() - 127;
    let mantissa = bits & 0x7f_ffff;
    let magnitude = if exponent == 128 {
        0x7c00 | (mantissa >> 13)
    } else if exponent >= -14 {
        ((exponent + 15).cast_unsigned() << 10) | (mantissa >> 13)
    } else if exponent >= -24 {
        (mantissa | 0x80_0000) >> (-exponent - 1)
    } else {
        0
    };
    i64::from(sign | magnitude)
}

/// The bits of a value that an FP8 number holds exactly (OCP 8-bit Floating Point Specification, "E4M3", "E5M2").
#[expect(clippy::cast_possible_truncation, reason = "f32 has every value of both types")]
fn byte_bits(value: f64, format: Float8) -> i64 {
    if format == Float8::E5m2 {
        // The upper half of binary16, whose exponent it has.
        return half_bits(value as f32) >> 8;
    }
    if value.is_nan() {
        return 0x7f;
    }
    // The exponent's bias is 7 where binary16 has 15, and all ones are an exponent like others.
    let scaled = half_bits((value * 2f64.powi(-8)) as f32);
    (scaled >> 8 & 0x80) | (scaled >> 7 & 0x7f)
}

/// The element that a reduction or a masked access starts from: all bits zero.
pub(crate) fn zero(elem: Elem) -> Val {
    match elem {
        Elem::Number(Dtype::F32) => Val::F32(0),
        Elem::Number(Dtype::F64) => Val::F64(0),
        Elem::Number(_) | Elem::Ptr(_) => Val::Int(0),
    }
}

impl Emitter {
    /// A result of 32-bit arithmetic brought back into the range of an 8- or 16-bit type.
    pub(crate) fn extend(&mut self, dtype: Dtype, value: Val) -> Val {
        let bits = 8 * dtype.bytes();
        if dtype.register() != Register::B32 || bits >= 32 {
            return value;
        }
        if !dtype.is_signed() {
            return self.and(Type::U32, value, Val::Int((1 << bits) - 1));
        }
        let narrow = dtype.row().memory;
        match value {
            Val::Int(value) => Val::Int(sign_extended(value, bits)),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                self.pure(Opcode::Cvt, mods![Type::S32, narrow], Type::B32, &[value])
            }
        }
    }

    /// A half as `f32`: exact.
    pub(crate) fn half_to_f32(&mut self, dtype: Dtype, value: Val) -> Val {
        if dtype == Dtype::F16 {
            let half = Val::Reg(self.reg(value, Type::B16));
            return self.pure(Opcode::Cvt, mods![Type::F32, Type::F16], Type::F32, &[half]);
        }
        match value {
            Val::Int(bits) => Val::F32(low_word(bits) << 16),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                // A bfloat16 is the high half of the float with its value.
                let word = self.pack(Val::Int(0), value);
                self.pure(Opcode::Mov, mods![Type::B32], Type::F32, &[word])
            }
        }
    }

    /// An `f32` rounded to a half.
    pub(crate) fn f32_to_half(&mut self, dtype: Dtype, value: Val) -> Val {
        self.pure(Opcode::Cvt, mods![Word::Rn, arithmetic(dtype), Type::F32], Type::B16, &[value])
    }

    /// Two `f32` rounded to halves of one word.
    pub(crate) fn f32_to_halves(&mut self, dtype: Dtype, low: Val, high: Val) -> [Val; 2] {
        let pair = if dtype == Dtype::F16 { Type::F16x2 } else { Type::Bf16x2 };
        let word =
            self.pure(Opcode::Cvt, mods![Word::Rn, pair, Type::F32], Type::B32, &[high, low]);
        self.unpack(word)
    }

    /// Runs `f` on the `f32` values of halves and rounds its result.
    fn through_f32<const N: usize>(
        &mut self,
        dtype: Dtype,
        args: [Val; N],
        f: impl FnOnce(&mut Self, [Val; N]) -> Val,
    ) -> Val {
        let wide = args.map(|arg| self.half_to_f32(dtype, arg));
        let result = f(self, wide);
        self.f32_to_half(dtype, result)
    }

    /// An elementwise operation on one operand.
    pub(crate) fn unary(&mut self, op: Unary, dtype: Dtype, a: Val) -> Val {
        match dtype.class() {
            Class::Bool => self.not(Type::Pred, a),
            Class::Float(Float::F16 | Float::Bf16) => match op {
                Unary::Neg => self.half_bits_op(Opcode::Xor, a, 0x8000),
                Unary::Abs => self.half_bits_op(Opcode::And, a, 0x7fff),
                Unary::Transcendental(function) => {
                    self.through_f32(dtype, [a], |this, [a]| this.of_half(function, dtype, a))
                }
                Unary::Not | Unary::Bits(_) | Unary::Sqrt | Unary::Rsqrt | Unary::Round(_) => {
                    self.through_f32(dtype, [a], |this, [a]| this.unary_f32(op, a))
                }
            },
            Class::Float8(_) | Class::Opaque => {
                unreachable!("ir::verify rejects {op:?} of what is only moved")
            }
            Class::Float(Float::F32) => self.unary_f32(op, a),
            Class::Float(Float::F64) => self.unary_f64(op, a),
            Class::Signed | Class::Unsigned => self.unary_int(op, dtype, a),
        }
    }

    fn half_bits_op(&mut self, opcode: Opcode, a: Val, mask: i64) -> Val {
        match (a, opcode) {
            (Val::Int(a), Opcode::And) => Val::Int(a & mask),
            (Val::Int(a), _) => Val::Int(a ^ mask),
            _ => self.pure(opcode, mods![Type::B16], Type::B16, &[a, Val::Int(mask)]),
        }
    }

    fn unary_int(&mut self, op: Unary, dtype: Dtype, a: Val) -> Val {
        let ty = arithmetic(dtype);
        match op {
            Unary::Neg => {
                let negated = self.sub(ty, Val::Int(0), a);
                self.extend(dtype, negated)
            }
            Unary::Not => {
                let inverted = self.not(ty, a);
                self.extend(dtype, inverted)
            }
            Unary::Abs if dtype.is_signed() => {
                let absolute = match a {
                    Val::Int(a) => Val::Int(a.wrapping_abs()),
                    Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                        self.pure(Opcode::Abs, mods![ty], register(ty), &[a])
                    }
                };
                self.extend(dtype, absolute)
            }
            Unary::Abs => a,
            Unary::Bits(function) => self.bit_function(function, dtype, a),
            Unary::Sqrt | Unary::Rsqrt | Unary::Round(_) | Unary::Transcendental(_) => {
                unreachable!("ir::verify rejects {op:?} of an integer")
            }
        }
    }

    fn unary_f32(&mut self, op: Unary, a: Val) -> Val {
        match op {
            Unary::Neg => match a {
                Val::F32(bits) => Val::F32(bits ^ 0x8000_0000),
                Val::Reg(_) | Val::Int(_) | Val::F64(_) => self.f32_op(Opcode::Neg, &[], a),
            },
            Unary::Abs => self.f32_op(Opcode::Abs, &[], a),
            Unary::Sqrt => self.f32_op(Opcode::Sqrt, &[Word::Rn], a),
            Unary::Rsqrt => self.f32_op(Opcode::Rsqrt, &[Word::Approx], a),
            Unary::Transcendental(function) => self.transcendental(function, a),
            Unary::Round(rounding) => self.round(rounding, Type::F32, a),
            Unary::Not | Unary::Bits(_) => unreachable!("ir::verify rejects {op:?} of a float"),
        }
    }

    /// A float, `.f32` or `.f64`, rounded to an integral value.
    pub(crate) fn round(&mut self, rounding: Rounding, ty: Type, a: Val) -> Val {
        let word = match rounding {
            Rounding::Floor => Word::Rmi,
            Rounding::Ceil => Word::Rpi,
            Rounding::Trunc => Word::Rzi,
            Rounding::HalfEven => Word::Rni,
            Rounding::HalfAway => {
                // Truncated after the addition of the largest number below one half: half itself would carry the number below it up.
                let below_half = if ty == Type::F64 {
                    Val::F64(0.5_f64.next_down().to_bits())
                } else {
                    Val::F32(0.5_f32.next_down().to_bits())
                };
                let outwards = self.pure(Opcode::Copysign, mods![ty], ty, &[a, below_half]);
                let sum = self.float(Opcode::Add, ty, &[a, outwards]);
                return self.round(Rounding::Trunc, ty, sum);
            }
        };
        self.pure(Opcode::Cvt, mods![word, ty, ty], ty, &[a])
    }

    /// `add`, `sub`, `mul`, `div`, `fma` of `f32`, `f64` or `f16`, rounded to nearest even, never fused.
    pub(crate) fn float(&mut self, opcode: Opcode, ty: Type, args: &[Val]) -> Val {
        let held = register(ty);
        let args: Vec<Val> = args
            .iter()
            .map(|&arg| if held == Type::B16 { Val::Reg(self.reg(arg, held)) } else { arg })
            .collect();
        self.pure(opcode, mods![Word::Rn, ty], held, &args)
    }

    /// An elementwise operation on two operands; `right` is the element of `b`, for pointer arithmetic.
    pub(crate) fn binary(&mut self, op: Binary, elem: Elem, right: Elem, a: Val, b: Val) -> Val {
        match (elem, right) {
            (Elem::Ptr(target), Elem::Number(index)) => {
                let bytes = self.index_bytes(b, index, target.bytes());
                if op == Binary::Sub {
                    self.sub(Type::S64, a, bytes)
                } else {
                    self.add(Type::S64, a, bytes)
                }
            }
            (Elem::Number(index), Elem::Ptr(target)) => {
                let bytes = self.index_bytes(a, index, target.bytes());
                self.add(Type::S64, b, bytes)
            }
            (Elem::Ptr(target), Elem::Ptr(_)) => {
                let bytes = self.sub(Type::S64, a, b);
                self.divide(Opcode::Div, Type::S64, bytes, Val::Int(i64::from(target.bytes())))
            }
            (Elem::Number(dtype), Elem::Number(_)) => match dtype.class() {
                Class::Bool => self.binary_bool(op, a, b),
                Class::Float(Float::F16 | Float::Bf16) => self.binary_half(op, dtype, a, b),
                Class::Float(Float::F32 | Float::F64) => self.binary_float(op, dtype, a, b),
                Class::Signed | Class::Unsigned => self.binary_int(op, dtype, a, b),
                Class::Float8(_) | Class::Opaque => {
                    unreachable!("ir::verify rejects {op:?} of what is only moved")
                }
            },
        }
    }

    /// An element index as a distance in bytes.
    fn index_bytes(&mut self, index: Val, dtype: Dtype, bytes: u32) -> Val {
        let bytes = Val::Int(i64::from(bytes));
        if dtype.bytes() == 8 {
            return self.mul(Type::S64, index, bytes);
        }
        if dtype != Dtype::U32 {
            return self.mul_wide(index, bytes);
        }
        let wide = match index {
            Val::Int(index) => Val::Int(i64::from(low_word(index))),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                self.pure(Opcode::Cvt, mods![Type::U64, Type::U32], Type::B64, &[index])
            }
        };
        self.mul(Type::S64, wide, bytes)
    }

    fn binary_bool(&mut self, op: Binary, a: Val, b: Val) -> Val {
        match op {
            Binary::And | Binary::Mul | Binary::Min => self.and(Type::Pred, a, b),
            Binary::Or | Binary::Max => self.or(Type::Pred, a, b),
            Binary::Xor => self.xor(Type::Pred, a, b),
            Binary::Add
            | Binary::Sub
            | Binary::Div
            | Binary::Rem
            | Binary::Shl
            | Binary::Shr
            | Binary::MulHi
            | Binary::Copysign
            | Binary::Powf => unreachable!("ir::verify rejects {op:?} of booleans"),
        }
    }

    fn binary_int(&mut self, op: Binary, dtype: Dtype, a: Val, b: Val) -> Val {
        let ty = arithmetic(dtype);
        let result = match op {
            Binary::Add => self.add(ty, a, b),
            Binary::Sub => self.sub(ty, a, b),
            Binary::Mul => self.mul(ty, a, b),
            Binary::Div => self.divide(Opcode::Div, ty, a, b),
            Binary::Rem => self.divide(Opcode::Rem, ty, a, b),
            Binary::And => self.and(ty, a, b),
            Binary::Or => self.or(ty, a, b),
            Binary::Xor => self.xor(ty, a, b),
            Binary::Min => self.extreme(Opcode::Min, ty, a, b),
            Binary::Max => self.extreme(Opcode::Max, ty, a, b),
            Binary::Shl | Binary::Shr => self.shift(op, dtype, a, b),
            Binary::MulHi => self.mul_hi(dtype, a, b),
            Binary::Copysign | Binary::Powf => {
                unreachable!("ir::verify rejects {op:?} of integers")
            }
        };
        match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Shl => {
                self.extend(dtype, result)
            }
            Binary::Rem
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Min
            | Binary::Max
            | Binary::Shr
            | Binary::MulHi
            | Binary::Copysign
            | Binary::Powf => result,
        }
    }

    fn shift(&mut self, op: Binary, dtype: Dtype, a: Val, b: Val) -> Val {
        let ty = arithmetic(dtype);
        let mask = i64::from(dtype.bytes() * 8 - 1);
        if let Val::Int(by) = b {
            let by = low_word(by & mask);
            return if op == Binary::Shl { self.shl(ty, a, by) } else { self.shr(ty, a, by) };
        }
        let by = if dtype.bytes() == 8 { self.narrow(b) } else { b };
        // PTX clamps the amount at the width; here it is taken modulo the width.
        let by = self.and(Type::U32, by, Val::Int(mask));
        if op == Binary::Shl {
            self.pure(Opcode::Shl, mods![register(ty)], register(ty), &[a, by])
        } else {
            self.pure(Opcode::Shr, mods![ty], register(ty), &[a, by])
        }
    }

    fn binary_float(&mut self, op: Binary, dtype: Dtype, a: Val, b: Val) -> Val {
        let ty = arithmetic(dtype);
        let one = float_constant(1.0, dtype);
        match op {
            Binary::Mul | Binary::Div if b == one => a,
            Binary::Mul if a == one => b,
            Binary::Add => self.float(Opcode::Add, ty, &[a, b]),
            Binary::Sub => self.float(Opcode::Sub, ty, &[a, b]),
            Binary::Mul => self.float(Opcode::Mul, ty, &[a, b]),
            Binary::Div => self.float(Opcode::Div, ty, &[a, b]),
            Binary::Min => self.pure(Opcode::Min, mods![ty], ty, &[a, b]),
            Binary::Max => self.pure(Opcode::Max, mods![ty], ty, &[a, b]),
            Binary::Rem => self.float_remainder(dtype, a, b),
            // PTX names the sign first (PTX ISA, "copysign").
            Binary::Copysign => self.pure(Opcode::Copysign, mods![ty], ty, &[b, a]),
            Binary::Powf => {
                let width = if dtype == Dtype::F64 { Width::Double } else { Width::Single };
                self.floats(width).powf(a, b)
            }
            Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr | Binary::MulHi => {
                unreachable!("ir::verify rejects {op:?} of floats")
            }
        }
    }

    fn binary_half(&mut self, op: Binary, dtype: Dtype, a: Val, b: Val) -> Val {
        if op == Binary::Copysign {
            // By the bits: a conversion to `f32` and back gives a NaN another sign.
            let magnitude = self.half_bits_op(Opcode::And, a, 0x7fff);
            let sign = self.half_bits_op(Opcode::And, b, 0x8000);
            if let (Val::Int(magnitude), Val::Int(sign)) = (magnitude, sign) {
                return Val::Int(magnitude | sign);
            }
            let parts = [magnitude, sign].map(|part| Val::Reg(self.reg(part, Type::B16)));
            return self.pure(Opcode::Or, mods![Type::B16], Type::B16, &parts);
        }
        let opcode = match op {
            Binary::Add => Some(Opcode::Add),
            Binary::Sub => Some(Opcode::Sub),
            Binary::Mul => Some(Opcode::Mul),
            Binary::Min => Some(Opcode::Min),
            Binary::Max => Some(Opcode::Max),
            Binary::Div
            | Binary::Rem
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::MulHi
            | Binary::Copysign
            | Binary::Powf => None,
        };
        match opcode {
            Some(opcode @ (Opcode::Min | Opcode::Max)) => {
                let args = [a, b].map(|arg| Val::Reg(self.reg(arg, Type::B16)));
                self.pure(opcode, mods![arithmetic(dtype)], Type::B16, &args)
            }
            Some(opcode) if dtype == Dtype::F16 => self.float(opcode, Type::F16, &[a, b]),
            // Rounding the f32 result again gives what one rounding would: 24 bits hold twice a half's and two more.
            Some(_) | None => self
                .through_f32(dtype, [a, b], |this, [a, b]| this.binary_float(op, Dtype::F32, a, b)),
        }
    }

    /// `a * b + c`, rounded once; integers wrap.
    pub(crate) fn fma(&mut self, dtype: Dtype, a: Val, b: Val, c: Val) -> Val {
        match dtype.class() {
            Class::Float(_) => self.float(Opcode::Fma, arithmetic(dtype), &[a, b, c]),
            Class::Bool | Class::Float8(_) | Class::Opaque => {
                unreachable!("ir::verify rejects a product of what has no arithmetic")
            }
            Class::Signed | Class::Unsigned => {
                let product = self.mul(arithmetic(dtype), a, b);
                let sum = self.add(arithmetic(dtype), product, c);
                self.extend(dtype, sum)
            }
        }
    }

    /// An elementwise comparison.
    pub(crate) fn compare_elem(&mut self, op: Compare, elem: Elem, a: Val, b: Val) -> Val {
        let word = match op {
            Compare::Lt => Word::Lt,
            Compare::Le => Word::Le,
            Compare::Gt => Word::Gt,
            Compare::Ge => Word::Ge,
            Compare::Eq => Word::Eq,
            Compare::Ne => Word::Ne,
        };
        let Elem::Number(dtype) = elem else { return self.compare(word, Type::U64, a, b) };
        match dtype.class() {
            Class::Bool => {
                let [a, b] =
                    [a, b].map(|bit| self.select(Type::U32, bit, Val::Int(1), Val::Int(0)));
                self.compare(word, Type::U32, a, b)
            }
            Class::Float(Float::F16 | Float::Bf16) => {
                // A comparison of bfloat16 needs sm_90; the f32 values compare alike.
                let [a, b] = [a, b].map(|half| self.half_to_f32(dtype, half));
                self.compare_float(word, Type::F32, a, b)
            }
            Class::Float8(_) | Class::Opaque => {
                unreachable!("ir::verify rejects a comparison of what is only moved")
            }
            Class::Float(Float::F32 | Float::F64) => {
                self.compare_float(word, arithmetic(dtype), a, b)
            }
            Class::Signed | Class::Unsigned => self.compare(word, arithmetic(dtype), a, b),
        }
    }

    /// A comparison of floats; `Ne` holds for a NaN.
    pub(crate) fn compare_float(&mut self, word: Word, ty: Type, a: Val, b: Val) -> Val {
        let word = if word == Word::Ne { Word::Neu } else { word };
        self.pure(Opcode::Setp, mods![word, ty], Type::Pred, &[a, b])
    }
}
