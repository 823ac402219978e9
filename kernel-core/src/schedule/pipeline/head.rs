//! What of an iteration runs ahead, and when.

use std::collections::BTreeSet;

use la_arena::Arena;

use super::ring::Pass;
use crate::ir::{Elem, MemoryOp, Op, Roots, Stmt, StmtKind, Value, ValueData, slice};

/// Tiles of more indices are not kept in registers from one iteration to the next.
const MOST_CARRIED: u32 = 1024;

/// When the indices are loaded that copies take.
#[derive(Clone, Copy)]
pub(super) enum Indices {
    /// One iteration before the copies.
    Before,
    /// With them.
    WithCopies,
}

/// The head of an iteration, in parts.
pub(super) struct Head {
    /// The copies, and what computes where they read: it starts `stages - 1` iterations ahead.
    pub(super) copies: Vec<Stmt>,
    /// The loads of indices that the copies take, with what they need: they start one iteration before the copies.
    pub(super) loads: Vec<Stmt>,
    /// What these loads give, for the copies.
    pub(super) carried: Vec<Value>,
    /// What the rest of the iteration needs of the head: computed, and loaded from memory that nothing writes.
    pub(super) again: Vec<Stmt>,
    /// The same, loaded from other memory, and what depends on that: after the waits, as in the text.
    pub(super) later: Vec<Stmt>,
}

impl Head {
    /// The head with these statements, some results of which are `used` by the rest of the iteration.
    pub(super) fn of(
        stmts: &[Stmt],
        mut used: BTreeSet<Value>,
        pass: &Pass<'_>,
        indices: Indices,
    ) -> Head {
        let is_pure = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure());
        let is_assertion =
            |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op: Op::Assert(_), .. });
        let is_plain = |stmt: &Stmt| is_pure(stmt) || is_assertion(stmt);
        if stmts.iter().all(|stmt| is_plain(stmt) || stmt.fills_ahead().is_some()) {
            // Lowering drops what nothing needs.
            let again = stmts.iter().filter(|stmt| is_pure(stmt)).cloned().collect();
            let (loads, carried, later) = (Vec::new(), Vec::new(), Vec::new());
            return Head { copies: stmts.to_vec(), loads, carried, again, later };
        }
        let none = BTreeSet::new();
        let whole = slice(stmts, &mut BTreeSet::new(), Roots::Effects, &none);
        let loaded: BTreeSet<Value> = match indices {
            Indices::Before => whole.iter().filter_map(|stmt| index(stmt, pass.values)).collect(),
            Indices::WithCopies => BTreeSet::new(),
        };
        let mut needed = BTreeSet::new();
        let copies = slice(stmts, &mut needed, Roots::Effects, &loaded);
        let carried: Vec<Value> = loaded.intersection(&needed).copied().collect();
        let mut taken: BTreeSet<Value> = carried.iter().copied().collect();
        let loads = if carried.is_empty() {
            Vec::new()
        } else {
            slice(&before_loads(stmts, taken.clone()), &mut taken, Roots::Effects, &none)
        };
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
        Head { copies, loads, carried, again, later }
    }
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
