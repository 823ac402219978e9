//! One access of one thread: up to 16 bytes between memory and registers.

use kernel_ptx::{Base, Instruction, Modifier, Opcode, Operand, Reg, Space, Type, Word};

use super::atomic::ordered_modifiers;
use crate::ir::{Atomic, Dtype, Elem, Ordered, Scope};
use crate::lower::emitter::{Emitter, Val, mods};
use crate::lower::tiles::scalar::zero;

/// The most bytes of one access.
pub(crate) const VECTOR_BYTES: u32 = 16;

/// The bytes of an element in memory.
pub(crate) fn bytes(elem: Elem) -> u32 {
    match elem {
        Elem::Number(dtype) => dtype.bytes(),
        Elem::Ptr(_) => 8,
    }
}

/// How the elements of an access are in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words {
    /// Type of the instruction.
    ty: Type,
    /// Type of the registers.
    register: Type,
    /// Registers of the access: 1, 2 or 4.
    count: u32,
    /// Elements in each.
    elements: u32,
}

impl Words {
    fn of(elem: Elem, elements: u32) -> Words {
        let size = bytes(elem);
        let total = size * elements;
        let Elem::Number(dtype) = elem else {
            return Words { ty: Type::B64, register: Type::B64, count: elements, elements: 1 };
        };
        let register = dtype.register().ty();
        if size == 8 || register == Type::F32 {
            return Words { ty: register, register, count: elements, elements: 1 };
        }
        if total >= 4 {
            let (count, elements) = (total.div_ceil(4), 4 / size.min(4));
            return Words { ty: Type::B32, register: Type::B32, count, elements };
        }
        let ty = if elements == 1 { dtype.row().memory } else { Type::U16 };
        let register = if dtype.is_half() { Type::B16 } else { Type::B32 };
        Words { ty, register, count: 1, elements }
    }

    /// The modifiers of an access that begin with `first`.
    fn modifiers(self, first: &[Modifier]) -> Vec<Modifier> {
        let mut modifiers = first.to_vec();
        match self.count {
            2 => modifiers.push(Word::V2.into()),
            4 => modifiers.push(Word::V4.into()),
            _ => {}
        }
        modifiers.push(self.ty.into());
        modifiers
    }
}

fn braced(mut registers: Vec<Operand>) -> Operand {
    if registers.len() == 1 { registers.remove(0) } else { Operand::Vector(registers) }
}

impl Emitter {
    /// The operand that addresses `value + offset`; constants that were added to a register go into the operand.
    pub(crate) fn at(&mut self, value: Val, offset: i64) -> Operand {
        let (base, constant) =
            self.sum_of(value).unwrap_or_else(|| (self.reg(value, Type::B64), 0));
        Operand::Address { base: Base::Reg(base), offset: constant + offset }
    }

    /// Reads `count` neighbouring elements; if `mask` does not hold, they are `other` (zeros without it).
    pub(crate) fn load(
        &mut self,
        space: impl Into<Modifier>,
        elem: Elem,
        count: u32,
        address: Operand,
        mask: Val,
        other: Option<&[Val]>,
    ) -> Vec<Val> {
        self.load_with(&[space.into()], elem, count, (address, None), (mask, other))
    }

    /// The same with more modifiers, and with the cache policy that they announce.
    pub(crate) fn load_with(
        &mut self,
        modifiers: &[Modifier],
        elem: Elem,
        count: u32,
        (address, policy): (Operand, Option<Operand>),
        (mask, other): (Val, Option<&[Val]>),
    ) -> Vec<Val> {
        let zeros = vec![zero(elem); count as usize];
        let other = other.unwrap_or(&zeros);
        if mask == Val::Int(0) {
            return other.to_vec();
        }
        let words = Words::of(elem, count);
        let registers: Vec<Reg> = (0..words.count).map(|_| self.fresh(words.register)).collect();
        let guard = self.guard(mask);
        if guard.is_some() {
            let initial = self.packed_words(elem, words, other);
            for (&register, value) in registers.iter().zip(initial) {
                self.assign(register, value);
            }
        }
        let modifiers = words.modifiers(modifiers);
        let target = braced(registers.iter().map(|&register| Operand::Reg(register)).collect());
        let operands: Vec<Operand> = [target, address].into_iter().chain(policy).collect();
        let mut inst = Instruction::new(Opcode::Ld, modifiers, operands);
        inst.guard = guard;
        self.push(inst, 1, false);
        registers
            .iter()
            .flat_map(|&register| self.elements(elem, words, Val::Reg(register)))
            .collect()
    }

    /// Writes neighbouring elements if `mask` holds.
    pub(crate) fn store(
        &mut self,
        space: impl Into<Modifier>,
        elem: Elem,
        values: &[Val],
        address: Operand,
        mask: Val,
    ) {
        self.store_with(&[space.into()], elem, values, (address, None), mask);
    }

    /// Writes an element if `mask` holds, strongly: other threads of the scope may write the same one, and one of them stays.
    pub(crate) fn store_relaxed(
        &mut self,
        [scope, space]: [Modifier; 2],
        elem: Elem,
        value: Val,
        address: Operand,
        mask: Val,
    ) {
        let modifiers = [Word::Relaxed.into(), scope, space];
        self.store_with(&modifiers, elem, &[value], (address, None), mask);
    }

    /// Writes neighbouring elements to another block, if `mask` holds; the barrier at the second address counts their bytes.
    pub(crate) fn store_counted(
        &mut self,
        elem: Elem,
        values: &[Val],
        [address, barrier]: [Operand; 2],
        mask: Val,
    ) {
        let modifiers =
            mods![Word::Async, Word::Weak, Word::SharedCluster, Word::MbarrierCompleteTxBytes];
        self.store_with(modifiers, elem, values, (address, Some(barrier)), mask);
    }

    /// Writes neighbouring elements if `mask` holds, with modifiers and with the last operand that they announce: a barrier, a cache policy.
    pub(crate) fn store_with(
        &mut self,
        modifiers: &[Modifier],
        elem: Elem,
        values: &[Val],
        (address, last): (Operand, Option<Operand>),
        mask: Val,
    ) {
        if mask == Val::Int(0) {
            return;
        }
        let count = u32::try_from(values.len()).expect("an access has few elements");
        let words = Words::of(elem, count);
        let values = self.packed_words(elem, words, values);
        let registers =
            values.into_iter().map(|value| Operand::Reg(self.reg(value, words.register))).collect();
        let guard = self.guard(mask);
        let operands = [address, braced(registers)].into_iter().chain(last);
        let operands: Vec<Operand> = operands.collect();
        self.effect_if(guard, Opcode::St, &words.modifiers(modifiers), operands);
    }

    /// Adds neighbouring floats to those in global memory if `mask` holds, or leaves the larger or the smaller ones there, each by itself,
    /// with a cache policy.
    pub(crate) fn change_neighbours(
        &mut self,
        (op, dtype, scope): (Atomic, Dtype, Scope),
        values: &[Val],
        (address, policy): (Operand, Option<Operand>),
        mask: Val,
    ) {
        let elem = Elem::Number(dtype);
        let count = u32::try_from(values.len()).expect("an access has few elements");
        let word = match op {
            Atomic::Add => Word::Add,
            Atomic::Max => Word::Max,
            Atomic::Min => Word::Min,
            Atomic::And
            | Atomic::Or
            | Atomic::Xor
            | Atomic::Exchange
            | Atomic::CompareExchange
            | Atomic::Load
            | Atomic::Store => unreachable!("`Atomic::at_once` is 1 for them"),
        };
        // Without a vector a pair of halves is added only (PTX ISA, "red").
        let least = if op == Atomic::Add { 2 } else { 4 };
        let one = dtype.row().instruction;
        let words = match (dtype, count >= least) {
            (Dtype::F16, true) => Words { ty: Type::F16x2, ..Words::of(elem, count) },
            (Dtype::Bf16, true) => Words { ty: Type::Bf16x2, ..Words::of(elem, count) },
            _ if dtype.is_half() => Words { ty: one, register: Type::B16, count, elements: 1 },
            _ => Words { ty: one, ..Words::of(elem, count) },
        };
        let values = self.packed_words(elem, words, values);
        let registers =
            values.into_iter().map(|value| Operand::Reg(self.reg(value, words.register))).collect();
        let guard = self.guard(mask);
        let mut modifiers = ordered_modifiers(Ordered { scope, ..Ordered::RELAXED });
        modifiers.extend_from_slice(mods![Space::Global, word]);
        if dtype.is_half() {
            modifiers.push(Word::Noftz.into());
        }
        if policy.is_some() {
            modifiers.push(Word::L2CacheHint.into());
        }
        let operands: Vec<Operand> =
            [address, braced(registers)].into_iter().chain(policy).collect();
        self.effect_if(guard, Opcode::Red, &words.modifiers(&modifiers), operands);
    }

    /// The elements of one loaded register.
    fn elements(&mut self, elem: Elem, words: Words, word: Val) -> Vec<Val> {
        let Elem::Number(dtype) = elem else { return vec![word] };
        let boolean = dtype == Dtype::Bool;
        match words.elements {
            1 if !boolean => vec![word],
            2 if dtype.is_half() => self.unpack(word).to_vec(),
            4 if !boolean => self.unpack_bytes(dtype, word).to_vec(),
            count => (0..count)
                .map(|index| {
                    let shifted = self.shr(Type::U32, word, index * dtype.bytes() * 8);
                    if !boolean {
                        return self.extend(dtype, shifted);
                    }
                    let bit = if count == 1 {
                        word
                    } else {
                        self.and(Type::U32, shifted, Val::Int(0xff))
                    };
                    self.compare(Word::Ne, Type::S32, bit, Val::Int(0))
                })
                .collect(),
        }
    }

    /// Elements packed into the registers of an access.
    fn packed_words(&mut self, elem: Elem, words: Words, values: &[Val]) -> Vec<Val> {
        values.chunks(words.elements as usize).map(|chunk| self.word(elem, chunk)).collect()
    }

    fn word(&mut self, elem: Elem, chunk: &[Val]) -> Val {
        let boolean = elem == Elem::Number(Dtype::Bool);
        let half = matches!(elem, Elem::Number(dtype) if dtype.is_half());
        let chunk: Vec<Val> = chunk
            .iter()
            .map(|&value| {
                if boolean {
                    self.select(Type::U32, value, Val::Int(1), Val::Int(0))
                } else {
                    value
                }
            })
            .collect();
        match chunk[..] {
            [low, high] if half => self.pack(low, high),
            [low, high] if bytes(elem) == 2 => self.pack_low_halves(low, high),
            [low, high] => self.pack_two_bytes(low, high),
            [a, b, c, d] => self.pack_bytes([a, b, c, d]),
            _ => chunk[0],
        }
    }
}
