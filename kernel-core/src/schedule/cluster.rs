//! The end of a kernel whose blocks access each other.
//!
//! A block that has ended has no shared memory any more, so no block ends before the others are done with it. If a program accesses
//! another block and does not synchronise the cluster afterwards, the blocks meet at its end. Pairs of blocks always do, when they free
//! their tensor memory.

use super::statement;
use crate::ir::{
    Announcement, ClusterOp, CtaGroup, Kernel, Stmt, StmtKind, Terminator, Wait,
    flow::{self, Flow, Unsettled},
};

/// Accesses of other blocks that may not be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reach {
    /// Since the blocks met.
    open: bool,
    /// Since this block arrived at the next meeting.
    since_arrival: bool,
}

/// Puts a meeting of the cluster's blocks at the end of a kernel, if one may still access another.
///
/// # Errors
/// See [`flow::solve`].
pub fn meet_at_the_end(kernel: &mut Kernel) -> Result<(), Unsettled> {
    if kernel.cta_group() == CtaGroup::Pair || kernel.body.end != Terminator::Return {
        return Ok(());
    }
    let left = flow::solve(&mut Reaching { kernel }, &kernel.body, &Reach::default())?;
    if left.is_some_and(|reach| reach.open)
        && let Some(loc) = kernel.body.stmts.last().map(|stmt| stmt.loc)
    {
        kernel.body.stmts.push(statement(ClusterOp::Sync, loc));
    }
    Ok(())
}

struct Reaching<'a> {
    kernel: &'a Kernel,
}

impl Flow for Reaching<'_> {
    type State = Reach;

    fn cross(&mut self, stmt: &Stmt, reach: &mut Reach) {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        let effects = self.kernel.effects(op, args, *result);
        let arrives = effects.announces == Some(Announcement::Cluster);
        let waits = effects.waits.contains(&Wait::Cluster);
        match (arrives, waits) {
            (true, true) => *reach = Reach::default(),
            (true, false) => reach.since_arrival = false,
            (false, true) => reach.open = reach.since_arrival,
            (false, false) if self.kernel.reaches(op, args) => {
                *reach = Reach { open: true, since_arrival: true };
            }
            (false, false) => {}
        }
    }

    fn join(&mut self, into: &mut Reach, other: &Reach) {
        into.open |= other.open;
        into.since_arrival |= other.since_arrival;
    }
}
