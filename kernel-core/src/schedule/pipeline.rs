//! Software pipelining: the copies of later iterations run while this one computes.
//!
//! A loop over `pipeline(range, stages)` says, and means,
//!
//! ```text
//! for k { copy_async .. -> s; staged(stages); .. use of s ..; sync }
//! ```
//!
//! where `staged` waits for the copies of the iteration. This pass gives each buffer that the copies fill `stages` places, a ring, and
//! starts the copies `stages - 1` iterations ahead:
//!
//! ```text
//! for the first stages - 1 iterations { if there is such an iteration { copy_async .. -> s[iteration] }; commit }
//! for k carry (read = 0, write = stages - 1) {
//!     wait(stages - 2); sync
//!     if there is an iteration stages - 1 ahead { copy_async .. -> s[write] }; commit
//!     .. use of s[read] ..
//!     read, write = the next places
//! }
//! wait_all; sync
//! ```
//!
//! One barrier an iteration is enough: it stands between the last use of a place, in the iteration before, and the copy that
//! fills it again. Iterations that do not exist copy nothing but close their group all the same, so that counting groups counts iterations.
//!
//! # Copies by tensor map
//! They complete on mbarriers, of which there is one for each place of the ring: its phase ends when the bytes of one iteration have come.
//!
//! ```text
//! for the first stages - 1 iterations { if there is such an iteration { expect full[iteration], bytes; tma_load .. full[iteration] -> s[iteration] } }
//! for k carry (read = 0, write = stages - 1, phase = 0) {
//!     sync
//!     if there is an iteration stages - 1 ahead { expect full[write], bytes; tma_load .. full[write] -> s[write] }
//!     wait full[read], phase
//!     .. use of s[read] ..
//!     read, write = the next places; phase changes when read comes round
//! }
//! sync
//! ```
//!
//! A place is waited for as often as it is filled, so that no copy is under way when the loop ends. Where the loop runs again, in
//! an outer one, it begins with phase 0 again: the phases of the places that were filled an odd number of times are ended once more, by an
//! `expect` of no bytes. The barrier of the first iteration stands between this and the first wait.
//!
//! A loop may have copies of both kinds.

use std::collections::BTreeMap;

use la_arena::ArenaMap;

use super::key;
use crate::{
    ir::{Kernel, Op, Region, Shared, Stmt, StmtKind, Tma, TmaKind, Value},
    loc::Loc,
};

mod check;
mod ring;

pub use check::check;
pub use ring::pipeline;

/// What of an iteration stands before [`Op::Staged`], and how many places the ring has.
struct Staged {
    at: usize,
    stages: u32,
}

fn staged(body: &Region) -> Option<Staged> {
    body.stmts.iter().enumerate().find_map(|(at, stmt)| {
        let StmtKind::Op { op: Op::Staged(stages), .. } = &stmt.kind else { return None };
        Some(Staged { at, stages: *stages })
    })
}

/// Puts [`Op::Staged`] behind the copies at the start of an iteration, and a barrier at its end.
pub fn stage(body: &mut Region, stages: u32, loc: Loc) {
    let is_copy = |stmt: &Stmt| filled(stmt).is_some();
    let head = body.stmts.iter().position(|stmt| !is_pure(stmt) && !is_copy(stmt));
    let head = &body.stmts[..head.unwrap_or(body.stmts.len())];
    let at = head.iter().rposition(is_copy).map_or(0, |last| last + 1);
    body.stmts.insert(at, effect(Op::Staged(stages), Vec::new(), loc));
    body.stmts.push(effect(Op::Sync, Vec::new(), loc));
}

fn is_pure(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure())
}

/// The window that a statement fills, if it is a copy that a loop can start ahead.
fn filled(stmt: &Stmt) -> Option<Value> {
    match &stmt.kind {
        StmtKind::Op {
            op: Op::CopyAsync(_) | Op::Tma(Tma { kind: TmaKind::Staged, .. }),
            args,
            ..
        } => args.last().copied(),
        StmtKind::Op { .. }
        | StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::Loop { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Ptx { .. }
        | StmtKind::Specialize { .. } => None,
    }
}

fn effect(op: Op, args: Vec<Value>, loc: Loc) -> Stmt {
    Stmt { kind: StmtKind::Op { op, args, result: None }, loc }
}

/// How many stages the allocations that pipelined loops fill are kept for.
pub fn rings(kernel: &Kernel) -> ArenaMap<Shared, u32> {
    let mut roots = BTreeMap::new();
    allocations(&kernel.body, &mut roots);
    let mut rings = ArenaMap::default();
    each_loop(&kernel.body, &mut |_, _, body| {
        let Some(found) = staged(body) else { return };
        for stmt in &body.stmts[..found.at] {
            if let Some(root) = filled(stmt).and_then(|window| roots.get(&key(window))) {
                rings.insert(*root, found.stages);
            }
        }
    });
    rings
}

/// Calls `each` with every counted loop, the outer ones first.
fn each_loop(region: &Region, each: &mut impl FnMut(&Stmt, Value, &Region)) {
    for stmt in &region.stmts {
        match &stmt.kind {
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => {}
            StmtKind::If { then, otherwise, .. } => {
                each_loop(then, each);
                each_loop(otherwise, each);
            }
            StmtKind::For { step, body, .. } => {
                each(stmt, *step, body);
                each_loop(body, each);
            }
            StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                stmt.kind.regions().into_iter().for_each(|body| each_loop(body, each));
            }
        }
    }
}

/// The allocation that each handle on a whole one stands for.
fn allocations(region: &Region, out: &mut BTreeMap<u32, Shared>) {
    for stmt in &region.stmts {
        match &stmt.kind {
            StmtKind::Op { op: Op::SharedAlloc(root), result: Some(result), .. } => {
                out.insert(key(*result), *root);
            }
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => {}
            StmtKind::If { then, otherwise, .. } => {
                allocations(then, out);
                allocations(otherwise, out);
            }
            StmtKind::For { .. } | StmtKind::Loop { .. } | StmtKind::Specialize { .. } => {
                stmt.kind.regions().into_iter().for_each(|body| allocations(body, out));
            }
        }
    }
}
