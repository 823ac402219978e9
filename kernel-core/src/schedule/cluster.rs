//! The end of a kernel whose blocks reach each other.
//!
//! A block that has ended has no shared memory any more, so no block ends before the others are done with what it has. Where a
//! program reaches another block and does not meet the cluster afterwards, the blocks meet at its end.

use super::fences::jumps;
use crate::ir::{ClusterOp, Kernel, Op, Region, Stmt, StmtKind, Terminator};

/// What may still be going on in other blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// Since the blocks met.
    open: bool,
    /// Since this block arrived where they meet next.
    since_arrival: bool,
}

impl Reach {
    fn or(self, other: Reach) -> Reach {
        Reach {
            open: self.open || other.open,
            since_arrival: self.since_arrival || other.since_arrival,
        }
    }
}

/// Has the blocks of a cluster meet at the end of a kernel, where one may still be reached by another.
pub fn meet_at_the_end(kernel: &mut Kernel) {
    if !walk(kernel, &kernel.body, Reach::default()).open || kernel.body.end != Terminator::Return {
        return;
    }
    let Some(loc) = kernel.body.stmts.last().map(|stmt| stmt.loc) else { return };
    let (op, args) = (Op::Cluster(ClusterOp::Sync), Vec::new());
    kernel.body.stmts.push(Stmt { kind: StmtKind::Op { op, args, result: None }, loc });
}

fn walk(kernel: &Kernel, region: &Region, mut reach: Reach) -> Reach {
    for stmt in &region.stmts {
        reach = after(kernel, &stmt.kind, reach);
    }
    reach
}

fn after(kernel: &Kernel, kind: &StmtKind, reach: Reach) -> Reach {
    match kind {
        StmtKind::Op { op: Op::Cluster(ClusterOp::Sync), .. } => Reach::default(),
        StmtKind::Op { op: Op::Cluster(ClusterOp::Arrive), .. } => {
            Reach { since_arrival: false, ..reach }
        }
        StmtKind::Op { op: Op::Cluster(ClusterOp::Wait), .. } => {
            Reach { open: reach.since_arrival, ..reach }
        }
        StmtKind::Op { op, args, .. } if kernel.reaches(op, args) => {
            Reach { open: true, since_arrival: true }
        }
        StmtKind::Op { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Ptx { .. } => reach,
        StmtKind::If { .. } | StmtKind::Specialize { .. } => kind
            .regions()
            .into_iter()
            .map(|inner| walk(kernel, inner, reach))
            .fold(Reach::default(), Reach::or),
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
            // It may be left from any place, or not be entered.
            let whole = Reach { open: kernel.reaches_in(body), since_arrival: reach.since_arrival };
            let once = walk(kernel, body, reach);
            let again = walk(kernel, body, once);
            let left_early = if jumps(body) { whole } else { Reach::default() };
            reach.or(once).or(again).or(left_early)
        }
    }
}
