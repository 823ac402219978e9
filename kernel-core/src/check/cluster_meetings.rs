//! Where the blocks of a cluster meet: a block arrives when all of its threads do.

use crate::{
    diag::{Code, Diagnostic},
    ir::{ClusterOp, Kernel, Op, Region, Stmt, StmtKind, SyncOp, Terminator},
    loc::Loc,
};

/// Where the blocks of a cluster would meet with some of their warps alone.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    fn meetings(stmts: &[Stmt], out: &mut Vec<Loc>) {
        for stmt in stmts {
            if let StmtKind::Op {
                op: Op::Sync(SyncOp::Cluster(ClusterOp::Sync | ClusterOp::Arrive | ClusterOp::Wait)),
                ..
            } = &stmt.kind
            {
                out.push(stmt.loc);
            }
            stmt.kind.regions().into_iter().for_each(|inner| meetings(&inner.stmts, out));
        }
    }
    fn returns(region: &Region) -> bool {
        region.end == Terminator::Return
            || region.stmts.iter().any(|stmt| stmt.kind.regions().into_iter().any(returns))
    }
    let Some(found) = kernel.specialized() else { return Vec::new() };
    let (mut places, mut ended) = (Vec::new(), false);
    for stmt in &kernel.body.stmts[..=found.at] {
        let regions = stmt.kind.regions();
        if ended {
            meetings(std::slice::from_ref(stmt), &mut places);
        } else {
            for inner in &regions {
                meetings(&inner.stmts, &mut places);
            }
        }
        ended |= regions.into_iter().any(returns);
    }
    let problem = |loc| {
        let headline = "the blocks of a cluster meet at a place that not all of their warps reach";
        Diagnostic::new(Code::Specialize, loc, headline)
            .compare("", "a statement of the kernel's body", "one in a partition, a loop or a branch, or after a `return`")
            .why("a block arrives when all of its threads do; before `warp_specialize` the warps of partitions arrive as well, but they do not run loops and branches")
    };
    places.into_iter().map(problem).collect()
}
