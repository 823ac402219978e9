//! How much dynamic shared memory a kernel needs, as far as its PTX shows it.
//!
//! PTX does not say how many bytes a launch asks for. The addresses say how far a kernel reaches: what a register that is written once
//! holds follows from the index of the thread, numbers, and arithmetic on them, and is computed for every thread of a block. What depends
//! on loops or data is not known, so the result is a least size. Kiln places barriers and scratch after tiles, and their addresses are
//! plain.

use kernel_ptx::{
    Base, Function, Guard, Instruction, Label, Modifier, Module, Opcode, Operand, Reg,
    SpecialRegister, Statement, Symbol, Word, results,
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

    fn at(&self, thread: usize) -> i64 {
        match self {
            Each::Same(value) => *value,
            Each::Own(values) => values.get(thread).copied().unwrap_or(0),
        }
    }
}

/// Threads of a block, by whether they are among those that are meant.
type Threads = Vec<bool>;

/// The end of the last byte of dynamic shared memory that an instruction names; 0 if it names none.
///
/// `threads` are those of a block, the most that there can be without. Branches that the index of the thread decides are followed; at
/// others every thread takes both ways.
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
    let mut paths = Paths {
        here: vec![true; threads as usize],
        at_labels: vec![vec![false; threads as usize]; function.labels.len()],
    };
    let mut end = 0;
    for statement in function.body.iter().flatten() {
        let instruction = match statement {
            Statement::Label(label) => {
                paths.arrive(*label);
                continue;
            }
            Statement::Instruction(instruction) => instruction,
            Statement::Location { .. } | Statement::Pragma(_) => continue,
        };
        let running = known.running(&paths.here, instruction);
        paths.follow(instruction, &running, known.is_decided(instruction));
        for operand in &instruction.operands {
            if let Operand::Address { base, offset } = operand
                && let Held::Shared(bytes) = known.base(base)
            {
                let last = (0..running.len()).filter(|&thread| running[thread]);
                let last = last.map(|thread| bytes.at(thread)).max();
                let after =
                    |last: i64| last.saturating_add(*offset).saturating_add(width(instruction));
                end = end.max(last.map_or(0, after));
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
    // The end is aligned, as barriers and scratch are.
    u64::try_from(end).unwrap_or(0).next_multiple_of(16)
}

/// Which threads come where, in the order of the text. Jumps back bring no thread to where it has not been.
struct Paths {
    here: Threads,
    at_labels: Vec<Threads>,
}

impl Paths {
    fn arrive(&mut self, label: Label) {
        if let Some(others) = self.at_labels.get(label.0 as usize) {
            for (here, comes) in self.here.iter_mut().zip(others) {
                *here |= *comes;
            }
        }
    }

    /// `running` are the threads that run the instruction; the others go on if that is decided.
    fn follow(&mut self, instruction: &Instruction, running: &Threads, is_decided: bool) {
        let ends = matches!(instruction.opcode, Opcode::Ret | Opcode::Exit | Opcode::Trap);
        let jumps = instruction.opcode == Opcode::Bra;
        for operand in &instruction.operands {
            if let Operand::Label(label) = operand
                && let Some(there) = self.at_labels.get_mut(label.0 as usize)
            {
                for (there, runs) in there.iter_mut().zip(running) {
                    *there |= *runs;
                }
            }
        }
        if (ends || jumps) && is_decided {
            for (here, runs) in self.here.iter_mut().zip(running) {
                *here &= !*runs;
            }
        }
    }
}

/// The registers that an instruction writes; of a form that the table lacks, its first operand.
pub(super) fn each_result(
    instruction: &Instruction,
    function: &Function,
    act: &mut dyn FnMut(Reg),
) {
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

    /// Whether it is known which threads run an instruction.
    fn is_decided(&self, instruction: &Instruction) -> bool {
        let known = |guard: &Guard| matches!(self.register(guard.predicate), Held::Number(_));
        instruction.guard.as_ref().is_none_or(known)
    }

    /// The threads that run an instruction, of those that come there; all of them if its predicate is not known.
    fn running(&self, here: &Threads, instruction: &Instruction) -> Threads {
        let Some(guard) = instruction.guard else { return here.clone() };
        let Held::Number(value) = self.register(guard.predicate) else { return here.clone() };
        let runs = |thread: usize| (value.at(thread) != 0) != guard.negated;
        here.iter().enumerate().map(|(thread, here)| *here && runs(thread)).collect()
    }

    /// What an operand is; only numbers, addresses of shared memory and the thread are followed.
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
        let shifted = |number: i64, by: i64| {
            u32::try_from(by).ok().filter(|by| *by < 64).map_or(0, |by| number >> by)
        };
        match instruction.opcode {
            Opcode::Mov | Opcode::Cvt | Opcode::Cvta => at(1),
            Opcode::Add => sum(at(1), at(2)),
            Opcode::Sub => sum(at(1), negated(at(2))),
            Opcode::Mul if !is_high => numbers(&i64::saturating_mul),
            Opcode::Mad if !is_high => sum(numbers(&i64::saturating_mul), at(3)),
            Opcode::Shl => numbers(&|number, by| {
                u32::try_from(by)
                    .ok()
                    .and_then(|by| 1_i64.checked_shl(by))
                    .map_or(0, |by| number.saturating_mul(by))
            }),
            Opcode::Shr => numbers(&shifted),
            Opcode::And => numbers(&|a, b| a & b),
            Opcode::Or => numbers(&|a, b| a | b),
            Opcode::Xor => numbers(&|a, b| a ^ b),
            Opcode::Rem => numbers(&|a, b| a.checked_rem(b).unwrap_or(0)),
            Opcode::Div => numbers(&|a, b| a.checked_div(b).unwrap_or(0)),
            Opcode::Setp => match comparison(instruction) {
                Some(holds) => numbers(&|a, b| i64::from(holds(a, b))),
                None => Held::Unknown,
            },
            Opcode::Min => numbers(&i64::min),
            Opcode::Max => numbers(&i64::max),
            _ => Held::Unknown,
        }
    }
}

/// The comparison of a `setp` without another predicate. Numbers that are followed are not negative, so unsigned comparisons are the same.
fn comparison(instruction: &Instruction) -> Option<fn(i64, i64) -> bool> {
    type Comparison = fn(i64, i64) -> bool;
    let all: [(Word, Comparison); 10] = [
        (Word::Eq, |a, b| a == b),
        (Word::Ne, |a, b| a != b),
        (Word::Lt, |a, b| a < b),
        (Word::Lo, |a, b| a < b),
        (Word::Le, |a, b| a <= b),
        (Word::Ls, |a, b| a <= b),
        (Word::Gt, |a, b| a > b),
        (Word::Hi, |a, b| a > b),
        (Word::Ge, |a, b| a >= b),
        (Word::Hs, |a, b| a >= b),
    ];
    if instruction.operands.len() != 3 {
        return None;
    }
    let has = |word: Word| instruction.modifiers.contains(&word.into());
    all.into_iter().find(|(word, _)| has(*word)).map(|(_, holds)| holds)
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
        assert_eq!(reached(body), 2048, "2032 + 8 bytes, in whole sixteens");
    }

    #[test]
    fn an_index_of_a_loop_counts_as_the_first() {
        let body = "mov.u32 %r0, smem; mov.u32 %r1, 0; add.s32 %r1, %r1, 8; add.s32 %r2, %r0, %r1;\n\
                    ld.shared.b32 %r3, [%r2+64];";
        assert_eq!(reached(body), 80, "64 + 4 bytes, in whole sixteens");
    }

    #[test]
    fn threads_that_branch_away_do_not_count() {
        // Threads 0 to 63 store, 63 · 16 + 16 bytes; the others only thread 64, at 1024 and 8 bytes on.
        let body = "mov.u32 %r0, smem; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; add.s32 %r3, %r0, %r2;\n\
                    setp.ge.u32 %p0, %r1, 64; @%p0 bra OTHER; st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1}; ret;\n\
                    OTHER: setp.eq.u32 %p1, %r1, 64;";
        assert_eq!(reached(body), 1024);
        let more = format!("{body}\n@%p1 mbarrier.init.shared::cta.b64 [%r3+8], 1;");
        assert_eq!(reached(&more), 1024 + 16);
    }

    #[test]
    fn global_addresses_do_not_count() {
        assert_eq!(reached("mov.u32 %r1, 512; ld.global.b32 %r2, [%r1+64];"), 0);
    }
}
