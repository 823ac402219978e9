//! Loops over `pipeline(range, stages)`: what of an iteration the schedule starts ahead.

use la_arena::ArenaMap;

use super::{
    CopyOp, Kernel, Op, Region, Shared, Stmt, StmtKind, SyncOp, Tma, TmaKind, Value, WindowOp,
};
use crate::loc::Loc;

/// What of an iteration stands before [`CopyOp::Staged`], and how many places the ring has.
#[derive(Clone, Copy, Debug)]
pub struct Staged {
    /// How many statements.
    pub at: usize,
    /// The places.
    pub stages: u32,
}

impl Region {
    /// Whether this is the body of a pipelined loop.
    pub fn staged(&self) -> Option<Staged> {
        self.stmts.iter().enumerate().find_map(|(at, stmt)| {
            let StmtKind::Op { op: Op::Copy(CopyOp::Staged(stages)), .. } = &stmt.kind else {
                return None;
            };
            Some(Staged { at, stages: *stages })
        })
    }

    /// Puts [`CopyOp::Staged`] after the copies at the start of an iteration, and a barrier at its end.
    pub fn stage(&mut self, stages: u32, loc: Loc) {
        let effect = |op| Stmt { kind: StmtKind::Op { op, args: Vec::new(), result: None }, loc };
        let is_pure = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure());
        let is_copy = |stmt: &Stmt| stmt.fills_ahead().is_some();
        let head = self.stmts.iter().position(|stmt| !is_pure(stmt) && !is_copy(stmt));
        let head = &self.stmts[..head.unwrap_or(self.stmts.len())];
        let at = head.iter().rposition(is_copy).map_or(0, |last| last + 1);
        self.stmts.insert(at, effect(Op::Copy(CopyOp::Staged(stages))));
        self.stmts.push(effect(Op::Sync(SyncOp::Block)));
    }

    /// The allocation that each handle on a whole one stands for.
    pub fn allocations(&self) -> ArenaMap<Value, Shared> {
        let mut found = ArenaMap::default();
        self.each_op(&mut |op, _, result, _| {
            if let (Op::Window(WindowOp::Alloc(root)), Some(result)) = (op, result) {
                found.insert(result, *root);
            }
        });
        found
    }
}

impl Stmt {
    /// The window that it fills, if it is a copy that a loop can start ahead.
    pub fn fills_ahead(&self) -> Option<Value> {
        let StmtKind::Op { op, args, .. } = &self.kind else { return None };
        let ahead = matches!(
            op,
            Op::Copy(CopyOp::Async(_) | CopyOp::Tma(Tma { kind: TmaKind::Staged, .. }))
        );
        args.last().copied().filter(|_| ahead)
    }
}

impl Kernel {
    /// How many places the allocations have that pipelined loops fill.
    pub fn rings(&self) -> ArenaMap<Shared, u32> {
        let roots = self.body.allocations();
        let mut rings = ArenaMap::default();
        self.body.each_stmt(&mut |stmt| {
            let StmtKind::For { body, .. } = &stmt.kind else { return };
            let Some(found) = body.staged() else { return };
            for stmt in &body.stmts[..found.at] {
                if let Some(root) = stmt.fills_ahead().and_then(|window| roots.get(window)) {
                    rings.insert(*root, found.stages);
                }
            }
        });
        rings
    }
}
