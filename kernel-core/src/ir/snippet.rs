//! The instructions of `ptx!`, for what the language does not have.

use std::collections::{BTreeMap, BTreeSet};

use kernel_ptx::{
    Base, Function, Instruction, Opcode, Operand, Reg, SpecialRegister, Statement, Type,
};

use super::Elem;

/// The instructions of one `ptx!`, read and checked against the instruction table.
#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    /// The text as the user wrote it, for dumps.
    pub text: String,
    /// The instructions. Register parameters are the operands, register results the results; every other register is its own.
    pub body: Function,
}

/// The type of the register that holds an element, if PTX calls it the same: none for bytes and for integers of 16 bits, which
/// live in wider registers.
pub fn register_type(elem: Elem) -> Option<Type> {
    let Elem::Number(dtype) = elem else { return Some(Type::B64) };
    let register = dtype.register().ty();
    let is_wider = register.bits() > 8 * dtype.bytes() && register != Type::Pred;
    (!is_wider).then_some(register)
}

impl Snippet {
    /// The instructions, in their order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.body.body.iter().flatten().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            Statement::Label(_) | Statement::Location { .. } | Statement::Pragma(_) => None,
        })
    }

    /// Which operands are addresses that an instruction writes to, as far as it names them itself.
    pub fn written_through(&self) -> Vec<bool> {
        let writes = |instruction: &&Instruction| {
            matches!(instruction.opcode, Opcode::St | Opcode::Atom | Opcode::Red)
        };
        let bases: Vec<Reg> = self
            .instructions()
            .filter(writes)
            .flat_map(|instruction| &instruction.operands)
            .filter_map(|operand| {
                let Operand::Address { base: Base::Reg(reg), .. } = operand else { return None };
                Some(*reg)
            })
            .collect();
        let params = self.body.params.iter();
        params.map(|param| param.register.is_some_and(|reg| bases.contains(&reg))).collect()
    }

    /// Whether it may read or write memory, or do anything else than compute and stop the kernel: nothing bounds what it
    /// does then.
    pub fn touches_memory(&self) -> bool {
        self.instructions().any(|instruction| {
            !is_harmless(instruction.opcode) || instruction.operands.iter().any(is_memory)
        })
    }

    /// Whether threads that give it the same operands get the same results: it computes, reads no memory, asks nothing that
    /// is a thread's own, and leaves no register to chance.
    pub fn is_uniform(&self) -> bool {
        let computes = self.instructions().all(|instruction| {
            only_computes(instruction.opcode) && instruction.operands.iter().all(is_the_blocks)
        });
        computes && self.surely_writes()
    }

    /// Whether no register is read, and no result left, that may not have been written.
    fn surely_writes(&self) -> bool {
        let operands = self.body.params.iter().filter_map(|param| param.register);
        let mut known = Known { surely: operands.collect(), under: BTreeMap::new() };
        for instruction in self.instructions() {
            let guard = instruction.guard.map(|guard| (guard.predicate, guard.negated));
            let count = self.results_of(instruction);
            let read = registers_of(instruction, &instruction.operands[count..]);
            let condition = guard.is_none_or(|(predicate, _)| known.surely.contains(&predicate));
            if !condition || !read.into_iter().all(|reg| known.has(reg, guard)) {
                return false;
            }
            for reg in registers_of(instruction, &instruction.operands[..count]) {
                known.write(reg, guard);
            }
        }
        let results = self.body.results.iter().filter_map(|param| param.register);
        results.into_iter().all(|reg| known.surely.contains(&reg))
    }

    /// How many of its operands an instruction writes: the first ones.
    fn results_of(&self, instruction: &Instruction) -> usize {
        kernel_ptx::results(instruction, &self.body.registers).unwrap_or(0)
    }
}

/// The registers among some operands of an instruction.
fn registers_of(instruction: &Instruction, operands: &[Operand]) -> Vec<Reg> {
    let mut found = Vec::new();
    Instruction { guard: None, operands: operands.to_vec(), ..instruction.clone() }
        .visit_registers(|reg| found.push(reg));
    found
}

/// A predicate has this value, negated or not.
type Condition = (Reg, bool);

/// The registers that have been written when an instruction is reached.
struct Known {
    /// In any case.
    surely: BTreeSet<Reg>,
    /// If a predicate, which has not been written since, has that value.
    under: BTreeMap<Reg, Condition>,
}

impl Known {
    /// Whether a register has been written whenever an instruction under this guard runs.
    fn has(&self, reg: Reg, guard: Option<Condition>) -> bool {
        self.surely.contains(&reg) || guard.is_some() && self.under.get(&reg).copied() == guard
    }

    fn write(&mut self, reg: Reg, guard: Option<Condition>) {
        match guard {
            Some((predicate, negated)) if !self.surely.contains(&reg) => {
                if self.under.get(&reg) == Some(&(predicate, !negated)) {
                    self.surely.insert(reg);
                } else {
                    self.under.insert(reg, (predicate, negated));
                }
            }
            Some(_) => {}
            None => {
                self.surely.insert(reg);
            }
        }
        // What was written under the old value of a predicate says nothing about the new one.
        self.under.retain(|_, (predicate, _)| *predicate != reg);
    }
}

/// What [`Snippet::touches_memory`] says of a text, before the types of its operands are known. If a text has no
/// meaning it may say either.
pub fn text_touches_memory(text: &str) -> bool {
    let plain = without_comments(text).replace("{{", ";").replace("}}", ";");
    plain.contains('[')
        || plain.split(';').filter_map(opcode_word).any(|word| {
            let opcode = Opcode::ALL.iter().find(|opcode| opcode.text() == word);
            opcode.is_some_and(|opcode| !is_harmless(*opcode))
        })
}

/// A text without what PTX takes for comments.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        rest = if tail.starts_with("//") {
            tail.find('\n').map_or("", |end| &tail[end..])
        } else if let Some(inner) = tail.strip_prefix("/*") {
            out.push(' ');
            inner.find("*/").map_or("", |end| &inner[end + 2..])
        } else {
            out.push('/');
            &tail[1..]
        };
    }
    out + rest
}

/// The first word of an instruction, after its guard and before its first dot.
fn opcode_word(statement: &str) -> Option<&str> {
    let mut rest = statement.trim_start();
    if let Some(guard) = rest.strip_prefix('@') {
        let guard = guard.trim_start();
        let guard = guard.strip_prefix('!').unwrap_or(guard).trim_start();
        rest = match guard.strip_prefix('{') {
            Some(operand) => operand.split_once('}')?.1,
            None => guard.split_once(char::is_whitespace)?.1,
        }
        .trim_start();
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    // Registers in a list are followed by something else.
    after.chars().next().is_none_or(|c| c == '.' || c.is_whitespace()).then_some(word)
}

fn is_harmless(opcode: Opcode) -> bool {
    only_computes(opcode) || opcode == Opcode::Trap
}

/// Whether an operand is a place in memory.
fn is_memory(operand: &Operand) -> bool {
    match operand {
        Operand::Address { .. } | Operand::TensorAddress { .. } => true,
        Operand::Vector(parts) | Operand::List(parts) => parts.iter().any(is_memory),
        Operand::Pair(first, second) => is_memory(first) || is_memory(second),
        Operand::Reg(_)
        | Operand::Not(_)
        | Operand::Int(_)
        | Operand::F32(_)
        | Operand::F64(_)
        | Operand::Special(_)
        | Operand::Sink
        | Operand::Symbol(..)
        | Operand::Label(_)
        | Operand::BranchTargets(_) => false,
    }
}

/// Whether an operand is the same in every thread of a block, registers aside. `%smid` is not: it may change while a block runs.
fn is_the_blocks(operand: &Operand) -> bool {
    match operand {
        Operand::Special(special) => matches!(
            special,
            SpecialRegister::NtidX
                | SpecialRegister::NtidY
                | SpecialRegister::NtidZ
                | SpecialRegister::CtaidX
                | SpecialRegister::CtaidY
                | SpecialRegister::CtaidZ
                | SpecialRegister::NctaidX
                | SpecialRegister::NctaidY
                | SpecialRegister::NctaidZ
                | SpecialRegister::Nsmid
                | SpecialRegister::Gridid
                | SpecialRegister::DynamicSmemSize
                | SpecialRegister::TotalSmemSize
        ),
        Operand::Vector(parts) | Operand::List(parts) => parts.iter().all(is_the_blocks),
        Operand::Pair(first, second) => is_the_blocks(first) && is_the_blocks(second),
        Operand::Reg(_)
        | Operand::Not(_)
        | Operand::Int(_)
        | Operand::F32(_)
        | Operand::F64(_)
        | Operand::Sink => true,
        Operand::Address { .. }
        | Operand::TensorAddress { .. }
        | Operand::Symbol(..)
        | Operand::Label(_)
        | Operand::BranchTargets(_) => false,
    }
}

/// Whether an instruction only computes its results from its operands.
pub fn only_computes(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Abs
            | Opcode::Add
            | Opcode::And
            | Opcode::Bfe
            | Opcode::Bfi
            | Opcode::Bfind
            | Opcode::Bmsk
            | Opcode::Brev
            | Opcode::Clz
            | Opcode::Cnot
            | Opcode::Copysign
            | Opcode::Cos
            | Opcode::Cvt
            | Opcode::Div
            | Opcode::Dp2a
            | Opcode::Dp4a
            | Opcode::Ex2
            | Opcode::Fma
            | Opcode::Fns
            | Opcode::Lg2
            | Opcode::Lop3
            | Opcode::Mad
            | Opcode::Mad24
            | Opcode::Max
            | Opcode::Min
            | Opcode::Mov
            | Opcode::Mul
            | Opcode::Mul24
            | Opcode::Neg
            | Opcode::Not
            | Opcode::Or
            | Opcode::Popc
            | Opcode::Prmt
            | Opcode::Rcp
            | Opcode::Rem
            | Opcode::Rsqrt
            | Opcode::Sad
            | Opcode::Selp
            | Opcode::Set
            | Opcode::Setp
            | Opcode::Shf
            | Opcode::Shl
            | Opcode::Shr
            | Opcode::Sin
            | Opcode::Slct
            | Opcode::Sqrt
            | Opcode::Sub
            | Opcode::Szext
            | Opcode::Tanh
            | Opcode::Testp
            | Opcode::Xor
    )
}
