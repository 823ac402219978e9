//! Waits for stores to tensor memory.

use std::ops::Range;

use kernel_ptx::{Base, Instruction, Modifier, Opcode, Operand, Reg, Word};

use super::touched::is_plain;
use crate::lower::emitter::finish::results;
use crate::lower::emitter::{Meets, Node};

/// The columns of a tensor memory address; the rest is the row.
const COLUMNS: i64 = 0xffff;

/// Marks the waits for stores that the wait of the next stores covers: in the same straight run of code, with nothing between that could access
/// tensor memory or signal others, but stores to other columns. A barrier between is not for them: threads hand tensor memory on with
/// `tcgen05.fence` beside it.
pub(super) fn drop_covered(order: &[Node], dropped: &mut [bool]) {
    let mut state = State::default();
    for (at, node) in order.iter().enumerate() {
        let Node::Inst(inst) = node else {
            state = State { since: vec![Stored::ANYTHING], ..State::default() };
            continue;
        };
        let has = |word| inst.instruction.modifiers.contains(&Modifier::Word(word));
        let is_tensor = inst.instruction.opcode == Opcode::Tcgen05;
        if is_tensor && has(Word::WaitSt) {
            if let Some(covered) = state.wait(at) {
                dropped[covered] = true;
            }
        } else if is_tensor && has(Word::StWord) {
            state.store(Stored::by(&inst.instruction).unwrap_or(Stored::ANYTHING));
        } else if inst.meets != Meets::Crew && !is_plain(inst) {
            state.keep();
        }
        results(inst, &mut |reg| state.changes(reg));
    }
}

/// The last wait, and what it and the next one wait for.
#[derive(Default)]
struct State {
    /// The last wait, if the next one can cover it.
    last: Option<usize>,
    /// What is in flight without it.
    before: Vec<Stored>,
    /// What has been stored since.
    since: Vec<Stored>,
}

impl State {
    /// The last wait stays.
    fn keep(&mut self) {
        self.last = None;
        self.before.clear();
    }

    fn store(&mut self, store: Stored) {
        if !self.before.iter().all(|one| one.is_apart(&store)) {
            self.keep();
        }
        self.since.push(store);
    }

    /// A wait; gives the one that it covers.
    fn wait(&mut self, at: usize) -> Option<usize> {
        self.before.append(&mut self.since);
        self.last.replace(at)
    }

    /// A register that addresses may begin with changes.
    fn changes(&mut self, reg: Reg) {
        for store in self.before.iter_mut().chain(&mut self.since) {
            if store.base == Some(reg) {
                *store = Stored::ANYTHING;
            }
        }
    }
}

/// What a store writes: columns from an address, if that is known.
struct Stored {
    base: Option<Reg>,
    columns: Range<i64>,
}

impl Stored {
    const ANYTHING: Stored = Stored { base: None, columns: 0..0 };

    fn by(store: &Instruction) -> Option<Stored> {
        let (
            Some(Operand::Address { base: Base::Reg(base), offset }),
            Some(Operand::Vector(words)),
        ) = (store.operands.first(), store.operands.last())
        else {
            return None;
        };
        let has = |word| store.modifiers.contains(&Modifier::Word(word));
        // A register of a lane is a column, or half of two (PTX ISA, "tcgen05.ld and tcgen05.st matrix shapes").
        let of_register = if has(Word::S32x32b) || has(Word::S16x32bx2) { 1 } else { 2 };
        let apart = match store.operands.get(1) {
            Some(&Operand::Int(columns)) => i64::try_from(columns).ok()?,
            _ => 0,
        };
        let first = offset & COLUMNS;
        let most = i64::try_from(words.len() * of_register).ok()?;
        Some(Stored { base: Some(*base), columns: first..first + apart + most })
    }

    /// Whether the two have no column in common, whatever their rows.
    fn is_apart(&self, other: &Stored) -> bool {
        self.base.is_some()
            && self.base == other.base
            && (self.columns.end <= other.columns.start || other.columns.end <= self.columns.start)
    }
}
