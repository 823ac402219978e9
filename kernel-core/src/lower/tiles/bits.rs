//! Functions of the bits of an element: counts, funnel shifts, high halves of products, other readings of the same bits.

use kernel_ptx::{Opcode, Type, Word};

use super::scalar::{arithmetic, held};
use crate::ir::dtype::Register;
use crate::ir::{BitFunction, Dtype, Elem, Funnel};
use crate::lower::emitter::bits::sign_extended;
use crate::lower::emitter::fold::register;
use crate::lower::emitter::{Emitter, Val, mods};

impl Emitter {
    /// A function of the bits of an integer.
    pub(crate) fn bit_function(&mut self, function: BitFunction, dtype: Dtype, a: Val) -> Val {
        let width = 8 * i64::from(dtype.bytes());
        let word = if width == 64 { Type::B64 } else { Type::B32 };
        let plain = if width < 32 && function != BitFunction::ReverseBits {
            self.and(Type::U32, a, Val::Int((1 << width) - 1))
        } else {
            a
        };
        let plain = Val::Reg(self.reg(plain, word));
        match function {
            BitFunction::CountOnes => {
                let count = self.pure(Opcode::Popc, mods![word], Type::B32, &[plain]);
                self.count(dtype, count)
            }
            BitFunction::LeadingZeros => {
                let count = self.pure(Opcode::Clz, mods![word], Type::B32, &[plain]);
                let count = self.sub(Type::S32, count, Val::Int((32 - width).max(0)));
                self.count(dtype, count)
            }
            BitFunction::ReverseBits => {
                let reversed = self.pure(Opcode::Brev, mods![word], word, &[plain]);
                let unused = u32::try_from((32 - width).max(0)).expect("at most 24");
                // The shift repeats the sign of a signed type.
                self.shr(arithmetic(dtype), reversed, unused)
            }
        }
    }

    /// A count of bits as a number of the type whose bits were counted.
    fn count(&mut self, dtype: Dtype, count: Val) -> Val {
        if dtype.bytes() == 8 { self.widen(count) } else { count }
    }

    /// The bits of the product of two integers above those that the type holds.
    pub(crate) fn mul_hi(&mut self, dtype: Dtype, a: Val, b: Val) -> Val {
        let ty = arithmetic(dtype);
        if dtype.bytes() < 4 {
            let product = self.mul(ty, a, b);
            return self.shr(ty, product, 8 * dtype.bytes());
        }
        let [a, b] = [a, b].map(|arg| Val::Reg(self.reg(arg, register(ty))));
        self.pure(Opcode::Mul, mods![Word::Hi, ty], register(ty), &[a, b])
    }

    /// One of two words side by side, after a shift by an amount modulo their width.
    pub(crate) fn funnel_shift(
        &mut self,
        op: Funnel,
        dtype: Dtype,
        [high, low, amount]: [Val; 3],
    ) -> Val {
        let width = i64::from(8 * dtype.bytes());
        match dtype.bytes() {
            8 => {
                let amount = self.narrow(amount);
                let amount = self.and(Type::U32, amount, Val::Int(width - 1));
                // The other word moves by one bit and by 63 - amount, because no shift by 64 exists.
                let rest = self.xor(Type::U32, amount, Val::Int(width - 1));
                let (first, last) = match op {
                    Funnel::Left => {
                        let half = self.shr(Type::U64, low, 1);
                        (self.shl_by(high, amount), self.shr_by(half, rest))
                    }
                    Funnel::Right => {
                        let double = self.shl(Type::U64, high, 1);
                        (self.shr_by(low, amount), self.shl_by(double, rest))
                    }
                };
                self.or(Type::U64, first, last)
            }
            4 => {
                let [low, high] = [low, high].map(|word| Val::Reg(self.reg(word, Type::B32)));
                let side = match op {
                    Funnel::Left => Word::L,
                    Funnel::Right => Word::R,
                };
                let modifiers = mods![side, Word::Wrap, Type::B32];
                self.pure(Opcode::Shf, modifiers, Type::B32, &[low, high, amount])
            }
            _ => {
                let bits = 8 * dtype.bytes();
                let above = self.shl(Type::U32, high, bits);
                let below = self.and(Type::U32, low, Val::Int((1 << width) - 1));
                let both = self.or(Type::U32, above, below);
                let amount = self.and(Type::U32, amount, Val::Int(width - 1));
                let both = Val::Reg(self.reg(both, Type::B32));
                let moved = match op {
                    Funnel::Left => {
                        let moved =
                            self.pure(Opcode::Shl, mods![Type::B32], Type::B32, &[both, amount]);
                        self.shr(Type::U32, moved, bits)
                    }
                    Funnel::Right => {
                        self.pure(Opcode::Shr, mods![Type::U32], Type::B32, &[both, amount])
                    }
                };
                self.extend(dtype, moved)
            }
        }
    }

    /// A word of 64 bits shifted to the left, by less than 64.
    fn shl_by(&mut self, word: Val, amount: Val) -> Val {
        let word = Val::Reg(self.reg(word, Type::B64));
        self.pure(Opcode::Shl, mods![Type::B64], Type::B64, &[word, amount])
    }

    /// A word of 64 bits shifted to the right, by less than 64; zeros come in.
    fn shr_by(&mut self, word: Val, amount: Val) -> Val {
        let word = Val::Reg(self.reg(word, Type::B64));
        self.pure(Opcode::Shr, mods![Type::U64], Type::B64, &[word, amount])
    }

    /// The same bits as an element of another type of the same width.
    pub(crate) fn bitcast(&mut self, from: Elem, to: Elem, value: Val) -> Val {
        let (Elem::Number(from), Elem::Number(to)) = (from, to) else {
            // An address is 64 bits in the same register.
            return value;
        };
        let (before, after) = (from.register(), to.register());
        if before == after {
            return if after == Register::B32 { self.extend(to, value) } else { value };
        }
        match (before, after) {
            (Register::B16, _) => {
                let word = self.pack(value, Val::Int(0));
                self.extend(to, word)
            }
            (_, Register::B16) => self.unpack(value)[0],
            _ => {
                let held = held(Elem::Number(to));
                let word = if held.bits() == 64 { Type::B64 } else { Type::B32 };
                match (value, after) {
                    (Val::F32(bits), _) => Val::Int(sign_extended(i64::from(bits), 32)),
                    (Val::F64(bits), _) => Val::Int(bits.cast_signed()),
                    (Val::Int(bits), Register::F64) => Val::F64(bits.cast_unsigned()),
                    (Val::Int(bits), _) => Val::F32(crate::lower::emitter::bits::low_word(bits)),
                    (Val::Reg(_), _) => self.pure(Opcode::Mov, mods![word], held, &[value]),
                }
            }
        }
    }
}
