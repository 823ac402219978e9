//! The end of a kernel whose blocks reach each other.
//!
//! A block that has ended has no shared memory any more, so no block ends before the others are done with what it has. Where a
//! program reaches another block and does not meet the cluster afterwards, the blocks meet at its end. Pairs of blocks always do, when they
//! give back their tensor memory.

use super::fences::jumps;
use crate::ir::{ClusterOp, CtaGroup, Kernel, Op, Region, Stmt, StmtKind, Terminator};

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

/// What a piece of a program makes of each [`Reach`]. Each region is walked once, however deep it lies in loops, which run again with what
/// they leave.
#[derive(Clone, Copy)]
struct Effect([Reach; 4]);

impl Effect {
    fn each(effect: impl Fn(Reach) -> Reach) -> Effect {
        Effect(
            [(false, false), (true, false), (false, true), (true, true)]
                .map(|(open, since_arrival)| effect(Reach { open, since_arrival })),
        )
    }

    fn nothing() -> Effect {
        Effect::each(|reach| reach)
    }

    fn of(self, reach: Reach) -> Reach {
        self.0[usize::from(reach.open) + 2 * usize::from(reach.since_arrival)]
    }

    fn then(self, next: Effect) -> Effect {
        Effect::each(|reach| next.of(self.of(reach)))
    }

    fn or(self, other: Effect) -> Effect {
        Effect::each(|reach| self.of(reach).or(other.of(reach)))
    }
}

/// Has the blocks of a cluster meet at the end of a kernel, where one may still be reached by another.
pub fn meet_at_the_end(kernel: &mut Kernel) {
    if kernel.cta_group() == CtaGroup::Pair
        || !walk(kernel, &kernel.body).of(Reach::default()).open
        || kernel.body.end != Terminator::Return
    {
        return;
    }
    let Some(loc) = kernel.body.stmts.last().map(|stmt| stmt.loc) else { return };
    let (op, args) = (Op::Cluster(ClusterOp::Sync), Vec::new());
    kernel.body.stmts.push(Stmt { kind: StmtKind::Op { op, args, result: None }, loc });
}

fn walk(kernel: &Kernel, region: &Region) -> Effect {
    region
        .stmts
        .iter()
        .fold(Effect::nothing(), |effect, stmt| effect.then(after(kernel, &stmt.kind)))
}

fn after(kernel: &Kernel, kind: &StmtKind) -> Effect {
    match kind {
        StmtKind::Op { op: Op::Cluster(ClusterOp::Sync), .. } => Effect::each(|_| Reach::default()),
        StmtKind::Op { op: Op::Cluster(ClusterOp::Arrive), .. } => {
            Effect::each(|reach| Reach { since_arrival: false, ..reach })
        }
        StmtKind::Op { op: Op::Cluster(ClusterOp::Wait), .. } => {
            Effect::each(|reach| Reach { open: reach.since_arrival, ..reach })
        }
        StmtKind::Op { op, args, .. } if kernel.reaches(op, args) => {
            Effect::each(|_| Reach { open: true, since_arrival: true })
        }
        StmtKind::Op { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Ptx { .. } => Effect::nothing(),
        StmtKind::If { .. } | StmtKind::Specialize { .. } => kind
            .regions()
            .into_iter()
            .map(|inner| walk(kernel, inner))
            .reduce(Effect::or)
            .unwrap_or_else(Effect::nothing),
        StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
            let once = walk(kernel, body);
            let iterations = Effect::nothing().or(once).or(once.then(once));
            // It may be left from any place, or not be entered.
            if jumps(body) {
                let open = kernel.reaches_in(body);
                iterations.or(Effect::each(|reach| Reach { open, ..reach }))
            } else {
                iterations
            }
        }
    }
}
