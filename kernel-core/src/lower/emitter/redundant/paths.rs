//! The paths that a thread may take through finished code.

use std::collections::BTreeMap;

use kernel_ptx::{Label, Opcode, Operand};

use crate::lower::emitter::{Inst, Node};

/// A step of a thread, at a node of the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<T> {
    pub(super) node: usize,
    pub(super) does: Does<T>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Does<T> {
    /// What the analysis looks at.
    Acts(T),
    /// Paths come together.
    Label(Label),
    /// The thread goes on elsewhere.
    Jumps(Label, When),
    /// The thread ends.
    Leaves(When),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    Sometimes,
}

/// What holds at a place.
pub(super) trait Fact: Copy + PartialEq {
    /// What may hold if one of two may.
    fn or(self, other: Self) -> Self;
}

impl Fact for bool {
    fn or(self, other: Self) -> Self {
        self || other
    }
}

/// The steps of some code: jumps, labels, and the instructions that `acts` has something to say of.
pub(super) fn steps<T>(
    order: &[Node],
    acts: &mut dyn FnMut(usize, &Inst) -> Option<T>,
) -> Vec<Step<T>> {
    let mut steps = Vec::new();
    for (node, kind) in order.iter().enumerate() {
        let does = match kind {
            Node::Label(label) => Some(Does::Label(*label)),
            Node::Inst(inst) => jump(inst).or_else(|| acts(node, inst).map(Does::Acts)),
            Node::Frame(_) => unreachable!("flattening leaves no frames"),
        };
        steps.extend(does.map(|does| Step { node, does }));
    }
    steps
}

/// Where an instruction that ends a straight run of code goes.
pub(super) fn jump<T>(inst: &Inst) -> Option<Does<T>> {
    let when = if inst.instruction.guard.is_some() { When::Sometimes } else { When::Always };
    match (inst.instruction.opcode, inst.instruction.operands.first()) {
        (Opcode::Bra, Some(&Operand::Label(to))) => Some(Does::Jumps(to, when)),
        (Opcode::Ret, _) => Some(Does::Leaves(when)),
        _ => None,
    }
}

fn join<F: Fact>(into: &mut Option<F>, other: Option<F>) -> bool {
    let all = match (*into, other) {
        (Some(one), Some(other)) => Some(one.or(other)),
        (one, other) => one.or(other),
    };
    std::mem::replace(into, all) != all
}

/// What holds before each step, of what holds at the start; none where nothing comes.
pub(super) fn before<T, F: Fact>(
    steps: &[Step<T>],
    start: F,
    cross: &dyn Fn(&T, F) -> F,
) -> Vec<Option<F>> {
    let mut labels: BTreeMap<Label, Option<F>> = BTreeMap::new();
    loop {
        let mut found = Vec::with_capacity(steps.len());
        let mut changed = false;
        let mut state = Some(start);
        for step in steps {
            found.push(state);
            match &step.does {
                Does::Acts(act) => state = state.map(|state| cross(act, state)),
                Does::Label(label) => {
                    let all = labels.entry(*label).or_default();
                    changed |= join(all, state);
                    state = *all;
                }
                Does::Jumps(to, when) => {
                    changed |= join(labels.entry(*to).or_default(), state);
                    state = state.filter(|_| *when == When::Sometimes);
                }
                Does::Leaves(when) => state = state.filter(|_| *when == When::Sometimes),
            }
        }
        if !changed {
            return found;
        }
    }
}

/// What holds behind each step, of what holds at the end; none where no path comes to an end.
pub(super) fn behind<T, F: Fact>(
    steps: &[Step<T>],
    end: F,
    cross: &dyn Fn(&T, F) -> F,
) -> Vec<Option<F>> {
    let mut labels: BTreeMap<Label, Option<F>> = BTreeMap::new();
    loop {
        let mut found = vec![None; steps.len()];
        let mut changed = false;
        let mut state = Some(end);
        for (at, step) in steps.iter().enumerate().rev() {
            match &step.does {
                Does::Acts(_) | Does::Label(_) => {}
                Does::Jumps(to, when) => {
                    state = state.filter(|_| *when == When::Sometimes);
                    join(&mut state, labels.get(to).copied().flatten());
                }
                Does::Leaves(when) => {
                    state = state.filter(|_| *when == When::Sometimes);
                    join(&mut state, Some(end));
                }
            }
            found[at] = state;
            match &step.does {
                Does::Acts(act) => state = state.map(|state| cross(act, state)),
                Does::Label(label) => changed |= join(labels.entry(*label).or_default(), state),
                Does::Jumps(..) | Does::Leaves(_) => {}
            }
        }
        if !changed {
            return found;
        }
    }
}

/// How many loops are around each step: jumps back to before it.
pub(super) fn depths<T>(steps: &[Step<T>]) -> Vec<u32> {
    let mut labels = BTreeMap::new();
    let mut depths = vec![0; steps.len()];
    for (at, step) in steps.iter().enumerate() {
        match &step.does {
            Does::Label(label) => {
                labels.insert(*label, at);
            }
            Does::Jumps(to, _) => {
                if let Some(&top) = labels.get(to) {
                    depths[top..at].iter_mut().for_each(|depth| *depth += 1);
                }
            }
            Does::Acts(_) | Does::Leaves(_) => {}
        }
    }
    depths
}
