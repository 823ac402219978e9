//! The order between what threads do and what one of them starts: products in tensor memory, and phases of barriers.
//!
//! A thread's own loads and stores are waited for where they stand. What other threads do, and the tensor cores for one thread, is ordered by
//! barriers, with a fence on either side (PTX ISA, "tcgen05.fence"): `before_thread_sync` in front of a barrier behind accesses of threads,
//! `after_thread_sync` behind a barrier in front of what uses tensor memory next. Fences stand only where something is to be
//! ordered. One thread starts products: where all have written or read their sums before, they meet first.
//!
//! One thread also announces bytes and commits, for its whole partition. Where nothing else keeps the others beside it, it could end the
//! phase after the one that they still wait for, whose parity they would then take for that of the phase before: threads that have waited
//! for a barrier meet before one of them arrives there again for all.

use std::collections::BTreeSet;

use super::{WALKED_AGAIN, nested_loops};
use crate::{
    ir::{
        BarrierOp, Barriers, ClusterOp, Kernel, Op, Region, Stmt, StmtKind, Tcgen05, TensorMemory,
        TensorMemoryOp, Type, Value,
    },
    loc::Loc,
};

/// What has happened on the way to a place in a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// The threads have waited for others since the last fence behind that.
    waited: bool,
    /// They have accessed tensor memory since the last fence in front of a barrier.
    accessed: bool,
    /// The allocations that they have accessed since they last met.
    apart: BTreeSet<TensorMemory>,
    /// The barriers that they have waited for since they last met.
    awaited: BTreeSet<Barriers>,
}

impl State {
    fn join(&mut self, other: State) {
        self.waited |= other.waited;
        self.accessed |= other.accessed;
        self.apart.extend(other.apart);
        self.awaited.extend(other.awaited);
    }

    /// The threads have met.
    fn meet(&mut self) {
        self.apart.clear();
        self.awaited.clear();
    }
}

/// Puts the fences of tensor memory into a kernel, and meetings of the threads of a partition in front of what one of them does for all.
pub fn ahead(kernel: &mut Kernel) {
    if kernel.tensor_memory.is_empty() && kernel.barriers.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    Pass { kernel, warps: kernel.warps }.region(&mut body, State::default());
    kernel.body = body;
}

struct Pass<'a> {
    kernel: &'a Kernel,
    /// The warps that run the statements.
    warps: u32,
}

fn op(op: Op, loc: Loc) -> Stmt {
    Stmt { kind: StmtKind::Op { op, args: Vec::new(), result: None }, loc }
}

/// Whether threads go on behind an operation when others have come to it or to its like.
fn waits(op: &Op) -> bool {
    matches!(
        op,
        Op::Sync
            | Op::FenceAsync
            | Op::TmaWait { .. }
            | Op::Named(..)
            | Op::Barrier(BarrierOp::Wait | BarrierOp::Test)
            | Op::Cluster(ClusterOp::Sync | ClusterOp::Wait)
    )
}

/// Whether others go on when the threads have come to an operation.
fn tells(op: &Op) -> bool {
    matches!(
        op,
        Op::Sync
            | Op::FenceAsync
            | Op::TmaWait { .. }
            | Op::Named(..)
            | Op::Barrier(BarrierOp::Arrive | BarrierOp::Expect)
            | Op::Cluster(ClusterOp::Sync | ClusterOp::Arrive)
    )
}

impl Pass<'_> {
    fn roots(&self, args: &[Value]) -> Vec<TensorMemory> {
        let root = |value: &Value| match self.kernel.ty(*value) {
            Type::TensorMemory(window) => Some(self.kernel.tensor_columns(window.root)),
            Type::Scalar(_) | Type::Tile(..) | Type::Shared(_) | Type::Barrier(_) | Type::Error => {
                None
            }
        };
        args.iter().filter_map(root).collect()
    }

    fn barrier(&self, value: Value) -> Option<Barriers> {
        match self.kernel.ty(value) {
            Type::Barrier(barrier) => Some(barrier.root),
            Type::Scalar(_)
            | Type::Tile(..)
            | Type::Shared(_)
            | Type::TensorMemory(_)
            | Type::Error => None,
        }
    }

    /// Orders a region that is entered in this state, and gives the state at its end.
    fn region(&self, region: &mut Region, mut state: State) -> State {
        let mut stmts = Vec::with_capacity(region.stmts.len());
        for mut stmt in std::mem::take(&mut region.stmts) {
            let loc = stmt.loc;
            if let StmtKind::Op { op: what, args, .. } = &stmt.kind {
                self.before(what, args, loc, &mut state, &mut stmts);
            } else {
                if let StmtKind::Specialize { .. } = &stmt.kind {
                    Self::told(loc, &mut state, &mut stmts);
                }
                state = self.inside(&mut stmt.kind, state);
            }
            stmts.push(stmt);
        }
        region.stmts = stmts;
        state
    }

    /// Puts a fence in front of what tells others, where one is needed.
    fn told(loc: Loc, state: &mut State, out: &mut Vec<Stmt>) {
        if std::mem::take(&mut state.accessed) {
            out.push(op(Op::Tcgen05(Tcgen05::FenceBefore), loc));
        }
    }

    /// What comes in front of an operation, and the state behind it.
    fn before(&self, what: &Op, args: &[Value], loc: Loc, state: &mut State, out: &mut Vec<Stmt>) {
        let of_threads =
            matches!(what, Op::TensorMemory(TensorMemoryOp::Load | TensorMemoryOp::Store));
        let of_cores = matches!(what, Op::Tcgen05(one) if one.is_by_tensor_cores());
        let for_all =
            matches!(what, Op::Barrier(BarrierOp::Expect) | Op::Tcgen05(Tcgen05::Commit { .. }));
        let barrier = args.first().and_then(|&value| self.barrier(value));
        // The lanes of one warp wait together.
        let ahead =
            for_all && self.warps > 1 && barrier.is_some_and(|root| state.awaited.contains(&root));
        if ahead || of_cores && self.roots(args).iter().any(|root| state.apart.contains(root)) {
            Self::told(loc, state, out);
            out.push(op(Op::Sync, loc));
            state.meet();
            state.waited = true;
        }
        if (of_threads || of_cores) && std::mem::take(&mut state.waited) {
            out.push(op(Op::Tcgen05(Tcgen05::FenceAfter), loc));
        }
        if of_threads {
            state.accessed = true;
            state.apart.extend(self.roots(args));
        }
        if tells(what) {
            Self::told(loc, state, out);
        }
        state.waited |= waits(what);
        if matches!(
            what,
            Op::Sync | Op::FenceAsync | Op::TmaWait { .. } | Op::Cluster(ClusterOp::Sync)
        ) {
            state.meet();
        }
        if *what == Op::Barrier(BarrierOp::Wait) {
            state.awaited.extend(barrier);
        }
    }

    fn inside(&self, kind: &mut StmtKind, mut state: State) -> State {
        match kind {
            StmtKind::If { then, otherwise, .. } => {
                let other = self.region(otherwise, state.clone());
                let mut after = self.region(then, state);
                after.join(other);
                after
            }
            StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
                // An iteration begins with what the one before has left; it may be left from anywhere.
                if nested_loops(body) > WALKED_AGAIN {
                    self.collect(body, &mut state);
                    let left = self.region(body, state.clone());
                    state.join(left);
                    return state;
                }
                loop {
                    let mut looked = body.clone();
                    let mut entered = state.clone();
                    entered.join(self.region(&mut looked, state.clone()));
                    entered.join(self.anywhere(body));
                    if entered == state {
                        break;
                    }
                    state = entered;
                }
                let left = self.region(body, state.clone());
                state.join(left);
                state
            }
            StmtKind::Specialize { default, partitions, .. } => {
                let met = State { waited: true, ..State::default() };
                for partition in partitions {
                    // Partitions begin with a fence of their own.
                    let own = Pass { warps: partition.warps, ..*self };
                    let left = own.region(&mut partition.body, State::default());
                    if left.accessed
                        && let Some(last) = partition.body.stmts.last()
                    {
                        let loc = last.loc;
                        partition.body.stmts.push(op(Op::Tcgen05(Tcgen05::FenceBefore), loc));
                    }
                }
                let left = self.region(default, met.clone());
                State { accessed: left.accessed, ..met }
            }
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => state,
        }
    }

    /// What a body may leave behind that is left from the middle.
    fn anywhere(&self, region: &Region) -> State {
        let mut state = State::default();
        if super::fences::jumps(region) {
            self.collect(region, &mut state);
        }
        state
    }

    fn collect(&self, region: &Region, state: &mut State) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op: what, args, .. } = &stmt.kind {
                state.waited |= waits(what);
                if *what == Op::Barrier(BarrierOp::Wait) {
                    state.awaited.extend(args.first().and_then(|&value| self.barrier(value)));
                }
                if matches!(what, Op::TensorMemory(TensorMemoryOp::Load | TensorMemoryOp::Store)) {
                    state.accessed = true;
                    state.apart.extend(self.roots(args));
                }
            }
            for inner in stmt.kind.regions() {
                self.collect(inner, state);
            }
        }
    }
}
