//! How much dynamic shared memory a kernel needs, as far as its PTX shows it.
//!
//! PTX does not say how many bytes a launch asks for. The addresses say how far a kernel reaches: each register that is written once has
//! a range, which follows from the indices of threads, numbers, and arithmetic on them. What depends on loops or data has no range, so
//! the result is a least size. Kiln places barriers and scratch after tiles, and their addresses are plain.

use kernel_ptx::{
    Base, Function, Instruction, Modifier, Module, Opcode, Operand, Reg, SpecialRegister, Symbol, Word,
    results,
};

use super::kernel::instructions;

/// What a register may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// It is not followed.
    Unknown,
    /// A number from the first to the last, a multiple of a power of two.
    Number(i64, i64, Zeros),
    /// An address of dynamic shared memory: the bytes from its beginning.
    Shared(i64, i64),
}

/// How many of the lowest bits are zero.
type Zeros = u32;

/// A number that is known.
fn exactly(number: i64) -> Range {
    Range::Number(number, number, number.trailing_zeros())
}

/// The end of the last byte of dynamic shared memory that an instruction surely names; 0 if it names none.
///
/// `threads` are those of a block, the most that there can be without.
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
    let threads = i64::from(threads.unwrap_or(1024).max(1));
    let mut written = vec![0_u32; function.registers.len()];
    for instruction in instructions(function) {
        each_result(instruction, function, &mut |register| {
            if let Some(count) = written.get_mut(register.0 as usize) {
                *count += 1;
            }
        });
    }
    let mut ranges = Ranges { of: vec![Range::Unknown; written.len()], threads, dynamic: &dynamic };
    let mut end = 0;
    for instruction in instructions(function) {
        for operand in &instruction.operands {
            if let Operand::Address { base, offset } = operand
                && let Range::Shared(_, last) = ranges.base(base)
            {
                end = end.max(last.saturating_add(*offset).saturating_add(width(instruction)));
            }
        }
        if let Some(Operand::Reg(register)) = instruction.operands.first()
            && written.get(register.0 as usize) == Some(&1)
            && instruction.guard.is_none()
        {
            let range = ranges.result(instruction);
            ranges.of[register.0 as usize] = range;
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

/// The ranges found so far.
struct Ranges<'a> {
    of: Vec<Range>,
    threads: i64,
    dynamic: &'a dyn Fn(&Symbol) -> bool,
}

impl Ranges<'_> {
    fn register(&self, register: Reg) -> Range {
        self.of.get(register.0 as usize).copied().unwrap_or(Range::Unknown)
    }

    fn base(&self, base: &Base) -> Range {
        match base {
            Base::Reg(register) => self.register(*register),
            Base::Symbol(symbol) if (self.dynamic)(symbol) => Range::Shared(0, 0),
            Base::Symbol(_) | Base::Absolute => Range::Unknown,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are no numbers that are followed")]
    fn operand(&self, operand: Option<&Operand>) -> Range {
        match operand {
            Some(Operand::Reg(register)) => self.register(*register),
            Some(Operand::Int(number)) => i64::try_from(*number).map_or(Range::Unknown, exactly),
            Some(Operand::Symbol(symbol, offset)) if (self.dynamic)(symbol) => {
                Range::Shared(*offset, *offset)
            }
            Some(Operand::Special(SpecialRegister::TidX)) => Range::Number(0, self.threads - 1, 0),
            Some(Operand::Special(SpecialRegister::Laneid)) => Range::Number(0, 31, 0),
            _ => Range::Unknown,
        }
    }

    /// What the first operand of an instruction is afterwards.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the results of others are not followed")]
    fn result(&self, instruction: &Instruction) -> Range {
        let at = |index: usize| self.operand(instruction.operands.get(index));
        let is_high = instruction.modifiers.contains(&Word::Hi.into());
        let (a, b) = (at(1), at(2));
        match instruction.opcode {
            Opcode::Mov | Opcode::Cvt | Opcode::Cvta => a,
            Opcode::Add => sum(a, b),
            Opcode::Sub => sum(a, negated(b)),
            Opcode::Mul if !is_high => product(a, b),
            Opcode::Mad if !is_high => sum(product(a, b), at(3)),
            Opcode::Shl => match b {
                Range::Number(by, same, _) if by == same && (0..32).contains(&by) => {
                    product(a, exactly(1 << by))
                }
                _ => Range::Unknown,
            },
            Opcode::Shr => match (a, b) {
                (Range::Number(first, last, zeros), Range::Number(by @ 0..64, same, _))
                    if first >= 0 && by == same =>
                {
                    let by = u32::try_from(by).unwrap_or(0);
                    Range::Number(first >> by, last >> by, zeros.saturating_sub(by))
                }
                _ => Range::Unknown,
            },
            Opcode::And => masked(a, b),
            Opcode::Or | Opcode::Xor => match (a, b) {
                (Range::Number(first, last, zeros), Range::Number(other, end, others))
                    if first >= 0 && other >= 0 =>
                {
                    let zeros = zeros.min(others);
                    Range::Number(0, without(all_bits(last.max(end)), zeros), zeros)
                }
                _ => Range::Unknown,
            },
            Opcode::Rem => match (a, b) {
                (Range::Number(first, last, zeros), Range::Number(by, same, others))
                    if first >= 0 && by == same && by > 0 =>
                {
                    let zeros = zeros.min(others);
                    Range::Number(0, without(last.min(by - 1), zeros), zeros)
                }
                _ => Range::Unknown,
            },
            Opcode::Selp => either(a, b),
            _ => Range::Unknown,
        }
    }
}

/// The least number of the form 2ⁿ-1 that is not below.
fn all_bits(last: i64) -> i64 {
    let mut bits = 0_i64;
    while bits < last {
        bits = bits << 1 | 1;
    }
    bits
}

/// The greatest number that is not above and whose lowest bits are zero.
fn without(number: i64, zeros: Zeros) -> i64 {
    number >> zeros.min(62) << zeros.min(62)
}

fn masked(a: Range, b: Range) -> Range {
    let (range, mask, zeros) = match (a, b) {
        (other, Range::Number(mask, same, zeros)) if mask == same => (other, mask, zeros),
        (Range::Number(mask, same, zeros), other) if mask == same => (other, mask, zeros),
        (Range::Unknown | Range::Number(..) | Range::Shared(..), _) => return Range::Unknown,
    };
    // A mask without a sign bounds whatever it is applied to.
    if !(0..=i64::from(i32::MAX)).contains(&mask) {
        return Range::Unknown;
    }
    match range {
        Range::Number(first, last, others) if first >= 0 => {
            let zeros = zeros.max(others);
            Range::Number(0, without(last.min(mask), zeros), zeros)
        }
        Range::Unknown | Range::Number(..) => Range::Number(0, mask, zeros),
        Range::Shared(..) => Range::Unknown,
    }
}

fn negated(range: Range) -> Range {
    match range {
        Range::Number(first, last, zeros) => {
            Range::Number(last.saturating_neg(), first.saturating_neg(), zeros)
        }
        Range::Unknown | Range::Shared(..) => Range::Unknown,
    }
}

fn sum(a: Range, b: Range) -> Range {
    let plus = i64::saturating_add;
    match (a, b) {
        (Range::Number(a, b, zeros), Range::Number(c, d, others)) => {
            Range::Number(plus(a, c), plus(b, d), zeros.min(others))
        }
        (Range::Shared(a, b), Range::Number(c, d, _))
        | (Range::Number(a, b, _), Range::Shared(c, d)) => Range::Shared(plus(a, c), plus(b, d)),
        // An index that a loop or data decides is 0 at least.
        (Range::Shared(a, _), Range::Unknown) | (Range::Unknown, Range::Shared(a, _)) => {
            Range::Shared(a, a)
        }
        (Range::Shared(..), Range::Shared(..))
        | (Range::Unknown, Range::Unknown | Range::Number(..))
        | (Range::Number(..), Range::Unknown) => Range::Unknown,
    }
}

fn product(a: Range, b: Range) -> Range {
    match (a, b) {
        (Range::Number(a, b, zeros), Range::Number(c, d, others)) => {
            let all = [a.saturating_mul(c), a.saturating_mul(d), b.saturating_mul(c), b.saturating_mul(d)];
            let first = all.into_iter().fold(i64::MAX, i64::min);
            let last = all.into_iter().fold(i64::MIN, i64::max);
            Range::Number(first, last, zeros.saturating_add(others).min(62))
        }
        (Range::Unknown | Range::Number(..) | Range::Shared(..), _) => Range::Unknown,
    }
}

fn either(a: Range, b: Range) -> Range {
    match (a, b) {
        (Range::Number(a, b, zeros), Range::Number(c, d, others)) => {
            Range::Number(a.min(c), b.max(d), zeros.min(others))
        }
        (Range::Shared(a, b), Range::Shared(c, d)) => Range::Shared(a.min(c), b.max(d)),
        (Range::Unknown | Range::Number(..) | Range::Shared(..), _) => Range::Unknown,
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
    fn a_mask_and_a_swizzle_bound_an_address() {
        // 31 · 64 is 1984, and with bits 4 and 5 it is 2032 at most: 8 bytes from there. Bits below 4 are zero.
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
