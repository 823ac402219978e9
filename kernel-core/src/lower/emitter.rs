//! Structured emission: open frames, value numbering, loop-invariant placement.
//!
//! Code is built as a tree of frames (the entry, loop bodies, branches). A pure instruction is looked
//! up in every open frame before it is emitted, so that a value is computed once wherever it is
//! visible. An instruction that computes an address, an index or a mask goes before the outermost loop
//! in which none of its operands is defined; an instruction on tile data stays where it is, because a
//! hoisted tile would occupy registers through the whole loop.

use std::collections::{BTreeMap, BTreeSet};

use kernel_ptx::{Guard, Instruction, Label, Modifier, Opcode, Operand, Reg, Type};

use crate::loc::Loc;

pub(crate) mod bits;
mod coalesce;
pub(crate) mod finish;
pub(crate) mod fold;
mod numbering;
mod redundant;

use bits::sign_extended;
use numbering::{Computed, Numbering};
pub(crate) use redundant::{Meets, Touched};

/// Modifiers from types, spaces and words: `mods![W::Rn, T::F32]`.
macro_rules! mods {
    ($($m:expr),* $(,)?) => { &[$(kernel_ptx::Modifier::from($m)),*] };
}
pub(crate) use mods;

/// A value at run time: a register, or a constant that no register holds.
///
/// Integers of up to 32 bits are kept as their `i32` value, those of 64 bits as `i64` (a `u64` by its
/// bits); `f16` and `bf16` constants are `Int`, by their bits; predicates are `Int` 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Val {
    /// A register.
    Reg(Reg),
    /// An integer, a half or a predicate.
    Int(i64),
    /// An `f32`, by its bits.
    F32(u32),
    /// An `f64`, by its bits.
    F64(u64),
}

impl Val {
    /// The operand that reads it.
    pub(crate) fn operand(self) -> Operand {
        match self {
            Val::Reg(reg) => Operand::Reg(reg),
            Val::Int(value) => Operand::Int(i128::from(value)),
            Val::F32(bits) => Operand::F32(bits),
            Val::F64(bits) => Operand::F64(bits),
        }
    }
}

/// Where a pure instruction may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before the outermost loop that does not define an operand.
    Outermost,
    /// Where it is asked for.
    Here,
}

/// A frame: an index into the emitter's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameId(pub(crate) usize);

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The body of the kernel.
    Entry,
    /// The body of a loop: runs many times.
    Loop,
    /// One side of a branch.
    Branch,
}

/// An instruction, with facts for emission.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    /// The instruction.
    pub(crate) instruction: Instruction,
    /// How many leading operands are written.
    pub(crate) results: usize,
    /// It does more than to write registers.
    pub(crate) effect: bool,
    /// Where in the source it comes from.
    pub(crate) loc: Loc,
    /// What the operation does that it belongs to.
    pub(crate) operation: Touched,
    /// Which threads meet there.
    pub(crate) meets: Meets,
    /// Of a `trap`: what is wrong when it is reached.
    pub(crate) says: Option<String>,
}

/// A node of a frame.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// An instruction.
    Inst(Box<Inst>),
    /// A label.
    Label(Label),
    /// A nested frame.
    Frame(FrameId),
}

#[derive(Debug)]
pub(crate) struct Frame {
    kind: FrameKind,
    /// Position in the stack of open frames.
    depth: usize,
    pub(crate) nodes: Vec<Node>,
    values: Numbering,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RegInfo {
    /// Declared type.
    pub(crate) ty: Type,
    frame: FrameId,
    /// The register is another one plus a constant.
    sum: Option<(Reg, i64)>,
    /// The last change of registers that was one of this: a number of [`Emitter::changes`].
    changed: u32,
}

/// Builds one function.
#[derive(Debug)]
pub(crate) struct Emitter {
    pub(crate) registers: Vec<RegInfo>,
    pub(crate) frames: Vec<Frame>,
    open: Vec<FrameId>,
    pub(crate) labels: Vec<String>,
    /// How often registers have changed.
    changes: u32,
    /// The 32-bit word that a half was taken from, which half it is (0: low), and how often registers had changed then.
    halves: BTreeMap<Reg, (Reg, u8, u32)>,
    /// The 32-bit word that the low byte of a register was taken from, and which byte it is (0: lowest).
    bytes: BTreeMap<Reg, (Reg, u8)>,
    /// The register of two bytes that the low byte of a register was taken from, and which of them it is (0: low).
    pairs: BTreeMap<Reg, (Reg, u8)>,
    /// Registers that change: those that loops carry, and accumulators.
    slots: BTreeSet<Reg>,
    /// Halves of words that change, which nothing has taken out.
    to_come: BTreeMap<Reg, (Reg, u8)>,
    /// Attached to what is emitted.
    pub(crate) loc: Loc,
    /// What the operation does that is being lowered.
    pub(crate) operation: Touched,
    /// Where pure instructions go.
    pub(crate) place: Place,
    /// The threads that run what is emitted.
    pub(crate) threads: u32,
    /// The first of them, among those of the block.
    pub(crate) first_thread: u32,
    /// Nodes at the start of the entry that nothing comes before: they run whatever is branched over.
    prologue: usize,
}

impl Emitter {
    /// An empty function with its entry frame open.
    pub(crate) fn new(threads: u32) -> Self {
        let entry = Frame {
            kind: FrameKind::Entry,
            depth: 0,
            nodes: Vec::new(),
            values: Numbering::default(),
        };
        Emitter {
            registers: Vec::new(),
            frames: vec![entry],
            open: vec![FrameId(0)],
            labels: Vec::new(),
            changes: 0,
            halves: BTreeMap::new(),
            bytes: BTreeMap::new(),
            pairs: BTreeMap::new(),
            slots: BTreeSet::new(),
            to_come: BTreeMap::new(),
            loc: Loc::KERNEL,
            operation: Touched::ANYTHING,
            place: Place::Outermost,
            threads,
            first_thread: 0,
            prologue: 0,
        }
    }

    /// The innermost open frame.
    pub(crate) fn current(&self) -> FrameId {
        *self.open.last().expect("the entry frame stays open")
    }

    /// Opens a frame inside the current one.
    pub(crate) fn enter(&mut self, kind: FrameKind) -> FrameId {
        let id = FrameId(self.frames.len());
        let frame =
            Frame { kind, depth: self.open.len(), nodes: Vec::new(), values: Numbering::default() };
        self.frames.push(frame);
        self.open.push(id);
        id
    }

    /// Closes the current frame and places it in its parent.
    pub(crate) fn leave(&mut self) {
        let id = self.open.pop().expect("a frame was entered");
        let parent = self.current();
        self.frames[parent.0].nodes.push(Node::Frame(id));
    }

    /// A register that the current frame defines.
    pub(crate) fn fresh(&mut self, ty: Type) -> Reg {
        let frame = self.current();
        self.fresh_in(ty, frame)
    }

    /// A register that counts as defined in `frame`.
    pub(crate) fn fresh_in(&mut self, ty: Type, frame: FrameId) -> Reg {
        let reg = Reg(u32::try_from(self.registers.len()).expect("fewer than 2^32 registers"));
        self.registers.push(RegInfo { ty, frame, sum: None, changed: 0 });
        reg
    }

    /// A register that the current frame defines and that changes.
    pub(crate) fn fresh_slot(&mut self, ty: Type) -> Reg {
        let reg = self.fresh(ty);
        self.slots.insert(reg);
        reg
    }

    /// Says that a register changes.
    pub(crate) fn note_slot(&mut self, reg: Reg) {
        self.slots.insert(reg);
    }

    /// Whether a register may change here: no loop that would need its old value again is in between.
    pub(crate) fn is_slot(&self, reg: Reg) -> bool {
        let home = self.depth(Val::Reg(reg));
        let iterations = |id: &FrameId| self.frames[id.0].kind == FrameKind::Loop;
        self.slots.contains(&reg) && !self.open[home + 1..].iter().any(iterations)
    }

    /// Finds nothing any more that was computed from registers that have changed.
    pub(crate) fn overwritten(&mut self, registers: &[Reg]) {
        self.changes += 1;
        for reg in registers {
            self.registers[reg.0 as usize].changed = self.changes;
        }
    }

    /// Whether a value is what it was when registers had changed so often.
    fn stays(&self, value: Val, since: u32) -> bool {
        match value {
            Val::Reg(reg) => self.registers[reg.0 as usize].changed <= since,
            Val::Int(_) | Val::F32(_) | Val::F64(_) => true,
        }
    }

    /// A half of a word that changes. No register holds it until it is needed: a product may be writing the word.
    pub(crate) fn half_to_come(&mut self, word: Reg, index: u8) -> Reg {
        let half = self.fresh(Type::B16);
        self.halves.insert(half, (word, index, self.changes));
        self.to_come.insert(half, (word, index));
        half
    }

    /// The value itself, or the half taken out of its word.
    pub(crate) fn half_at_last(&mut self, value: Val) -> Val {
        match self.word_to_come(value) {
            Some((word, index)) => self.unpack(Val::Reg(word))[usize::from(index)],
            None => value,
        }
    }

    /// The word and the place in it of a half that no register holds.
    pub(crate) fn word_to_come(&self, value: Val) -> Option<(Reg, u8)> {
        match value {
            Val::Reg(half) => self.to_come.get(&half).copied(),
            Val::Int(_) | Val::F32(_) | Val::F64(_) => None,
        }
    }

    /// Gives a register to another frame: a carried register belongs to its loop while that is open.
    pub(crate) fn rehome(&mut self, reg: Reg, frame: FrameId) {
        self.registers[reg.0 as usize].frame = frame;
    }

    /// The declared type of a register.
    pub(crate) fn ty(&self, reg: Reg) -> Type {
        self.registers[reg.0 as usize].ty
    }

    /// The depth of the frame in which a value is defined: 0 for constants.
    pub(crate) fn depth(&self, value: Val) -> usize {
        match value {
            Val::Reg(reg) => self.frames[self.registers[reg.0 as usize].frame.0].depth,
            Val::Int(_) | Val::F32(_) | Val::F64(_) => 0,
        }
    }

    /// A new label.
    pub(crate) fn label(&mut self) -> Label {
        let label = Label(u32::try_from(self.labels.len()).expect("fewer than 2^32 labels"));
        self.labels.push(format!("L{}", label.0));
        label
    }

    /// Finds no value of the current frame any more: control may have come past the instructions that compute them.
    pub(crate) fn forget(&mut self) {
        let current = self.current();
        self.frames[current.0].values.clear();
    }

    /// Places a label.
    pub(crate) fn place_label(&mut self, label: Label) {
        let current = self.current();
        self.frames[current.0].nodes.push(Node::Label(label));
    }

    /// Runs `f` with pure instructions placed as said.
    pub(crate) fn placed<R>(&mut self, place: Place, f: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.place, place);
        let result = f(self);
        self.place = before;
        result
    }

    /// The open frame that a pure instruction on `sources` belongs to.
    fn target(&self, sources: &[Val]) -> FrameId {
        if self.place == Place::Here {
            return self.current();
        }
        let deepest = sources.iter().map(|&value| self.depth(value)).max().unwrap_or(0);
        let mut target = self.open.len() - 1;
        for depth in (deepest + 1..self.open.len()).rev() {
            if self.frames[self.open[depth].0].kind == FrameKind::Loop {
                target = depth - 1;
            }
        }
        self.open[target]
    }

    fn find(&self, computed: &Computed<'_>) -> Option<Val> {
        self.open.iter().rev().find_map(|id| {
            let (value, since) = self.frames[id.0].values.find(computed)?;
            let mut all = computed.sources.iter().copied().chain([value]);
            all.all(|one| self.stays(one, since)).then_some(value)
        })
    }

    fn note(&mut self, frame: FrameId, computed: &Computed<'_>, value: Reg) {
        self.frames[frame.0].values.insert(computed, Val::Reg(value), self.changes);
    }

    /// A pure instruction with one result. Constants among the sources are written as immediates.
    pub(crate) fn pure(
        &mut self,
        opcode: Opcode,
        modifiers: &[Modifier],
        ty: Type,
        sources: &[Val],
    ) -> Val {
        let computed = Computed { opcode, modifiers, sources, result: 0 };
        if let Some(known) = self.find(&computed) {
            return known;
        }
        let frame = self.target(sources);
        let reg = self.fresh_in(ty, frame);
        let mut operands = Vec::with_capacity(1 + sources.len());
        operands.push(Operand::Reg(reg));
        operands.extend(sources.iter().map(|value| value.operand()));
        self.push_in(frame, Instruction::new(opcode, modifiers, operands), 1, false);
        self.note(frame, &computed, reg);
        Val::Reg(reg)
    }

    /// A pure instruction whose operands are not all values: a special register, a parameter.
    pub(crate) fn pure_of(
        &mut self,
        opcode: Opcode,
        modifiers: &[Modifier],
        ty: Type,
        source: Operand,
        key: Val,
    ) -> Val {
        let computed = Computed { opcode, modifiers, sources: &[key], result: 1 };
        if let Some(known) = self.find(&computed) {
            return known;
        }
        // At the very start: the end of the entry may be after a jump over the branch or loop that asks first.
        let entry = self.open[0];
        let reg = self.fresh_in(ty, entry);
        let instruction = Instruction::new(opcode, modifiers, [Operand::Reg(reg), source]);
        let inst = self.inst(instruction, 1, false);
        self.frames[entry.0].nodes.insert(self.prologue, Node::Inst(Box::new(inst)));
        self.prologue += 1;
        self.note(entry, &computed, reg);
        Val::Reg(reg)
    }

    /// An instruction at this very place. `results` operands are written.
    pub(crate) fn push(&mut self, inst: Instruction, results: usize, effect: bool) {
        let current = self.current();
        self.push_in(current, inst, results, effect);
    }

    fn push_in(&mut self, frame: FrameId, instruction: Instruction, results: usize, effect: bool) {
        let inst = self.inst(instruction, results, effect);
        self.frames[frame.0].nodes.push(Node::Inst(Box::new(inst)));
    }

    fn inst(&self, instruction: Instruction, results: usize, effect: bool) -> Inst {
        let (loc, operation) = (self.loc, self.operation);
        Inst { instruction, results, effect, loc, operation, meets: Meets::Nobody, says: None }
    }

    /// An instruction at which threads meet.
    pub(crate) fn meeting(&mut self, instruction: Instruction, results: usize, meets: Meets) {
        let inst = Inst { meets, ..self.inst(instruction, results, true) };
        let current = self.current();
        self.frames[current.0].nodes.push(Node::Inst(Box::new(inst)));
    }

    /// An instruction without results that must stay.
    pub(crate) fn effect(
        &mut self,
        opcode: Opcode,
        modifiers: &[Modifier],
        operands: impl Into<Vec<Operand>>,
    ) {
        self.push(Instruction::new(opcode, modifiers, operands), 0, true);
    }

    /// Like [`effect`](Self::effect), if `guard` holds.
    pub(crate) fn effect_if(
        &mut self,
        guard: Option<Guard>,
        opcode: Opcode,
        modifiers: &[Modifier],
        operands: impl Into<Vec<Operand>>,
    ) {
        let mut inst = Instruction::new(opcode, modifiers, operands);
        inst.guard = guard;
        self.push(inst, 0, true);
    }

    /// Stops the kernel unless the predicate `holds`. `says` is what is wrong then: see [`Op::Assert`](crate::ir::Op::Assert).
    pub(crate) fn trap_unless(&mut self, holds: Val, says: &str) {
        let predicate = self.reg(holds, Type::Pred);
        let mut instruction = Instruction::new(Opcode::Trap, [], []);
        instruction.guard = Some(Guard { predicate, negated: true });
        let inst = Inst { says: Some(says.to_owned()), ..self.inst(instruction, 0, true) };
        let current = self.current();
        self.frames[current.0].nodes.push(Node::Inst(Box::new(inst)));
    }

    /// Writes `value` to a register that has several definitions.
    pub(crate) fn assign(&mut self, reg: Reg, value: Val) {
        if value == Val::Reg(reg) {
            return;
        }
        let modifier = Modifier::from(self.ty(reg));
        self.push(
            Instruction::new(Opcode::Mov, [modifier], [Operand::Reg(reg), value.operand()]),
            1,
            false,
        );
    }

    /// `value` in a register of type `ty`.
    pub(crate) fn reg(&mut self, value: Val, ty: Type) -> Reg {
        match value {
            Val::Reg(reg) => reg,
            Val::Int(_) | Val::F32(_) | Val::F64(_) => {
                let value = match (value, ty) {
                    // PTX has no half literals: the bits go through the untyped move.
                    (Val::Int(bits), Type::B16) => Val::Int(bits & 0xffff),
                    _ => value,
                };
                match self.pure(Opcode::Mov, &[Modifier::from(ty)], ty, &[value]) {
                    Val::Reg(reg) => reg,
                    Val::Int(_) | Val::F32(_) | Val::F64(_) => {
                        unreachable!("a move leaves a register")
                    }
                }
            }
        }
    }

    /// The guard that reads a predicate: `None` if it always holds.
    ///
    /// # Requires
    /// `value` is not known to be false.
    pub(crate) fn guard(&mut self, value: Val) -> Option<Guard> {
        match value {
            Val::Int(1) => None,
            Val::Reg(_) | Val::Int(_) | Val::F32(_) | Val::F64(_) => {
                Some(Guard { predicate: self.reg(value, Type::Pred), negated: false })
            }
        }
    }

    /// Records that `reg` is `base + offset`.
    pub(crate) fn note_sum(&mut self, reg: Val, base: Reg, offset: i64) {
        if let Val::Reg(reg) = reg {
            self.registers[reg.0 as usize].sum = Some((base, offset));
        }
    }

    /// The register and constant that a value is the sum of.
    pub(crate) fn sum_of(&self, value: Val) -> Option<(Reg, i64)> {
        match value {
            Val::Reg(reg) => Some(self.registers[reg.0 as usize].sum.unwrap_or((reg, 0))),
            Val::Int(_) | Val::F32(_) | Val::F64(_) => None,
        }
    }

    /// The two 16-bit halves of a 32-bit word, low first.
    pub(crate) fn unpack(&mut self, word: Val) -> [Val; 2] {
        let word = match word {
            Val::Int(bits) => return [Val::Int(bits & 0xffff), Val::Int((bits >> 16) & 0xffff)],
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => self.reg(word, Type::B32),
        };
        let (sources, modifiers) = ([Val::Reg(word)], mods![Type::B32]);
        let half = |result| Computed { opcode: Opcode::Mov, modifiers, sources: &sources, result };
        if let Some(low) = self.find(&half(2)) {
            let high = self.find(&half(3)).expect("both halves are recorded together");
            return [low, high];
        }
        let frame = self.target(&[Val::Reg(word)]);
        let low = self.fresh_in(Type::B16, frame);
        let high = self.fresh_in(Type::B16, frame);
        let pair = Operand::Vector(vec![Operand::Reg(low), Operand::Reg(high)]);
        self.push_in(
            frame,
            Instruction::new(Opcode::Mov, mods![Type::B32].to_vec(), [pair, Operand::Reg(word)]),
            1,
            false,
        );
        self.note(frame, &half(2), low);
        self.note(frame, &half(3), high);
        self.halves.insert(low, (word, 0, self.changes));
        self.halves.insert(high, (word, 1, self.changes));
        [Val::Reg(low), Val::Reg(high)]
    }

    /// The 32-bit word of two halves: the word that they came from, if they came from one.
    pub(crate) fn pack(&mut self, low: Val, high: Val) -> Val {
        if let (Val::Int(low), Val::Int(high)) = (low, high) {
            return Val::Int(sign_extended((low & 0xffff) | ((high & 0xffff) << 16), 32));
        }
        if let Some(word) = self.parent(low, high) {
            return Val::Reg(word);
        }
        let sources = [low, high].map(|half| Val::Reg(self.reg(half, Type::B16)));
        let (opcode, modifiers) = (Opcode::Mov, mods![Type::B32]);
        let computed = Computed { opcode, modifiers, sources: &sources, result: 0 };
        if let Some(known) = self.find(&computed) {
            return known;
        }
        let frame = self.target(&sources);
        let reg = self.fresh_in(Type::B32, frame);
        let pair = Operand::Vector(sources.iter().map(|value| value.operand()).collect());
        let inst = Instruction::new(Opcode::Mov, mods![Type::B32], [Operand::Reg(reg), pair]);
        self.push_in(frame, inst, 1, false);
        self.note(frame, &computed, reg);
        Val::Reg(reg)
    }

    /// Records that the low byte of `reg` is byte `index` of `word`.
    pub(crate) fn note_byte(&mut self, reg: Reg, word: Reg, index: u8) {
        self.bytes.entry(reg).or_insert((word, index));
    }

    /// Records that the low byte of `value` is byte `index` of the two in `pair`.
    pub(crate) fn note_pair(&mut self, value: Val, pair: Val, index: u8) {
        if let (Val::Reg(value), Val::Reg(pair)) = (value, pair) {
            self.pairs.insert(value, (pair, index));
        }
    }

    /// The word that has a value as one of its bytes, and which one.
    pub(super) fn byte_of(&self, value: Val) -> Option<(Reg, u8)> {
        match value {
            Val::Reg(value) => self.bytes.get(&value).copied(),
            Val::Int(_) | Val::F32(_) | Val::F64(_) => None,
        }
    }

    /// The register of two bytes whose bytes these are.
    pub(crate) fn pair_of_bytes(&self, low: Val, high: Val) -> Option<Reg> {
        match [low, high].map(|value| match value {
            Val::Reg(value) => self.pairs.get(&value).copied(),
            Val::Int(_) | Val::F32(_) | Val::F64(_) => None,
        }) {
            [Some((a, 0)), Some((b, 1))] if a == b => Some(a),
            _ => None,
        }
    }

    /// The word and the half of it whose bytes these are.
    pub(crate) fn half_of_bytes(&self, low: Val, high: Val) -> Option<(Reg, u8)> {
        match [low, high].map(|value| self.byte_of(value)) {
            [Some((a, low)), Some((b, high))] if a == b && low % 2 == 0 && high == low + 1 => {
                Some((a, low / 2))
            }
            _ => None,
        }
    }

    /// The word whose bytes these are.
    pub(crate) fn word_of_bytes(&self, parts: [Val; 4]) -> Option<Reg> {
        let mut words = (0u8..).zip(parts).map(|(place, part)| match part {
            Val::Reg(part) => {
                self.bytes.get(&part).filter(|(_, index)| *index == place).map(|(word, _)| *word)
            }
            Val::Int(_) | Val::F32(_) | Val::F64(_) => None,
        });
        let first = words.next()??;
        words.all(|word| word == Some(first)).then_some(first)
    }

    /// The word whose halves these are.
    pub(crate) fn parent(&self, low: Val, high: Val) -> Option<Reg> {
        match (low, high) {
            (Val::Reg(low), Val::Reg(high)) => match (self.half_of(low), self.half_of(high)) {
                (Some((a, 0)), Some((b, 1))) if a == b => Some(a),
                _ => None,
            },
            _ => None,
        }
    }

    /// The word that a register is a half of, and which one. Halves that nothing has taken out yet are what the word has become.
    fn half_of(&self, half: Reg) -> Option<(Reg, u8)> {
        let &(word, index, since) = self.halves.get(&half)?;
        let is = self.stays(Val::Reg(word), since) || self.to_come.contains_key(&half);
        is.then_some((word, index))
    }
}
