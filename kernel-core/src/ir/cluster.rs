//! What a kernel does in the other blocks of its cluster.

use std::collections::BTreeSet;

use super::{
    BarrierOp, Barriers, BulkKind, ClusterOp, CtaGroup, Kernel, Op, Region, Shared, StmtKind,
    Tcgen05, TmaKind, Type, Value,
};

impl Kernel {
    /// Whether an operation touches what another block of the cluster has: its shared memory, or a barrier of its own.
    ///
    /// A copy to several blocks does not count: what it writes in another block, that block waits for. A commit does: nobody has to
    /// wait for a buffer that is not filled again.
    pub fn reaches(&self, op: &Op, args: &[Value]) -> bool {
        let remote = |value: &Value| match self.ty(*value) {
            Type::Shared(window) => window.remote,
            Type::Barrier(barrier) => barrier.remote,
            Type::Scalar(_) | Type::Tile(..) | Type::TensorMemory(_) | Type::Error => false,
        };
        // The block of even rank starts copies of both.
        let pair = matches!(op, Op::Tcgen05(Tcgen05::Mma { group: CtaGroup::Pair, .. }))
            || matches!(op, Op::Tcgen05(Tcgen05::Copy { .. }))
                && self.cta_group() == CtaGroup::Pair;
        let told = matches!(op, Op::Tcgen05(started) if started.mask(args).is_some());
        pair || told || !op.is_pure() && args.iter().any(remote)
    }

    /// Whether a region, or one inside it, reaches another block.
    pub fn reaches_in(&self, region: &Region) -> bool {
        region.stmts.iter().any(|stmt| self.reaches_by(&stmt.kind))
    }

    fn reaches_by(&self, kind: &StmtKind) -> bool {
        if let StmtKind::Op { op, args, .. } = kind {
            return self.reaches(op, args);
        }
        kind.regions().into_iter().any(|inner| self.reaches_in(inner))
    }

    /// Whether the blocks of a cluster have to meet before the kernel begins: one of them makes barriers that others arrive at, or
    /// reaches another one that may not have begun, or uses its tensor memory.
    pub fn meets_first(&self) -> bool {
        if self.cluster == [1; 3] {
            return false;
        }
        if !self.barriers.is_empty() || self.cta_group() == CtaGroup::Pair {
            return true;
        }
        for stmt in &self.body.stmts {
            match &stmt.kind {
                StmtKind::Op { op: Op::Cluster(ClusterOp::Sync | ClusterOp::Wait), .. } => {
                    return false;
                }
                kind if self.reaches_by(kind) => return true,
                StmtKind::Op { .. }
                | StmtKind::If { .. }
                | StmtKind::For { .. }
                | StmtKind::Loop { .. }
                | StmtKind::Reduce { .. }
                | StmtKind::Scan { .. }
                | StmtKind::Ptx { .. }
                | StmtKind::Specialize { .. } => {}
            }
        }
        false
    }

    /// Whose tensor cores work together. Pairs of blocks multiply together only in kernels that do everything so.
    pub fn cta_group(&self) -> CtaGroup {
        let pair = self.any_op(&mut |op, _| {
            matches!(op, Op::Tcgen05(Tcgen05::Mma { group: CtaGroup::Pair, .. }))
        });
        if pair { CtaGroup::Pair } else { CtaGroup::One }
    }

    /// Whether other blocks arrive at the barriers of an allocation, or have their bytes counted there.
    pub fn hears_others(&self, root: Barriers) -> bool {
        self.is_sent_to(root)
            || self.any_op(&mut |op, args| {
                let commits = matches!(op, Op::Tcgen05(started) if started.mask(args).is_some());
                (commits || *op == Op::Barrier(BarrierOp::Remote)) && self.names(args, root)
            })
    }

    /// Whether the barriers of an allocation count what other blocks send.
    pub fn is_sent_to(&self, root: Barriers) -> bool {
        self.any_op(&mut |op, args| {
            let sends = matches!(op, Op::Bulk(bulk) if bulk.kind == BulkKind::Send);
            (sends || *op == Op::StoreAsync) && self.names(args, root)
        })
    }

    fn names(&self, args: &[Value], root: Barriers) -> bool {
        args.iter().any(|value| match self.ty(*value) {
            Type::Barrier(barrier) => barrier.root == root,
            Type::Scalar(_)
            | Type::Tile(..)
            | Type::Shared(_)
            | Type::TensorMemory(_)
            | Type::Error => false,
        })
    }

    /// Whether an arrival at another block's barrier has to order what threads did before it: accesses to another block's shared
    /// memory, or writes to global memory that the kernel reads as well; of a pair, writes to shared memory that the tensor cores read for the
    /// other block; and what threads read of a copy that another block has waited for.
    ///
    /// Otherwise it says only that the own shared memory has been read, by operations that are waited for.
    pub fn orders_others(&self) -> bool {
        let (mut written, mut read) = (BTreeSet::new(), BTreeSet::new());
        let (mut stores, mut loads) = (false, false);
        let pair = self.cta_group() == CtaGroup::Pair;
        let (mut stored, mut multiplied) = (BTreeSet::new(), BTreeSet::new());
        let (mut counted, mut loaded) = (BTreeSet::new(), BTreeSet::new());
        self.any_op(&mut |op, args| {
            let windows = args.iter().filter_map(|value| self.shared_root(*value));
            if matches!(op, Op::StoreShared | Op::CopyAsync(_)) {
                stored.extend(windows);
            } else if *op == Op::LoadShared {
                loaded.extend(windows);
            } else if pair && matches!(op, Op::Tcgen05(one) if one.is_by_tensor_cores()) {
                multiplied.extend(windows);
            } else if matches!(op, Op::Tma(_)) && self.reaches(op, args) {
                counted.extend(windows);
            }
            if let Op::StoreTensor(param) = op {
                written.insert(*param);
            }
            if let Op::LoadTensor(param) | Op::CopyAsync(param) = op {
                read.insert(*param);
            }
            stores |= matches!(op, Op::StorePtr { .. } | Op::Atomic(_));
            loads |= matches!(op, Op::LoadPtr { .. } | Op::Atomic(_));
            matches!(op, Op::LoadShared | Op::StoreShared) && self.reaches(op, args)
        }) || stores && loads
            || written.intersection(&read).next().is_some()
            || stored.intersection(&multiplied).next().is_some()
            || counted.intersection(&loaded).next().is_some()
            || has_ptx(&self.body)
    }

    /// The allocation of a window of shared memory.
    fn shared_root(&self, value: Value) -> Option<Shared> {
        match self.ty(value) {
            Type::Shared(window) => Some(window.root),
            Type::Scalar(_)
            | Type::Tile(..)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => None,
        }
    }

    /// Whether threads write to the shared memory of another block.
    pub fn writes_others(&self) -> bool {
        self.any_op(&mut |op, args| {
            matches!(op, Op::StoreShared | Op::StoreAsync) && self.reaches(op, args)
        })
    }

    /// Whether the kernel scatters rows of a tensor: several threads then have stores under way.
    pub fn scatters(&self) -> bool {
        self.any_op(&mut |op, _| matches!(op, Op::Tma(tma) if tma.kind == TmaKind::Scatter))
    }

    /// Whether any operation of the kernel is meant.
    fn any_op(&self, meant: &mut dyn FnMut(&Op, &[Value]) -> bool) -> bool {
        fn any(region: &Region, meant: &mut dyn FnMut(&Op, &[Value]) -> bool) -> bool {
            region.stmts.iter().any(|stmt| {
                if let StmtKind::Op { op, args, .. } = &stmt.kind {
                    return meant(op, args);
                }
                stmt.kind.regions().into_iter().any(|inner| any(inner, meant))
            })
        }
        any(&self.body, meant)
    }
}

/// Whether a region has instructions that the user wrote out: they may access anything.
fn has_ptx(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::Ptx { .. }) || stmt.kind.regions().into_iter().any(has_ptx)
    })
}
