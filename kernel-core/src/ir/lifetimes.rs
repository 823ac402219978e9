//! Which shared allocations are never in use at the same time.
//!
//! Two allocations are apart if the kernel's body is done with the one at a barrier of the block, and begins with the other after it:
//!
//! ```text
//! a.store(x); sync(); y = a.load();   <- the last statement that touches a
//! sync();                             <- every thread is done with a
//! b.store(y); ..                      <- the first statement that touches b
//! ```
//!
//! A statement of the body with regions, such as a loop, touches what is touched inside it, from its beginning to its end. Copies in
//! groups are over once a wait for all of them stands before the barrier. What another proxy or another block accesses, whose order is not
//! that of barriers alone, is apart from nothing.

use std::collections::BTreeMap;

use super::{
    By, CopyOp, Done, Kernel, Memory, Op, Shared, Stmt, StmtKind, SyncOp, Type, Value, Wait,
};

/// The statements of the body that touch an allocation.
#[derive(Clone, Copy, Debug)]
struct Touches {
    first: usize,
    last: usize,
    /// The last one that starts a copy in a group.
    copies: Option<usize>,
    /// Something accesses it that barriers of the block do not order.
    others: bool,
}

/// When the allocations of a kernel are in use.
#[derive(Debug, Default)]
pub struct Lifetimes {
    touches: BTreeMap<Shared, Touches>,
    /// The statements of the body that are barriers of the block.
    barriers: Vec<usize>,
    /// Those that wait for all copies of a thread, in groups or not.
    waits: Vec<usize>,
    /// Those that wait for all groups of copies.
    group_waits: Vec<usize>,
    /// Those that close a group of copies.
    commits: Vec<usize>,
}

impl Kernel {
    /// When its allocations are in use; all of them all the time in a kernel of partitions or clusters, and in one whose text accesses
    /// memory.
    pub fn lifetimes(&self) -> Lifetimes {
        let mut found = Lifetimes::default();
        let alone = self.cluster.iter().product::<u32>() == 1 && self.specialized().is_none();
        if !alone {
            return found;
        }
        for (at, stmt) in self.body.stmts.iter().enumerate() {
            if !found.note(self, stmt, at) {
                return Lifetimes::default();
            }
        }
        found
    }
}

impl Lifetimes {
    /// Whether two allocations are never in use at the same time.
    pub fn are_apart(&self, one: Shared, other: Shared) -> bool {
        self.is_before(one, other) || self.is_before(other, one)
    }

    fn is_before(&self, one: Shared, other: Shared) -> bool {
        let (Some(one), Some(other)) = (self.touches.get(&one), self.touches.get(&other)) else {
            return false;
        };
        let over = match one.copies {
            None => Some(one.last),
            Some(copy) => self.copied_at(copy),
        };
        let over = over.map(|over| over.max(one.last));
        let meets = |over: usize| self.barriers.iter().any(|at| over < *at && *at < other.first);
        !one.others && !other.others && over.is_some_and(meets)
    }

    /// The first statement after which a copy is over that a statement starts.
    fn copied_at(&self, copy: usize) -> Option<usize> {
        let after = |list: &[usize], from: usize| list.iter().copied().find(|at| *at > from);
        let in_group = after(&self.commits, copy).and_then(|at| after(&self.group_waits, at));
        after(&self.waits, copy).into_iter().chain(in_group).min()
    }

    /// Notes what a statement of the body touches; whether that is all that it may touch.
    fn note(&mut self, kernel: &Kernel, stmt: &Stmt, at: usize) -> bool {
        if let StmtKind::Op { op, args, .. } = &stmt.kind {
            if matches!(op, Op::Sync(SyncOp::Block)) {
                self.barriers.push(at);
            }
            if matches!(op, Op::Copy(CopyOp::Commit)) {
                self.commits.push(at);
            }
            for wait in kernel.effects(op, args, None).waits {
                if wait == Wait::CpAsyncAll {
                    self.waits.push(at);
                } else if wait == (Wait::CpAsync { pending: 0 }) {
                    self.group_waits.push(at);
                }
            }
        }
        let mut certain = true;
        let mut visit = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Op { op, args, .. } => self.operation(kernel, op, args, at),
            StmtKind::If { results, .. }
            | StmtKind::For { results, .. }
            | StmtKind::Loop { results, .. }
            | StmtKind::Specialize { results, .. } => {
                // Which allocation a handle is that a branch or a loop gives is in its type.
                for value in results {
                    self.touch(kernel, *value, at);
                }
            }
            StmtKind::Ptx { code, .. } => certain &= !code.touches_memory(),
            StmtKind::Reduce { .. } | StmtKind::Scan { .. } => {}
        };
        visit(stmt);
        for region in stmt.kind.regions() {
            region.each_stmt(&mut visit);
        }
        certain
    }

    fn operation(&mut self, kernel: &Kernel, op: &Op, args: &[Value], at: usize) {
        // A handle alone is no use of the memory.
        if op.is_pure() {
            return;
        }
        for value in args {
            self.touch(kernel, *value, at);
        }
        for access in kernel.effects(op, args, None).accesses {
            let Memory::Shared(window) = access.memory else { continue };
            let Some(window) = kernel.ty(window).shared() else { continue };
            let Some(touches) = self.touches.get_mut(&window.root) else { continue };
            let by_threads = match access.by {
                By::Threads | By::CpAsync => true,
                By::AsyncCopy | By::TensorCores => false,
            };
            match access.done {
                Done::AtOnce => {}
                Done::CpAsyncGroup => touches.copies = Some(at),
                Done::Barrier(_)
                | Done::BulkGroup
                | Done::WgmmaGroup
                | Done::Commit
                | Done::Pipeline => touches.others = true,
            }
            touches.others |= !by_threads || window.remote;
        }
    }

    fn touch(&mut self, kernel: &Kernel, value: Value, at: usize) {
        let Type::Shared(window) = kernel.ty(value) else { return };
        let new = Touches { first: at, last: at, copies: None, others: false };
        let touches = self.touches.entry(window.root).or_insert(new);
        touches.last = at;
    }
}

#[cfg(test)]
mod tests;
