//! How much dynamic shared memory a kernel needs, as far as its PTX shows it.
//!
//! PTX does not say how many bytes a launch asks for. The addresses say how far a kernel reaches: what a register that is written once
//! holds follows from the index of the thread, numbers, and arithmetic on them, and is computed for every thread of a block. What depends
//! on loops or data is not known, so the result is a least size. Kiln places barriers and scratch after tiles, and their addresses are
//! plain.

use kernel_ptx::{
    Base, Function, Instruction, Modifier, Module, Opcode, Operand, Reg, SpecialRegister, Symbol, Word,
    results,
};

use super::kernel::instructions;

/// What a register holds, thread by thread.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Held {
    /// It is not followed.
    Unknown,
    /// A number.
    Number(Each),
    /// An address of dynamic shared memory: the bytes from its beginning.
    Shared(Each),
}

/// A number of each thread.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Each {
    /// The same in all threads.
    Same(i64),
    /// That of each thread, in order.
    Own(Vec<i64>),
}

impl Each {
    fn of(self, other: &Each, act: impl Fn(i64, i64) -> i64) -> Each {
        match (self, other) {
            (Each::Same(a), Each::Same(b)) => Each::Same(act(a, *b)),
            (Each::Same(a), Each::Own(b)) => Each::Own(b.iter().map(|&b| act(a, b)).collect()),
            (Each::Own(a), Each::Same(b)) => Each::Own(a.iter().map(|&a| act(a, *b)).collect()),
            (Each::Own(a), Each::Own(b)) => {
                Each::Own(a.iter().zip(b).map(|(&a, &b)| act(a, b)).collect())
            }
        }
    }

    fn most(&self) -> i64 {
        match self {
            Each::Same(value) => *value,
            Each::Own(values) => values.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The end of the last byte of dynamic shared memory that an instruction names; 0 if it names none.
///
/// `threads` are those of a block, the most that there can be without. All instructions count as if every thread ran them.
pub fn extent(module: &Module, function: &Function, threads: Option<u32>) -> u64 {
    let dynamic = |symbol: &Symbol| {
        if let Symbol::Global(index) = symbol
            && let Some(variable) = module.variables.get(*index as usize)
        {
            variable.dims == [0]
        } else {
            false
        }
    };
    let threads = threads.unwrap_or(1024).clamp(1, 1024);
    let mut written = vec![0_u32; function.registers.len()];
    for instruction in instructions(function) {
        each_result(instruction, function, &mut |register| {
            if let Some(count) = written.get_mut(register.0 as usize) {
                *count += 1;
            }
        });
    }
    let mut known = Known { of: vec![Held::Unknown; written.len()], threads, dynamic: &dynamic };
    let mut end = 0;
    for instruction in instructions(function) {
        for operand in &instruction.operands {
            if let Operand::Address { base, offset } = operand
                && let Held::Shared(bytes) = known.base(base)
            {
                end = end.max(bytes.most().saturating_add(*offset).saturating_add(width(instruction)));
            }
        }
        if let Some(Operand::Reg(register)) = instruction.operands.first()
            && written.get(register.0 as usize) == Some(&1)
            && instruction.guard.is_none()
        {
            let held = known.result(instruction);
            known.of[register.0 as usize] = held;
        }
    }
    u64::try_from(end).unwrap_or(0)
}

/// The registers that an instruction writes; of a form that the table lacks, its first operand.
pub(super) fn each_result(instruction: &Instruction, function: &Function, act: &mut dyn FnMut(Reg)) {
    let count = results(instruction, &function.registers).unwrap_or(1);
    let mut open: Vec<&Operand> = instruction.operands.iter().take(count).collect();
    while let Some(operand) = open.pop() {
        match operand {
            Operand::Reg(register) => act(*register),
            Operand::Vector(parts) | Operand::List(parts) => open.extend(parts),
            Operand::Pair(first, second) => open.extend([&**first, &**second]),
            Operand::Not(_)
            | Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Address { .. }
            | Operand::TensorAddress { .. }
            | Operand::Symbol(..)
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::Sink => {}
        }
    }
}

/// The bytes that an access of shared memory touches at its address. A copy of unknown size counts as one byte.
fn width(instruction: &Instruction) -> i64 {
    let bytes = access_bytes(instruction).unwrap_or(1);
    i64::try_from(bytes).unwrap_or(1)
}

/// The bytes of a thread that a load, a store or an atomic operation moves; of `ldmatrix` and `stmatrix` a row of a matrix, of an
/// mbarrier its size, and of a copy of known size that size.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others access no memory of a known size")]
pub(super) fn access_bytes(instruction: &Instruction) -> Option<u64> {
    match instruction.opcode {
        Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Atom | Opcode::Red => {
            let element = instruction.modifiers.iter().find_map(|modifier| match modifier {
                Modifier::Type(ty) => Some(ty.bytes()),
                Modifier::Space(_) | Modifier::Word(_) => None,
            })?;
            let has = |word: Word| instruction.modifiers.contains(&word.into());
            let vector = [(Word::V2, 2), (Word::V4, 4), (Word::V8, 8)];
            let elements = vector.into_iter().find(|(word, _)| has(*word)).map_or(1, |(_, n)| n);
            Some(element * elements)
        }
        Opcode::Ldmatrix | Opcode::Stmatrix => Some(16),
        Opcode::Mbarrier => Some(8),
        Opcode::Tcgen05 if instruction.modifiers.contains(&Word::Alloc.into()) => Some(4),
        Opcode::Cp if !instruction.modifiers.contains(&Word::TensorWord.into()) => {
            let size = instruction.operands.get(2)?;
            if let Operand::Int(size) = size { u64::try_from(*size).ok() } else { None }
        }
        _ => None,
    }
}

/// What is known of registers so far.
struct Known<'a> {
    of: Vec<Held>,
    threads: u32,
    dynamic: &'a dyn Fn(&Symbol) -> bool,
}

impl Known<'_> {
    fn register(&self, register: Reg) -> Held {
        self.of.get(register.0 as usize).cloned().unwrap_or(Held::Unknown)
    }

    fn base(&self, base: &Base) -> Held {
        match base {
            Base::Reg(register) => self.register(*register),
            Base::Symbol(symbol) if (self.dynamic)(symbol) => Held::Shared(Each::Same(0)),
            Base::Symbol(_) | Base::Absolute => Held::Unknown,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are no numbers that are followed")]
    fn operand(&self, operand: Option<&Operand>) -> Held {
        let own = |of: &dyn Fn(u32) -> u32| {
            Held::Number(Each::Own((0..self.threads).map(|thread| of(thread).into()).collect()))
        };
        match operand {
            Some(Operand::Reg(register)) => self.register(*register),
            Some(Operand::Int(number)) => i64::try_from(*number)
                .map_or(Held::Unknown, |number| Held::Number(Each::Same(number))),
            Some(Operand::Symbol(symbol, offset)) if (self.dynamic)(symbol) => {
                Held::Shared(Each::Same(*offset))
            }
            Some(Operand::Special(SpecialRegister::TidX)) => own(&|thread| thread),
            Some(Operand::Special(SpecialRegister::Laneid)) => own(&|thread| thread % 32),
            _ => Held::Unknown,
        }
    }

    /// What the first operand of an instruction is afterwards.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the results of others are not followed")]
    fn result(&self, instruction: &Instruction) -> Held {
        let at = |index: usize| self.operand(instruction.operands.get(index));
        let is_high = instruction.modifiers.contains(&Word::Hi.into());
        let numbers = |act: &dyn Fn(i64, i64) -> i64| match (at(1), at(2)) {
            (Held::Number(a), Held::Number(b)) => Held::Number(a.of(&b, act)),
            (Held::Unknown | Held::Number(_) | Held::Shared(_), _) => Held::Unknown,
        };
        let shifted = |number: i64, by: i64| u32::try_from(by).ok().filter(|by| *by < 64).map_or(0, |by| number >> by);
        match instruction.opcode {
            Opcode::Mov | Opcode::Cvt | Opcode::Cvta => at(1),
            Opcode::Add => sum(at(1), at(2)),
            Opcode::Sub => sum(at(1), negated(at(2))),
            Opcode::Mul if !is_high => numbers(&i64::saturating_mul),
            Opcode::Mad if !is_high => sum(numbers(&i64::saturating_mul), at(3)),
            Opcode::Shl => numbers(&|number, by| {
                u32::try_from(by).ok().and_then(|by| 1_i64.checked_shl(by)).map_or(0, |by| number.saturating_mul(by))
            }),
            Opcode::Shr => numbers(&shifted),
            Opcode::And => numbers(&|a, b| a & b),
            Opcode::Or => numbers(&|a, b| a | b),
            Opcode::Xor => numbers(&|a, b| a ^ b),
            Opcode::Rem => numbers(&|a, b| a.checked_rem(b).unwrap_or(0)),
            Opcode::Div => numbers(&|a, b| a.checked_div(b).unwrap_or(0)),
            Opcode::Min => numbers(&i64::min),
            Opcode::Max => numbers(&i64::max),
            _ => Held::Unknown,
        }
    }
}

fn negated(held: Held) -> Held {
    match held {
        Held::Number(number) => Held::Number(number.of(&Each::Same(0), |a, _| a.saturating_neg())),
        Held::Unknown | Held::Shared(_) => Held::Unknown,
    }
}

fn sum(a: Held, b: Held) -> Held {
    match (a, b) {
        (Held::Number(a), Held::Number(b)) => Held::Number(a.of(&b, i64::saturating_add)),
        (Held::Shared(a), Held::Number(b)) | (Held::Number(a), Held::Shared(b)) => {
            Held::Shared(a.of(&b, i64::saturating_add))
        }
        // An index that a loop or data decides is 0 at least.
        (Held::Shared(a), Held::Unknown) | (Held::Unknown, Held::Shared(a)) => Held::Shared(a),
        (Held::Shared(_), Held::Shared(_))
        | (Held::Unknown, Held::Unknown | Held::Number(_))
        | (Held::Number(_), Held::Unknown) => Held::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(body: &str) -> u64 {
        let text = format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n\
             .visible .entry k()\n.reqntid 128, 1, 1\n{{ .reg .pred %p<4>; .reg .b32 %r<9>;\n{body}\nret; }}"
        );
        let module = kernel_ptx::parse(&text).expect("PTX");
        extent(&module, &module.functions[0], Some(128))
    }

    #[test]
    fn the_last_thread_reaches_furthest() {
        // 127 · 16 + 2048, and 16 bytes from there.
        let body = "mov.u32 %r0, smem; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; add.s32 %r3, %r0, %r2;\n\
                    st.shared.v4.b32 [%r3+2048], {%r1, %r1, %r1, %r1};";
        assert_eq!(reached(body), 127 * 16 + 2048 + 16);
    }

    #[test]
    fn masks_and_swizzles_are_computed() {
        // 31 · 64 is 1984, and 2032 with bits 4 and 5: 8 bytes from there.
        let body = "mov.u32 %r0, smem; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shl.b32 %r3, %r2, 6;\n\
                    xor.b32 %r4, %r3, 48; add.s32 %r5, %r0, %r4; mbarrier.init.shared::cta.b64 [%r5], 1;";
        assert_eq!(reached(body), 2032 + 8);
    }

    #[test]
    fn an_index_of_a_loop_counts_as_the_first() {
        let body = "mov.u32 %r0, smem; mov.u32 %r1, 0; add.s32 %r1, %r1, 8; add.s32 %r2, %r0, %r1;\n\
                    ld.shared.b32 %r3, [%r2+64];";
        assert_eq!(reached(body), 64 + 4);
    }

    #[test]
    fn global_addresses_do_not_count() {
        assert_eq!(reached("mov.u32 %r1, 512; ld.global.b32 %r2, [%r1+64];"), 0);
    }
}
