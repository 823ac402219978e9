//! Fences between what threads write to shared memory and what TMA copies and the tensor cores read there.
//!
//! Threads write through the generic proxy, asynchronous operations read through the async proxy (PTX ISA, "Proxies"): between a store and such
//! a read there has to be a fence in every thread that stored, and a barrier. A program without one gets it before the read, or, if the
//! read is in another partition, before what signals that partition: an arrival, or bytes or a commit on a barrier that it waits on.

use std::collections::BTreeSet;

use super::statement;
use crate::ir::{
    Access, Announcement, Barriers, Blocks, By, CtaGroup, Fence, Kernel, Memory, Shared,
    Specialized, Stmt, StmtKind, SyncOp, Value, Wait,
    flow::{self, Flow, Insertions, Number, Part, Unsettled},
};
use crate::loc::Loc;

/// Allocations.
type Roots = BTreeSet<Shared>;

/// What threads may have written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Unfenced {
    /// Since the last fence.
    written: Roots,
    /// By `cp.async` that no wait has covered: a fence before the wait does not order it.
    copying: Roots,
}

/// Puts the fences that are missing into a kernel.
///
/// # Errors
/// See [`flow::solve`].
pub fn fences(kernel: &mut Kernel) -> Result<(), Unsettled> {
    let mut read = Roots::new();
    kernel.body.each_op(&mut |op, args, result, _| {
        let effects = kernel.effects(op, args, result);
        let by_async = effects.reads().filter(|access| !access.is_generic());
        read.extend(by_async.filter_map(|access| root(kernel, access)));
    });
    if read.is_empty() {
        return Ok(());
    }
    let read_by_others = kernel.writes_others() || kernel.cta_group() == CtaGroup::Pair;
    let mut fences = Fences {
        kernel,
        read,
        read_by_others,
        waited: waited(kernel),
        part: None,
        out: Insertions::default(),
    };
    flow::solve(&mut fences, &kernel.body, &Unfenced::default())?;
    let Fences { out, .. } = fences;
    out.insert(&mut kernel.body);
    Ok(())
}

/// The parts of the kernel's `warp_specialize` that wait on barriers of an allocation, by their numbers.
type Waited = BTreeSet<(usize, Barriers)>;

fn waited(kernel: &Kernel) -> Waited {
    let mut waited = Waited::new();
    let Some(Specialized { default, partitions, .. }) = kernel.specialized() else { return waited };
    let others = partitions.iter().map(|partition| &partition.body);
    for (part, body) in std::iter::once(default).chain(others).enumerate() {
        body.each_op(&mut |op, args, result, _| {
            for wait in kernel.effects(op, args, result).waits {
                if let Some(barrier) = wait.barrier() {
                    let root = kernel.ty(barrier).barrier().map(|barrier| barrier.root);
                    waited.extend(root.map(|root| (part, root)));
                }
            }
        });
    }
    waited
}

/// The allocation of shared memory that is accessed.
fn root(kernel: &Kernel, access: &Access) -> Option<Shared> {
    let Memory::Shared(window) = access.memory else { return None };
    Some(kernel.ty(window).shared()?.root)
}

struct Fences<'a> {
    kernel: &'a Kernel,
    /// The allocations that asynchronous operations read.
    read: Roots,
    /// Other blocks read what threads write: in those, or by the tensor cores of a pair.
    read_by_others: bool,
    waited: Waited,
    /// The part that is followed; none outside of parts.
    part: Option<usize>,
    out: Insertions,
}

impl Fences<'_> {
    /// Whether another part waits on a barrier.
    fn tells(&self, barrier: Value) -> bool {
        let root = self.kernel.ty(barrier).barrier().map(|barrier| barrier.root);
        self.part.is_some_and(|own| {
            self.waited.iter().any(|&(part, waited)| part != own && Some(waited) == root)
        })
    }

    /// Whether a fence comes before a statement.
    fn needed(&self, stmt: &Stmt, unfenced: &Unfenced) -> bool {
        let StmtKind::Op { op, args, result } = &stmt.kind else {
            // Other warps continue from `warp_specialize`.
            return matches!(stmt.kind, StmtKind::Specialize { .. })
                && !unfenced.written.is_empty();
        };
        let effects = self.kernel.effects(op, args, *result);
        let tells = match effects.announces {
            Some(Announcement::Arrive(_) | Announcement::Named(_)) => true,
            Some(Announcement::Cluster) => self.read_by_others,
            Some(Announcement::Expect(barrier)) => self.tells(barrier),
            Some(Announcement::Commit { barrier, blocks }) => {
                self.tells(barrier) || self.read_by_others && blocks != Blocks::One
            }
            // Threads of one partition need no fence when they meet, if none of them reads asynchronously.
            Some(Announcement::Crew | Announcement::CpAsyncGroup | Announcement::NextGrid)
            | None => false,
        };
        let mut read = effects.reads().filter(|access| !access.is_generic());
        let is_unfenced = |access: &Access| {
            root(self.kernel, access).is_some_and(|root| unfenced.written.contains(&root))
        };
        tells && !unfenced.written.is_empty() || read.any(is_unfenced)
    }
}

impl Flow for Fences<'_> {
    type State = Unfenced;

    fn cross(&mut self, stmt: &Stmt, unfenced: &mut Unfenced) {
        if self.needed(stmt, unfenced) {
            unfenced.written.clear();
        }
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        let effects = self.kernel.effects(op, args, *result);
        if effects.fence == Some(Fence::Async) {
            unfenced.written.clear();
        }
        for wait in &effects.waits {
            if let Wait::CpAsync { .. } | Wait::CpAsyncAll = wait {
                unfenced.written.extend(&unfenced.copying);
            }
            if let Wait::CpAsync { pending: 0 } | Wait::CpAsyncAll = wait {
                unfenced.copying.clear();
            }
        }
        for access in effects.writes().filter(|access| access.is_generic()) {
            let root = root(self.kernel, access).filter(|root| self.read.contains(root));
            match access.by {
                By::CpAsync => unfenced.copying.extend(root),
                By::Threads | By::AsyncCopy | By::TensorCores => unfenced.written.extend(root),
            }
        }
    }

    fn join(&mut self, into: &mut Unfenced, other: &Unfenced) {
        into.written.extend(&other.written);
        into.copying.extend(&other.copying);
    }

    fn enter(&mut self, part: Part<'_>, before: &Unfenced) -> Unfenced {
        self.part = Some(part.index);
        if part.index == 0 { before.clone() } else { Unfenced::default() }
    }

    fn behind_parts(
        &mut self,
        _: Loc,
        _: &Unfenced,
        left: Vec<Option<Unfenced>>,
    ) -> Option<Unfenced> {
        self.part = None;
        left.into_iter().next()?
    }

    fn visit(&mut self, stmt: &Stmt, unfenced: &Unfenced, number: Number) {
        if self.needed(stmt, unfenced) {
            self.out.before.insert(number, vec![statement(SyncOp::FenceAsync, stmt.loc)]);
        }
    }

    fn visit_part(&mut self, part: Part<'_>, left: &Unfenced, last: Option<Number>) {
        // Afterwards the warps of the default part read it, and they cannot fence what others wrote.
        if let (Some(number), Some(last)) = (last, part.body.stmts.last())
            && part.index > 0
            && !left.written.is_empty()
        {
            self.out.after.insert(number, vec![statement(SyncOp::FenceAsync, last.loc)]);
        }
    }
}
