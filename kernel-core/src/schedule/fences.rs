//! Fences between what threads write to shared memory and what tensor maps and warpgroups read there.
//!
//! Threads write by one way to memory, asynchronous operations read by another (PTX ISA, "Proxies"): between a store and such a read there is
//! a fence in every thread that stored, and a barrier. A program that has none gets one in front of the read; where the read is in another
//! partition, in front of the arrival that tells it.

use std::collections::BTreeSet;

use super::{WALKED_AGAIN, nested_loops};
use crate::{
    ir::{
        Access, BarrierOp, ClusterOp, CtaGroup, Does, Kernel, Op, Region, Shared, Stmt, StmtKind,
        Type, Value,
    },
    loc::Loc,
};

/// Allocations that threads may have written since the last fence.
type Unfenced = BTreeSet<Shared>;

/// Puts the fences that are missing into a kernel.
pub fn fences(kernel: &mut Kernel) {
    let mut read = Unfenced::new();
    readers(kernel, &kernel.body, &mut read);
    if read.is_empty() {
        return;
    }
    let read_by_others = kernel.writes_others() || kernel.cta_group() == CtaGroup::Pair;
    let mut body = std::mem::take(&mut kernel.body);
    Pass { kernel, read: &read, read_by_others }.region(&mut body, Unfenced::new());
    kernel.body = body;
}

/// The allocations that asynchronous operations read.
fn readers(kernel: &Kernel, region: &Region, out: &mut Unfenced) {
    for stmt in &region.stmts {
        if let StmtKind::Op { op, args, .. } = &stmt.kind {
            out.extend(reads(kernel, op, args));
        }
        for inner in stmt.kind.regions() {
            readers(kernel, inner, out);
        }
    }
}

/// The allocations that an operation reads by the async proxy.
fn reads(kernel: &Kernel, op: &Op, args: &[Value]) -> Vec<Shared> {
    let accesses = kernel.shared_accesses(op, args).into_iter();
    let read = accesses.filter(|access| access.does == Does::Reads && !access.is_generic());
    read.filter_map(|access| root(kernel, access)).collect()
}

/// The allocation that is read or written.
fn root(kernel: &Kernel, access: Access) -> Option<Shared> {
    match kernel.ty(access.window) {
        Type::Shared(window) => Some(window.root),
        Type::Scalar(_)
        | Type::Tile(..)
        | Type::Barrier(_)
        | Type::TensorMemory(_)
        | Type::Error => None,
    }
}

fn fence(loc: Loc) -> Stmt {
    Stmt { kind: StmtKind::Op { op: Op::FenceAsync, args: Vec::new(), result: None }, loc }
}

struct Pass<'a> {
    kernel: &'a Kernel,
    read: &'a Unfenced,
    /// Other blocks read what threads write: in those, or by the tensor cores of a pair.
    read_by_others: bool,
}

impl Pass<'_> {
    /// The allocations that threads write by an operation, if something reads them asynchronously.
    fn written(&self, op: &Op, args: &[Value]) -> Unfenced {
        let accesses = self.kernel.shared_accesses(op, args).into_iter();
        let written = accesses.filter(|access| access.does == Does::Writes && access.is_generic());
        let roots = written.filter_map(|access| root(self.kernel, access));
        roots.filter(|root| self.read.contains(root)).collect()
    }

    /// Puts fences into a region that is entered with these allocations unfenced, and gives those at its end.
    fn region(&self, region: &mut Region, mut unfenced: Unfenced) -> Unfenced {
        let mut stmts = Vec::with_capacity(region.stmts.len());
        for mut stmt in std::mem::take(&mut region.stmts) {
            if self.needs(&stmt.kind, &unfenced) {
                stmts.push(fence(stmt.loc));
                unfenced.clear();
            }
            unfenced = self.after(&mut stmt.kind, unfenced);
            stmts.push(stmt);
        }
        region.stmts = stmts;
        unfenced
    }

    /// Whether a fence comes before a statement.
    fn needs(&self, kind: &StmtKind, unfenced: &Unfenced) -> bool {
        match kind {
            StmtKind::Op { op, args, .. } => {
                let meets = matches!(op, Op::Cluster(ClusterOp::Sync | ClusterOp::Arrive));
                let tells = matches!(op, Op::Barrier(BarrierOp::Arrive) | Op::Named(..))
                    || meets && self.read_by_others;
                tells && !unfenced.is_empty()
                    || reads(self.kernel, op, args).iter().any(|root| unfenced.contains(root))
            }
            // Other warps go on from here.
            StmtKind::Specialize { .. } => !unfenced.is_empty(),
            StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => false,
        }
    }

    /// What is unfenced after a statement.
    fn after(&self, kind: &mut StmtKind, mut unfenced: Unfenced) -> Unfenced {
        match kind {
            StmtKind::Op { op: Op::FenceAsync, .. } => Unfenced::new(),
            StmtKind::Op { op, args, .. } => {
                unfenced.extend(self.written(op, args));
                unfenced
            }
            StmtKind::If { then, otherwise, .. } => {
                let mut after = self.region(then, unfenced.clone());
                after.extend(self.region(otherwise, unfenced));
                after
            }
            StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
                // An iteration begins with what the one before has left.
                if nested_loops(body) > WALKED_AGAIN {
                    self.collect(body, &mut unfenced);
                } else {
                    let mut looked = body.clone();
                    let left = self.region(&mut looked, unfenced.clone());
                    unfenced.extend(left);
                    unfenced.extend(self.written_in(body));
                }
                let after = self.region(body, unfenced.clone());
                unfenced.extend(after);
                unfenced
            }
            StmtKind::Specialize { default, partitions, .. } => {
                for partition in partitions {
                    let left = self.region(&mut partition.body, Unfenced::new());
                    // Behind the end, the warps of the default part read it: they cannot fence what others wrote.
                    if let Some(last) = partition.body.stmts.last()
                        && !left.is_empty()
                    {
                        partition.body.stmts.push(fence(last.loc));
                    }
                }
                self.region(default, unfenced)
            }
            StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => unfenced,
        }
    }

    /// What a body that may be left from any place may leave unfenced.
    fn written_in(&self, region: &Region) -> Unfenced {
        if !jumps(region) {
            return Unfenced::new();
        }
        let mut all = Unfenced::new();
        self.collect(region, &mut all);
        all
    }

    fn collect(&self, region: &Region, out: &mut Unfenced) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, .. } = &stmt.kind {
                out.extend(self.written(op, args));
            }
            for inner in stmt.kind.regions() {
                self.collect(inner, out);
            }
        }
    }
}

/// Whether a branch in a region jumps out of it.
pub(super) fn jumps(region: &Region) -> bool {
    region.stmts.iter().flat_map(|stmt| stmt.kind.regions()).any(|inner| {
        use crate::ir::Terminator;
        matches!(inner.end, Terminator::Continue(..) | Terminator::Break(..)) || jumps(inner)
    })
}
