//! Integer and predicate instructions, with constants folded and the identities of arithmetic applied.

use kernel_ptx::{Opcode, Operand, SpecialRegister, Type, Word};

use super::bits::{log2, low_word, sign_extended};
use super::{Emitter, Val, mods};

/// The register type that holds an operation type.
pub(crate) fn register(ty: Type) -> Type {
    if matches!(ty, Type::Pred | Type::F32 | Type::F64) {
        return ty;
    }
    match ty.bits() {
        16 => Type::B16,
        64 => Type::B64,
        _ => Type::B32,
    }
}

/// `value` as a constant of `ty`: 32-bit constants are kept as their `i32` value.
fn wrap(ty: Type, value: i64) -> i64 {
    if ty.bits() == 64 { value } else { sign_extended(value, 32) }
}

/// `value` as an unsigned instruction of type `ty` reads it.
fn unsigned(ty: Type, value: i64) -> u64 {
    if ty.bits() == 64 { value.cast_unsigned() } else { u64::from(low_word(value)) }
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S32 | Type::S64)
}

impl Emitter {
    /// A special register, read once.
    pub(crate) fn special(&mut self, register: SpecialRegister) -> Val {
        let index = SpecialRegister::ALL
            .iter()
            .position(|other| *other == register)
            .expect("the table lists every one");
        let key = Val::Int(i64::try_from(index).expect("a small table"));
        self.pure_of(Opcode::Mov, mods![Type::U32], Type::B32, Operand::Special(register), key)
    }

    /// `a + b`, of 32 or 64 bits.
    pub(crate) fn add(&mut self, ty: Type, a: Val, b: Val) -> Val {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => Val::Int(wrap(ty, a.wrapping_add(b))),
            (Val::Int(_), Val::Reg(_)) => self.add(ty, b, a),
            (_, Val::Int(0)) => a,
            (Val::Reg(_), Val::Int(offset)) => {
                let (base, before) = self.sum_of(a).expect("a register is a sum");
                let offset = wrap(ty, before.wrapping_add(offset));
                if offset == 0 {
                    return Val::Reg(base);
                }
                let sum = self.pure(
                    Opcode::Add,
                    mods![signed_form(ty)],
                    register(ty),
                    &[Val::Reg(base), Val::Int(offset)],
                );
                self.note_sum(sum, base, offset);
                sum
            }
            _ => {
                // The operand that is defined in the outer frame comes first, so that equal sums meet.
                let (a, b) = if self.depth(b) < self.depth(a) { (b, a) } else { (a, b) };
                self.pure(Opcode::Add, mods![signed_form(ty)], register(ty), &[a, b])
            }
        }
    }

    /// `a - b`.
    pub(crate) fn sub(&mut self, ty: Type, a: Val, b: Val) -> Val {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => Val::Int(wrap(ty, a.wrapping_sub(b))),
            (_, Val::Int(b)) => self.add(ty, a, Val::Int(wrap(ty, b.wrapping_neg()))),
            _ if a == b => Val::Int(0),
            _ => self.pure(Opcode::Sub, mods![signed_form(ty)], register(ty), &[a, b]),
        }
    }

    /// `a * b`, the low half.
    pub(crate) fn mul(&mut self, ty: Type, a: Val, b: Val) -> Val {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => Val::Int(wrap(ty, a.wrapping_mul(b))),
            (Val::Int(_), Val::Reg(_)) => self.mul(ty, b, a),
            (_, Val::Int(0)) => Val::Int(0),
            (_, Val::Int(1)) => a,
            (_, Val::Int(factor)) if log2(factor).is_some() => {
                self.shl(ty, a, log2(factor).expect("checked"))
            }
            _ => self.pure(Opcode::Mul, mods![Word::Lo, signed_form(ty)], register(ty), &[a, b]),
        }
    }

    /// The 64-bit product of two signed 32-bit values.
    pub(crate) fn mul_wide(&mut self, a: Val, b: Val) -> Val {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => Val::Int(a.wrapping_mul(b)),
            (Val::Int(_), Val::Reg(_)) => self.mul_wide(b, a),
            (_, Val::Int(0)) => Val::Int(0),
            (_, Val::Int(1)) => self.widen(a),
            _ => self.pure(Opcode::Mul, mods![Word::Wide, Type::S32], Type::B64, &[a, b]),
        }
    }

    /// A signed 32-bit value as 64 bits.
    pub(crate) fn widen(&mut self, a: Val) -> Val {
        match a {
            Val::Int(_) => a,
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                self.pure(Opcode::Cvt, mods![Type::S64, Type::S32], Type::B64, &[a])
            }
        }
    }

    /// The low 32 bits of 64.
    pub(crate) fn narrow(&mut self, a: Val) -> Val {
        match a {
            Val::Int(a) => Val::Int(wrap(Type::S32, a)),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                self.pure(Opcode::Cvt, mods![Type::U32, Type::U64], Type::B32, &[a])
            }
        }
    }

    /// `a << by`, `by` below the width.
    pub(crate) fn shl(&mut self, ty: Type, a: Val, by: u32) -> Val {
        match a {
            _ if by == 0 => a,
            Val::Int(a) => Val::Int(wrap(ty, a.wrapping_shl(by))),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => self.pure(
                Opcode::Shl,
                mods![register(ty)],
                register(ty),
                &[a, Val::Int(i64::from(by))],
            ),
        }
    }

    /// `a >> by`, arithmetic for a signed type, `by` below the width.
    pub(crate) fn shr(&mut self, ty: Type, a: Val, by: u32) -> Val {
        match a {
            _ if by == 0 => a,
            Val::Int(a) if is_signed(ty) => Val::Int(a >> by),
            Val::Int(a) => Val::Int(wrap(ty, (unsigned(ty, a) >> by).cast_signed())),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                self.pure(Opcode::Shr, mods![ty], register(ty), &[a, Val::Int(i64::from(by))])
            }
        }
    }

    /// `a & b`.
    pub(crate) fn and(&mut self, ty: Type, a: Val, b: Val) -> Val {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => Val::Int(a & b),
            (Val::Int(_), Val::Reg(_)) => self.and(ty, b, a),
            (_, Val::Int(0)) => Val::Int(0),
            (_, Val::Int(-1)) if ty != Type::Pred => a,
            (_, Val::Int(1)) if ty == Type::Pred => a,
            _ if a == b => a,
            _ => self.bitwise(Opcode::And, ty, a, b),
        }
    }

    /// `a | b`.
    pub(crate) fn or(&mut self, ty: Type, a: Val, b: Val) -> Val {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => Val::Int(a | b),
            (Val::Int(_), Val::Reg(_)) => self.or(ty, b, a),
            (_, Val::Int(0)) => a,
            (_, Val::Int(1)) if ty == Type::Pred => Val::Int(1),
            _ if a == b => a,
            _ => self.bitwise(Opcode::Or, ty, a, b),
        }
    }

    /// `a ^ b`.
    pub(crate) fn xor(&mut self, ty: Type, a: Val, b: Val) -> Val {
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => Val::Int(a ^ b),
            (Val::Int(_), Val::Reg(_)) => self.xor(ty, b, a),
            (_, Val::Int(0)) => a,
            (_, Val::Int(1)) if ty == Type::Pred => self.not(ty, a),
            _ if a == b => Val::Int(0),
            _ => self.bitwise(Opcode::Xor, ty, a, b),
        }
    }

    fn bitwise(&mut self, opcode: Opcode, ty: Type, a: Val, b: Val) -> Val {
        let (a, b) = if self.depth(b) < self.depth(a) && !matches!(b, Val::Int(_)) {
            (b, a)
        } else {
            (a, b)
        };
        self.pure(opcode, mods![register(ty)], register(ty), &[a, b])
    }

    /// Bitwise or logical not.
    pub(crate) fn not(&mut self, ty: Type, a: Val) -> Val {
        match a {
            Val::Int(a) if ty == Type::Pred => Val::Int(1 - a),
            Val::Int(a) => Val::Int(!a),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                self.pure(Opcode::Not, mods![register(ty)], register(ty), &[a])
            }
        }
    }

    /// `a / b` or `a % b` of integers of 32 or 64 bits.
    pub(crate) fn divide(&mut self, opcode: Opcode, ty: Type, a: Val, b: Val) -> Val {
        let remainder = opcode == Opcode::Rem;
        match (a, b) {
            (Val::Int(a), Val::Int(b)) if b != 0 => Val::Int(match (is_signed(ty), remainder) {
                (true, false) => wrap(ty, a.wrapping_div(b)),
                (true, true) => wrap(ty, a.wrapping_rem(b)),
                (false, false) => wrap(ty, (unsigned(ty, a) / unsigned(ty, b)).cast_signed()),
                (false, true) => wrap(ty, (unsigned(ty, a) % unsigned(ty, b)).cast_signed()),
            }),
            (_, Val::Int(1)) => {
                if remainder {
                    Val::Int(0)
                } else {
                    a
                }
            }
            (_, Val::Int(divisor)) if !is_signed(ty) && log2(divisor).is_some() => {
                if remainder {
                    self.and(ty, a, Val::Int(divisor - 1))
                } else {
                    self.shr(ty, a, log2(divisor).expect("checked"))
                }
            }
            (_, Val::Int(divisor)) if log2(divisor).is_some() => {
                // Towards zero: a negative dividend is first raised by the divisor less one.
                let log2_divisor = log2(divisor).expect("checked");
                let sign = self.shr(ty, a, ty.bits() - 1);
                let raise = self.and(ty, sign, Val::Int(divisor - 1));
                let raised = self.add(ty, a, raise);
                if remainder {
                    let floor = self.and(ty, raised, Val::Int(-divisor));
                    self.sub(ty, a, floor)
                } else {
                    self.shr(ty, raised, log2_divisor)
                }
            }
            _ => self.pure(opcode, mods![ty], register(ty), &[a, b]),
        }
    }

    /// The smaller or the larger of two integers.
    pub(crate) fn extreme(&mut self, opcode: Opcode, ty: Type, a: Val, b: Val) -> Val {
        match (a, b) {
            _ if a == b => a,
            (Val::Int(x), Val::Int(y)) => {
                let below = if is_signed(ty) { x < y } else { unsigned(ty, x) < unsigned(ty, y) };
                if below == (opcode == Opcode::Min) { a } else { b }
            }
            _ => self.pure(opcode, mods![ty], register(ty), &[a, b]),
        }
    }

    /// A comparison of integers; `word` is `Eq`, `Ne`, `Lt`, `Le`, `Gt` or `Ge`.
    pub(crate) fn compare(&mut self, word: Word, ty: Type, a: Val, b: Val) -> Val {
        if let (Val::Int(x), Val::Int(y)) = (a, b) {
            let order =
                if is_signed(ty) { x.cmp(&y) } else { unsigned(ty, x).cmp(&unsigned(ty, y)) };
            return Val::Int(i64::from(holds(word, order)));
        }
        if a == b {
            return Val::Int(i64::from(holds(word, std::cmp::Ordering::Equal)));
        }
        self.pure(Opcode::Setp, mods![word, ty], Type::Pred, &[a, b])
    }

    /// `mask ? a : b` for registers of type `ty`.
    pub(crate) fn select(&mut self, ty: Type, mask: Val, a: Val, b: Val) -> Val {
        match mask {
            Val::Int(0) => b,
            Val::Int(_) => a,
            _ if a == b => a,
            _ if ty == Type::Pred => {
                let yes = self.and(ty, mask, a);
                let unset = self.not(ty, mask);
                let no = self.and(ty, unset, b);
                self.or(ty, yes, no)
            }
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                let held = register(ty);
                let [a, b] = [a, b].map(|value| {
                    if held == Type::B16 { Val::Reg(self.reg(value, held)) } else { value }
                });
                self.pure(Opcode::Selp, mods![held], held, &[a, b, mask])
            }
        }
    }

    /// The sum of 64-bit terms. Those of outer frames are added first, so that their part leaves the loops.
    pub(crate) fn sum(&mut self, terms: &[Val]) -> Val {
        let mut terms = terms.to_vec();
        terms.sort_by_key(|&term| (matches!(term, Val::Int(_)), self.depth(term)));
        terms.into_iter().reduce(|sum, term| self.add(Type::S64, sum, term)).unwrap_or(Val::Int(0))
    }
}

fn signed_form(ty: Type) -> Type {
    if ty.bits() == 64 { Type::S64 } else { Type::S32 }
}

fn holds(word: Word, order: std::cmp::Ordering) -> bool {
    if word == Word::Eq {
        order.is_eq()
    } else if word == Word::Ne {
        order.is_ne()
    } else if word == Word::Lt {
        order.is_lt()
    } else if word == Word::Le {
        order.is_le()
    } else if word == Word::Gt {
        order.is_gt()
    } else {
        order.is_ge()
    }
}
