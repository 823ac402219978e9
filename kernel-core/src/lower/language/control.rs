//! Branches and loops.
//!
//! Carried values of a loop have registers of their own, written at the end of each iteration. The new values
//! are all computed before the first of them is written, so an exchange of two carried values is safe.

use std::collections::BTreeSet;

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Guard, Label, Opcode, Operand, Reg, Type, Word};

use crate::ir::{self, Region, Terminator, Value};
use crate::lower::emitter::{FrameId, FrameKind, Place, Val};
use crate::lower::memory::shared::EVERYTHING;
use crate::lower::memory::tensor::repeated_registers;
use crate::lower::tiles::scalar::held;
use crate::lower::{Data, Flow, Lower};

/// An open loop: where its jumps go and what they write.
#[derive(Debug)]
pub(crate) struct LoopFrame {
    again: Label,
    end: Label,
    carried: Vec<Data>,
    results: Vec<Data>,
    continued: bool,
    broken: bool,
}

impl Lower<'_> {
    /// What a terminator does. A `Yield` is up to the region's owner.
    pub(crate) fn end(&mut self, end: &Terminator) -> Flow {
        match end {
            Terminator::Return => {
                self.leave_block();
                Flow::Ends
            }
            Terminator::Yield(_) => Flow::Continues,
            Terminator::Continue(depth, values) | Terminator::Break(depth, values) => {
                let place = self.loops.len() - 1 - *depth as usize;
                let looped = &mut self.loops[place];
                let (targets, label) = if matches!(end, Terminator::Continue(..)) {
                    looped.continued = true;
                    (looped.carried.clone(), looped.again)
                } else {
                    looped.broken = true;
                    (looped.results.clone(), looped.end)
                };
                self.copy(&targets, values);
                self.jump(label);
                Flow::Ends
            }
        }
    }

    fn jump(&mut self, label: Label) {
        self.e.effect(Opcode::Bra, &[], [Operand::Label(label)]);
    }

    pub(crate) fn jump_if(&mut self, predicate: Val, negated: bool, label: Label) {
        let predicate = self.e.reg(predicate, Type::Pred);
        self.e.effect_if(
            Some(Guard { predicate, negated }),
            Opcode::Bra,
            &[],
            [Operand::Label(label)],
        );
    }

    /// New registers for a value of this type, in `frame`.
    fn slots(&mut self, value: Value, frame: FrameId) -> Data {
        match self.kernel.ty(value) {
            ir::Type::Scalar(elem) => Data::Scalar(Val::Reg(self.e.fresh_in(held(*elem), frame))),
            ir::Type::Tile(elem, _) => {
                let layout = self.layout(value);
                let repeated = repeated_registers(layout);
                let count = layout.in_size(Dim::Register);
                let paired = self.is_paired(*elem, layout);
                let mut registers: Vec<Val> = Vec::new();
                for index in 0..count {
                    let first = index & !repeated;
                    let register = if paired && first == index {
                        let word = if let Some(low) = registers.get(index as usize & !1) {
                            self.e.word_to_come(*low).expect("paired with this one").0
                        } else {
                            let word = self.e.fresh_in(Type::B32, frame);
                            self.e.note_slot(word);
                            word
                        };
                        let half = self.e.half_to_come(word, u8::from(index & 1 == 1));
                        self.e.rehome(half, frame);
                        Val::Reg(half)
                    } else if first == index {
                        let register = self.e.fresh_in(held(*elem), frame);
                        self.e.note_slot(register);
                        Val::Reg(register)
                    } else {
                        registers[first as usize]
                    };
                    registers.push(register);
                }
                Data::Tile(registers)
            }
            ir::Type::Shared(_) | ir::Type::Barrier(_) | ir::Type::TensorMemory(_) => {
                Data::Window(Val::Reg(self.e.fresh_in(Type::B32, frame)))
            }
            ir::Type::Error => unreachable!("ir::verify lets no reported value through"),
        }
    }

    /// Whether registers of a tile that changes are kept in pairs, like `wgmma` products keep accumulators in `f16`: a
    /// product in flight may be writing them.
    fn is_paired(&self, elem: ir::Elem, layout: &Layout) -> bool {
        self.pairs_halves
            && elem == ir::Elem::Number(ir::Dtype::F16)
            && layout.bases(Dim::Register).first().is_some_and(|basis| **basis == [0, 1])
    }

    /// Writes `values` to `targets`, as if all at once.
    fn copy(&mut self, targets: &[Data], values: &[Value]) {
        let mut moves: Vec<(Reg, Val)> = Vec::new();
        let mut seen = BTreeSet::new();
        for (target, &value) in targets.iter().zip(values) {
            let (targets, sources) = (parts(target), parts(&self.values[value]));
            for (index, (&target, &source)) in targets.iter().zip(&sources).enumerate() {
                let (target, source) = match self.e.word_to_come(target) {
                    Some((_, 1)) => continue,
                    // The other half is that of the next register.
                    Some((word, _)) => (Val::Reg(word), self.e.pack(source, sources[index + 1])),
                    None => (target, self.e.half_at_last(source)),
                };
                // Registers that repeat an element come up several times.
                if let Val::Reg(target) = target
                    && source != Val::Reg(target)
                    && seen.insert(target)
                {
                    moves.push((target, source));
                }
            }
        }
        let mut written: Vec<Reg> = moves.iter().map(|&(target, _)| target).collect();
        written.sort_unstable();
        // A source that is itself overwritten is read first.
        for (_, source) in &mut moves {
            if let Val::Reg(reg) = *source
                && written.binary_search(&reg).is_ok()
            {
                let saved = self.e.fresh(self.e.ty(reg));
                self.e.assign(saved, *source);
                *source = Val::Reg(saved);
            }
        }
        for (target, source) in moves {
            self.e.assign(target, source);
        }
    }

    /// Gives carried registers to a frame: they change with every iteration of their loop.
    fn rehome(&mut self, data: &[Data], frame: FrameId) {
        for value in data.iter().flat_map(parts) {
            if let Val::Reg(reg) = value {
                self.e.rehome(reg, frame);
                if let Some((word, _)) = self.e.word_to_come(value) {
                    self.e.rehome(word, frame);
                }
            }
        }
    }

    pub(crate) fn bind(&mut self, values: &[Value], data: &[Data]) {
        for (&value, data) in values.iter().zip(data) {
            self.values.insert(value, data.clone());
        }
    }

    pub(crate) fn branch(
        &mut self,
        condition: Value,
        then: &Region,
        otherwise: &Region,
        results: &[Value],
    ) -> Flow {
        match self.scalar(condition) {
            Val::Int(known) => {
                let taken = if known == 0 { otherwise } else { then };
                if self.region(taken) == Flow::Ends {
                    return Flow::Ends;
                }
                if let Terminator::Yield(values) = &taken.end {
                    let data: Vec<Data> =
                        values.iter().map(|&value| self.values[value].clone()).collect();
                    self.bind(results, &data);
                }
                Flow::Continues
            }
            condition @ (Val::Reg(_) | Val::F32(_) | Val::F64(_)) => {
                let outer = self.e.current();
                let slots: Vec<Data> =
                    results.iter().map(|&result| self.slots(result, outer)).collect();
                let (other, join) = (self.e.label(), self.e.label());
                let empty =
                    otherwise.stmts.is_empty() && otherwise.end == Terminator::Yield(Vec::new());
                self.jump_if(condition, true, if empty { join } else { other });
                let busy = self.plan.busy;
                let first = self.side(then, &slots);
                let after = std::mem::replace(&mut self.plan.busy, busy);
                if !empty && first == Flow::Continues {
                    self.jump(join);
                }
                let mut second = Flow::Continues;
                if !empty {
                    self.e.place_label(other);
                    second = self.side(otherwise, &slots);
                }
                self.plan.busy = self.plan.busy.max(after);
                if first == Flow::Continues || empty {
                    self.e.place_label(join);
                }
                self.bind(results, &slots);
                if first == Flow::Ends && second == Flow::Ends {
                    Flow::Ends
                } else {
                    Flow::Continues
                }
            }
        }
    }

    fn side(&mut self, region: &Region, slots: &[Data]) -> Flow {
        self.e.enter(FrameKind::Branch);
        let claimed = self.plan.claimed;
        let flow = self.region(region);
        // What this side made free may still be in use if it did not run.
        self.plan.claimed = claimed;
        if let (Flow::Continues, Terminator::Yield(values)) = (flow, &region.end) {
            self.copy(slots, values);
        }
        self.e.leave();
        flow
    }

    /// Runs the body of a loop; its own last `Continue` falls through.
    fn iteration(&mut self, body: &Region) -> Flow {
        let claimed = self.plan.claimed;
        let flow = self.statements(body);
        self.plan.claimed = claimed;
        if flow == Flow::Ends {
            return Flow::Ends;
        }
        if let Terminator::Continue(0, values) = &body.end {
            let targets = self.loops.last().expect("a loop is open").carried.clone();
            self.copy(&targets, values);
            return Flow::Continues;
        }
        self.end(&body.end)
    }

    pub(crate) fn counted(
        &mut self,
        range: [Value; 3],
        inits: &[Value],
        body: &Region,
        results: &[Value],
    ) -> Flow {
        let [from, to, step] = range.map(|value| self.scalar(value));
        let ty = match self.elem(range[0]) {
            ir::Elem::Number(dtype) => crate::lower::tiles::scalar::arithmetic(dtype),
            ir::Elem::Ptr(_) => unreachable!("ir::verify rejects a loop over pointers"),
        };
        let outer = self.e.current();
        let counter = self.e.fresh_in(crate::lower::emitter::fold::register(ty), outer);
        let carried: Vec<Data> = inits.iter().map(|&init| self.slots(init, outer)).collect();
        let before = self.goes_on(ty, from, to, step);
        self.e.assign(counter, from);
        self.copy(&carried, inits);
        let (top, again, end) = (self.e.label(), self.e.label(), self.e.label());
        if before == Val::Int(0) {
            self.bind(results, &carried);
            return Flow::Continues;
        }
        // What is computed ahead of the loop is after the jump over it: it is visible there only.
        let guarded = before != Val::Int(1);
        if guarded {
            self.jump_if(before, true, end);
            self.e.enter(FrameKind::Branch);
        }
        let frame = self.e.enter(FrameKind::Loop);
        self.e.rehome(counter, frame);
        self.rehome(&carried, frame);
        self.e.place_label(top);
        self.values.insert(body.args[0], Data::Scalar(Val::Reg(counter)));
        self.bind(&body.args[1..], &carried);
        self.loops.push(LoopFrame {
            again,
            end,
            carried: carried.clone(),
            results: carried.clone(),
            continued: false,
            broken: false,
        });
        self.plan.busy = EVERYTHING;
        let flow = self.iteration(body);
        self.plan.busy = EVERYTHING;
        let finished = self.loops.pop().expect("pushed above");
        if finished.continued {
            self.e.place_label(again);
            // A `continue` jumps past what the rest of the iteration computes.
            self.e.forget();
        }
        if flow == Flow::Continues || finished.continued {
            // Computed from the counter before it changes, so that nothing found by value numbering is stale.
            let next = self.e.placed(Place::Here, |e| e.add(ty, Val::Reg(counter), step));
            let more = self.another(range[1], Val::Reg(counter), next, to, step);
            self.e.assign(counter, next);
            self.jump_if(more, false, top);
        }
        self.e.leave();
        if guarded {
            self.e.leave();
        }
        self.e.rehome(counter, outer);
        self.rehome(&carried, outer);
        if guarded || finished.broken {
            self.e.place_label(end);
        }
        self.bind(results, &carried);
        Flow::Continues
    }

    /// Whether a counted loop has an iteration at `at`.
    fn goes_on(&mut self, ty: Type, at: Val, to: Val, step: Val) -> Val {
        match step {
            Val::Int(step) if step >= 0 || !matches!(ty, Type::S32 | Type::S64) => {
                self.e.compare(Word::Lt, ty, at, to)
            }
            Val::Int(_) => self.e.compare(Word::Gt, ty, at, to),
            step @ (Val::Reg(_) | Val::F32(_) | Val::F64(_)) => {
                let up = self.e.compare(Word::Ge, ty, step, Val::Int(0));
                let below = self.e.compare(Word::Lt, ty, at, to);
                let above = self.e.compare(Word::Gt, ty, at, to);
                self.e.select(Type::Pred, up, below, above)
            }
        }
    }

    /// Whether a counted loop that has an iteration at `at` has one at `next`, which is `at + step` and may have wrapped.
    fn another(&mut self, bound: Value, at: Val, next: Val, to: Val, step: Val) -> Val {
        let ir::Elem::Number(dtype) = self.elem(bound) else {
            unreachable!("ir::verify rejects a loop over pointers")
        };
        let ty = crate::lower::tiles::scalar::arithmetic(dtype);
        let Val::Int(known) = step else {
            let up = self.e.compare(Word::Ge, ty, step, Val::Int(0));
            let rises = self.e.compare(Word::Gt, ty, next, at);
            let falls = self.e.compare(Word::Lt, ty, next, at);
            let moves = self.e.select(Type::Pred, up, rises, falls);
            let inside = self.goes_on(ty, next, to, step);
            return self.e.and(Type::Pred, inside, moves);
        };
        let known = if ty == Type::U32 {
            i128::from(crate::lower::emitter::bits::low_word(known))
        } else if ty == Type::U64 {
            i128::from(known.cast_unsigned())
        } else {
            i128::from(known)
        };
        let Some(edge) = crate::schedule::nearest_bound(dtype, known) else {
            return self.goes_on(ty, next, to, step);
        };
        let edge = crate::lower::tiles::scalar::constant(ir::Const::Int(edge), dtype);
        let (opcode, word) =
            if known > 0 { (Opcode::Max, Word::Lt) } else { (Opcode::Min, Word::Gt) };
        let nearest = self.e.extreme(opcode, ty, to, edge);
        let limit = self.e.sub(ty, nearest, step);
        self.e.compare(word, ty, at, limit)
    }

    pub(crate) fn endless(&mut self, inits: &[Value], body: &Region, results: &[Value]) -> Flow {
        let outer = self.e.current();
        let carried: Vec<Data> = inits.iter().map(|&init| self.slots(init, outer)).collect();
        let slots: Vec<Data> = results.iter().map(|&result| self.slots(result, outer)).collect();
        self.copy(&carried, inits);
        let (top, end) = (self.e.label(), self.e.label());
        let frame = self.e.enter(FrameKind::Loop);
        self.rehome(&carried, frame);
        self.e.place_label(top);
        self.bind(&body.args, &carried);
        self.loops.push(LoopFrame {
            again: top,
            end,
            carried,
            results: slots.clone(),
            continued: false,
            broken: false,
        });
        self.plan.busy = EVERYTHING;
        if self.iteration(body) == Flow::Continues {
            self.jump(top);
        }
        self.plan.busy = EVERYTHING;
        let finished = self.loops.pop().expect("pushed above");
        self.e.leave();
        if !finished.broken {
            return Flow::Ends;
        }
        self.e.place_label(end);
        self.bind(results, &slots);
        Flow::Continues
    }
}

/// The registers of a value.
fn parts(data: &Data) -> Vec<Val> {
    match data {
        Data::Scalar(value) | Data::Window(value) => vec![*value],
        Data::Tile(values) => values.clone(),
    }
}
