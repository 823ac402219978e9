//! What of an iteration runs ahead, and when.

use std::collections::BTreeSet;

use la_arena::Arena;

use super::ring::Pass;
use crate::ir::{Elem, MemoryOp, Op, Roots, Stmt, StmtKind, Value, ValueData, slice};

/// Tiles of more indices are not kept in registers from one iteration to the next.
const MOST_CARRIED: u32 = 1024;

/// Copies that take an index of an index of an index have all three loads start in iterations of their own; of longer chains the first loads
/// start together.
pub(super) const MOST_ROUNDS: usize = 3;

/// Loads of indices that start in one iteration.
pub(super) struct Loads {
    /// The loads, with what they need.
    pub(super) stmts: Vec<Stmt>,
    /// What they give, for the copies or for the loads that start one iteration later.
    pub(super) carried: Vec<Value>,
}

/// The head of an iteration, in parts.
pub(super) struct Head {
    /// The copies, and what computes where they read: it starts `stages - 1` iterations ahead.
    pub(super) copies: Vec<Stmt>,
    /// The loads of indices that the copies take, which start one iteration before the copies; then the loads of the indices of these, which
    /// start one iteration before them, and so on.
    pub(super) loads: Vec<Loads>,
    /// What the rest of the iteration needs of the head: computed, and loaded from memory that nothing writes.
    pub(super) again: Vec<Stmt>,
    /// The same, loaded from other memory, and what depends on that: after the waits, as in the text.
    pub(super) later: Vec<Stmt>,
}

impl Head {
    /// The head with these statements, some results of which are `used` by the rest of the iteration. Indices are loaded in at most `rounds`
    /// iterations before the copies; without one, with the copies.
    pub(super) fn of(
        stmts: &[Stmt],
        mut used: BTreeSet<Value>,
        pass: &Pass<'_>,
        rounds: usize,
    ) -> Head {
        let is_pure = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure());
        let is_assertion =
            |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op: Op::Assert(_), .. });
        let is_plain = |stmt: &Stmt| is_pure(stmt) || is_assertion(stmt);
        if stmts.iter().all(|stmt| is_plain(stmt) || stmt.fills_ahead().is_some()) {
            // Lowering drops what nothing needs.
            let again = stmts.iter().filter(|stmt| is_pure(stmt)).cloned().collect();
            return Head { copies: stmts.to_vec(), loads: Vec::new(), again, later: Vec::new() };
        }
        let none = BTreeSet::new();
        let whole = slice(stmts, &mut BTreeSet::new(), Roots::Effects, &none);
        let mut given: BTreeSet<Value> = if rounds > 0 {
            whole.iter().filter_map(|stmt| index(stmt, pass.values)).collect()
        } else {
            BTreeSet::new()
        };
        let mut needed = BTreeSet::new();
        let copies = slice(stmts, &mut needed, Roots::Effects, &given);
        let mut loads = Vec::new();
        loop {
            let carried: Vec<Value> = given.intersection(&needed).copied().collect();
            if carried.is_empty() {
                break;
            }
            let own = last(stmts, &carried);
            if loads.len() + 1 < rounds {
                given.retain(|value| !own.contains(value));
            } else {
                given.clear();
            }
            needed = carried.iter().copied().collect();
            let before = before_loads(stmts, own);
            let stmts = slice(&before, &mut needed, Roots::Effects, &given);
            loads.push(Loads { stmts, carried });
        }
        let mut waits = BTreeSet::new();
        let (mut again, mut later) = (Vec::new(), Vec::new());
        for stmt in slice(stmts, &mut used, Roots::None, &none) {
            let after = stmt.kind.mentioned().iter().any(|value| waits.contains(value));
            if after || loads_other(&stmt, &pass.constant_loads) {
                waits.extend(stmt.kind.results());
                later.push(stmt);
            } else {
                again.push(stmt);
            }
        }
        Head { copies, loads, again, later }
    }
}

/// Those of the loaded values that no other one is loaded by.
fn last(stmts: &[Stmt], loaded: &[Value]) -> BTreeSet<Value> {
    let is_last = |value: &&Value| {
        let mut after = BTreeSet::from([**value]);
        for stmt in stmts {
            if stmt.kind.mentioned().iter().any(|value| after.contains(value)) {
                after.extend(stmt.kind.results());
            }
        }
        loaded.iter().filter(|other| after.contains(other)).count() == 1
    };
    loaded.iter().filter(is_last).copied().collect()
}

/// The statements without the copies, and without the assertions on what is loaded: these would wait for it. Those on the indices of the
/// loads stay.
fn before_loads(stmts: &[Stmt], mut loaded: BTreeSet<Value>) -> Vec<Stmt> {
    let mut before = Vec::new();
    for stmt in stmts {
        let after = stmt.kind.mentioned().iter().any(|value| loaded.contains(value));
        if after {
            loaded.extend(stmt.kind.results());
        }
        if !(stmt.copies_ahead() || after && stmt.has_effect()) {
            before.push(stmt.clone());
        }
    }
    before
}

/// Whether a statement loads from memory that may be written.
fn loads_other(stmt: &Stmt, constant: &BTreeSet<Value>) -> bool {
    let here = stmt.loads() && stmt.kind.results().iter().any(|result| !constant.contains(result));
    let mut inside = stmt.kind.regions().into_iter().flat_map(|inner| &inner.stmts);
    here || inside.any(|stmt| loads_other(stmt, constant))
}

/// The indices that a statement loads from global memory, if registers can keep them.
fn index(stmt: &Stmt, values: &Arena<ValueData>) -> Option<Value> {
    let StmtKind::Op {
        op: Op::Memory(MemoryOp::LoadTensor(..) | MemoryOp::LoadPtr { .. }),
        result: Some(result),
        ..
    } = &stmt.kind
    else {
        return None;
    };
    let ty = &values[*result].ty;
    let Some(Elem::Number(dtype)) = ty.elem() else { return None };
    let few = ty.shape().iter().product::<u32>() <= MOST_CARRIED;
    (few && dtype.is_int()).then_some(*result)
}
