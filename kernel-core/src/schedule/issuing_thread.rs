//! The order between accesses of all threads and what one thread starts: products in tensor memory, and phases of barriers.
//!
//! A thread waits for its own loads and stores where they stand. Barriers order it with other threads and the tensor cores, with a fence on
//! either side (PTX ISA, "tcgen05.fence"): `before_thread_sync` between accesses of threads and a barrier, `after_thread_sync` between a
//! barrier and the next use of tensor memory. Fences stand only if there is something to order. One thread starts products: threads that
//! have accessed the accumulator meet before.
//!
//! One thread also calls `expect` and commits for its whole partition. It could then end a phase while other threads still wait for the one
//! before, and they would mistake the parity: threads that have waited on a barrier meet before one of them arrives there again for all.
//! Other partitions, which what it starts lets go on, could end a phase of every barrier: there threads that have waited on any of them meet.

use std::collections::BTreeSet;

use super::statement;
use crate::{
    ir::{
        Announcement, Barriers, By, Kernel, Memory, Stmt, StmtKind, SyncOp, Tcgen05, TensorMemory,
        Value, Wait,
        flow::{self, Flow, Insertions, Number, Part, Unsettled},
    },
    loc::Loc,
};

/// The state at a place of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// The threads have waited for others since the last `after_thread_sync`.
    waited: bool,
    /// They have accessed tensor memory since the last `before_thread_sync`.
    accessed: bool,
    /// The allocations that they have accessed since they last met.
    apart: BTreeSet<TensorMemory>,
    /// The barriers that they have waited on since they last met.
    awaited: BTreeSet<Barriers>,
}

impl State {
    /// The threads have met.
    fn meet(&mut self) {
        self.apart.clear();
        self.awaited.clear();
    }

    /// Puts a fence before what signals other threads, if one is needed.
    fn tell(&mut self, loc: Loc, out: &mut Vec<Stmt>) {
        if std::mem::take(&mut self.accessed) {
            out.push(statement(Tcgen05::FenceBefore, loc));
        }
    }
}

/// Inserts the fences of tensor memory, and meetings of the threads of a partition before what one of them does for all.
///
/// # Errors
/// See [`flow::solve`].
pub fn order_issuing_thread(kernel: &mut Kernel) -> Result<(), Unsettled> {
    if kernel.tensor_memory.is_empty() && kernel.barriers.is_empty() {
        return Ok(());
    }
    let specialized = kernel.specialized().is_some();
    let mut issuing =
        Issuing { kernel, specialized, warps: kernel.warps, out: Insertions::default() };
    flow::solve(&mut issuing, &kernel.body, &State::default())?;
    let Issuing { out, .. } = issuing;
    out.insert(&mut kernel.body);
    Ok(())
}

struct Issuing<'a> {
    kernel: &'a Kernel,
    /// The kernel has partitions.
    specialized: bool,
    /// The warps that run the statements.
    warps: u32,
    out: Insertions,
}

impl Issuing<'_> {
    fn barrier(&self, value: Value) -> Option<Barriers> {
        Some(self.kernel.ty(value).barrier()?.root)
    }

    /// Whether threads may still wait on a barrier of which what one of them does at `root` ends a phase.
    fn may_wait(&self, root: Barriers, state: &State) -> bool {
        if self.specialized { !state.awaited.is_empty() } else { state.awaited.contains(&root) }
    }

    /// What to insert before a statement; `state` becomes that after it.
    fn before(&self, stmt: &Stmt, state: &mut State) -> Vec<Stmt> {
        let (mut out, loc) = (Vec::new(), stmt.loc);
        let StmtKind::Op { op, args, result } = &stmt.kind else {
            if let StmtKind::Specialize { .. } = &stmt.kind {
                state.tell(loc, &mut out);
            }
            return out;
        };
        let effects = self.kernel.effects(op, args, *result);
        let windows = |by: By| {
            let accesses = effects.accesses.iter().filter(move |access| access.by == by);
            let roots = accesses.filter_map(|access| {
                let Memory::TensorMemory(window) = access.memory else { return None };
                let root = self.kernel.ty(window).tensor_memory()?.root;
                Some(self.kernel.tensor_columns(root))
            });
            roots.collect::<BTreeSet<TensorMemory>>()
        };
        let (of_threads, of_cores) = (windows(By::Threads), windows(By::TensorCores));
        // One thread does it for its whole partition; the lanes of one warp wait together.
        let for_all = match effects.announces {
            Some(Announcement::Expect(barrier) | Announcement::Commit { barrier, .. }) => {
                self.barrier(barrier).filter(|_| self.warps > 1)
            }
            Some(
                Announcement::Crew
                | Announcement::Named(_)
                | Announcement::Cluster
                | Announcement::Arrive(_)
                | Announcement::CpAsyncGroup
                | Announcement::NextGrid,
            )
            | None => None,
        };
        if for_all.is_some_and(|root| self.may_wait(root, state))
            || !of_cores.is_disjoint(&state.apart)
        {
            state.tell(loc, &mut out);
            out.push(statement(SyncOp::Block, loc));
            state.meet();
            state.waited = true;
        }
        if !(of_threads.is_empty() && of_cores.is_empty()) && std::mem::take(&mut state.waited) {
            out.push(statement(Tcgen05::FenceAfter, loc));
        }
        if !of_threads.is_empty() {
            state.accessed = true;
            state.apart.extend(of_threads);
        }
        if effects.tells_threads() {
            state.tell(loc, &mut out);
        }
        state.waited |= effects.waits_for_others();
        if effects.meets_crew() {
            state.meet();
        }
        for wait in &effects.waits {
            if let Wait::Barrier(barrier) = wait {
                state.awaited.extend(self.barrier(*barrier));
            }
        }
        out
    }
}

impl Flow for Issuing<'_> {
    type State = State;

    fn cross(&mut self, stmt: &Stmt, state: &mut State) {
        self.before(stmt, state);
    }

    fn join(&mut self, into: &mut State, other: &State) {
        into.waited |= other.waited;
        into.accessed |= other.accessed;
        into.apart.extend(&other.apart);
        into.awaited.extend(&other.awaited);
    }

    fn enter(&mut self, part: Part<'_>, _: &State) -> State {
        self.warps = part.warps.unwrap_or(self.kernel.warps);
        // Partitions begin with a fence of their own.
        State { waited: part.index == 0, ..State::default() }
    }

    fn behind_parts(&mut self, _: Loc, _: &State, left: Vec<Option<State>>) -> Option<State> {
        self.warps = self.kernel.warps;
        let accessed = left.into_iter().next()??.accessed;
        Some(State { accessed, waited: true, ..State::default() })
    }

    fn visit(&mut self, stmt: &Stmt, state: &State, number: Number) {
        let before = self.before(stmt, &mut state.clone());
        self.out.before.insert(number, before);
    }

    fn visit_part(&mut self, part: Part<'_>, left: &State, last: Option<Number>) {
        if let (Some(number), Some(last)) = (last, part.body.stmts.last())
            && part.index > 0
            && left.accessed
        {
            let fence = statement(Tcgen05::FenceBefore, last.loc);
            self.out.after.insert(number, vec![fence]);
        }
    }
}
