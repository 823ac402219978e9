//! What a kernel does in other blocks of its cluster.

use std::collections::BTreeSet;

use super::{
    Access, Announcement, BarrierOp, Barriers, Blocks, By, CopyOp, CtaGroup, Does, Done, Kernel,
    Memory, MemoryOrder, Op, ProductOp, Region, Shared, Stmt, StmtKind, SyncOp, Tcgen05, TmaKind,
    Value, Wait,
};

impl Kernel {
    /// Whether an operation accesses another block of the cluster: its shared memory, or a barrier of it.
    ///
    /// A copy to several blocks does not count: each block waits for what it receives. A commit does: no block has to
    /// wait for a buffer that is not filled again.
    pub fn reaches(&self, op: &Op, args: &[Value]) -> bool {
        if self.cluster == [1; 3] {
            return false;
        }
        let effects = self.effects(op, args, None);
        let others = |barrier| self.ty(barrier).barrier().is_some_and(|barrier| barrier.remote);
        let told = effects.announces.is_some_and(|announcement| match announcement {
            Announcement::Arrive(barrier) | Announcement::Expect(barrier) => others(barrier),
            Announcement::Commit { barrier, blocks } => blocks != Blocks::One || others(barrier),
            Announcement::Crew
            | Announcement::Named(_)
            | Announcement::Cluster
            | Announcement::CpAsyncGroup
            | Announcement::NextGrid => false,
        });
        told || effects.accesses.iter().any(|access| match access.done {
            // The block of even rank starts what both do.
            Done::Commit => self.cta_group() == CtaGroup::Pair,
            Done::Barrier(barrier) => others(barrier) || self.is_remote(access),
            Done::AtOnce
            | Done::CpAsyncGroup
            | Done::BulkGroup
            | Done::WgmmaGroup
            | Done::Pipeline => self.is_remote(access),
        })
    }

    /// Whether an access is to the shared memory of another block.
    fn is_remote(&self, access: &Access) -> bool {
        let Memory::Shared(window) = access.memory else { return false };
        self.ty(window).shared().is_some_and(|window| window.remote)
    }

    /// Whether the blocks of a cluster have to meet before the kernel begins: one of them initialises barriers that others arrive at, or
    /// accesses another one that may not have begun, or uses its tensor memory.
    pub fn meets_first(&self) -> bool {
        if self.cluster == [1; 3] {
            return false;
        }
        if !self.barriers.is_empty() || self.cta_group() == CtaGroup::Pair {
            return true;
        }
        for stmt in &self.body.stmts {
            if let StmtKind::Op { op, args, result } = &stmt.kind
                && self.effects(op, args, *result).waits.contains(&Wait::Cluster)
            {
                return false;
            }
            let reaches = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op, args, .. } if self.reaches(op, args));
            let inside = |inner: &Region| inner.any_stmt(&mut |stmt| reaches(stmt));
            if reaches(stmt) || stmt.kind.regions().into_iter().any(inside) {
                return true;
            }
        }
        false
    }

    /// Whether tensor cores work by single blocks or pairs: pairs only in kernels that do everything by pairs.
    pub fn cta_group(&self) -> CtaGroup {
        let pair = self.body.any_op(&mut |op, _| {
            matches!(
                op,
                Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { group: CtaGroup::Pair, .. }))
            )
        });
        if pair { CtaGroup::Pair } else { CtaGroup::One }
    }

    /// Whether other blocks arrive at the barriers of an allocation, or have their bytes counted there.
    pub fn hears_others(&self, root: Barriers) -> bool {
        self.is_sent_to(root)
            || self.body.any_op(&mut |op, args| {
                let made = *op == Op::Sync(SyncOp::Barrier(BarrierOp::Remote))
                    && self.is_of(args[0], root);
                made || self.commits_to_several(op, args, root)
            })
    }

    /// Whether an operation commits to the barriers of an allocation in several blocks.
    fn commits_to_several(&self, op: &Op, args: &[Value], root: Barriers) -> bool {
        match self.effects(op, args, None).announces {
            Some(Announcement::Commit { barrier, blocks }) => {
                blocks != Blocks::One && self.is_of(barrier, root)
            }
            Some(
                Announcement::Crew
                | Announcement::Named(_)
                | Announcement::Cluster
                | Announcement::Arrive(_)
                | Announcement::Expect(_)
                | Announcement::CpAsyncGroup
                | Announcement::NextGrid,
            )
            | None => false,
        }
    }

    /// Whether the barriers of an allocation count what other blocks send.
    pub fn is_sent_to(&self, root: Barriers) -> bool {
        self.body.any_op(&mut |op, args| {
            self.effects(op, args, None).writes().any(|access| {
                let counted = matches!(access.done, Done::Barrier(on) if self.is_of(on, root));
                counted && self.is_remote(access)
            })
        })
    }

    fn is_of(&self, barrier: Value, root: Barriers) -> bool {
        self.ty(barrier).barrier().is_some_and(|barrier| barrier.root == root)
    }

    /// Whether an arrival at another block's barrier has to order what threads did before it: accesses to another block's shared
    /// memory, or writes to global memory that the kernel reads as well; of a pair, writes to shared memory that the tensor cores read for the
    /// other block; and reads of a copy that another block has waited for.
    ///
    /// Otherwise it only signals that the own shared memory has been read, by operations with waits.
    pub fn orders_others(&self) -> bool {
        self.orders_shared_of_others() || {
            let Touched { tensors, addresses, anywhere, .. } = self.touched();
            // An address that may be of any tensor meets whatever is accessed the other way.
            let meets =
                |one: usize| anywhere[one] && (addresses[1 - one] || !tensors[1 - one].is_empty());
            addresses == [true; 2]
                || meets(0)
                || meets(1)
                || !tensors[0].is_disjoint(&tensors[1])
                || self.body.any_stmt(&mut |stmt| matches!(stmt.kind, StmtKind::Ptx { .. }))
        }
    }

    /// Whether it has to order accesses to shared memory.
    pub fn orders_shared_of_others(&self) -> bool {
        let Touched { shared: [loaded, stored], multiplied, counted, remote, .. } = self.touched();
        remote || !stored.is_disjoint(&multiplied) || !counted.is_disjoint(&loaded)
    }

    fn touched(&self) -> Touched {
        let mut at_once = Touched::default();
        let pair = self.cta_group() == CtaGroup::Pair;
        let origins = self.origins();
        self.body.each_op(&mut |op, args, result, _| {
            let reaches = self.reaches(op, args);
            for access in self.effects(op, args, result).accesses {
                let is_write = access.does == Does::Writes;
                match (access.memory, access.by) {
                    (Memory::Tensor(param), By::Threads | By::CpAsync) => {
                        at_once.tensors[usize::from(is_write)].insert(param);
                    }
                    (Memory::Address(address), By::Threads | By::CpAsync) => {
                        at_once.addresses[usize::from(is_write)] = true;
                        match origins.get(address) {
                            Some(&param) => {
                                at_once.tensors[usize::from(is_write)].insert(param);
                            }
                            None => at_once.anywhere[usize::from(is_write)] = true,
                        }
                    }
                    (Memory::Shared(window), by) => {
                        let Some(window) = self.ty(window).shared() else { continue };
                        let root = window.root;
                        match by {
                            By::Threads if access.done != Done::AtOnce => {}
                            By::Threads | By::CpAsync => {
                                at_once.remote |= reaches && by == By::Threads;
                                at_once.shared[usize::from(is_write)].insert(root);
                            }
                            By::TensorCores if pair => {
                                at_once.multiplied.insert(root);
                            }
                            By::AsyncCopy if reaches && matches!(op, Op::Copy(CopyOp::Tma(_))) => {
                                at_once.counted.insert(root);
                            }
                            By::TensorCores | By::AsyncCopy => {}
                        }
                    }
                    (
                        Memory::Tensor(_)
                        | Memory::Address(_)
                        | Memory::TensorMemory(_)
                        | Memory::Registers(_),
                        _,
                    ) => {}
                }
            }
        });
        at_once
    }

    /// Whether other blocks use the barriers of an allocation for more than relaxed arrivals, so that a wait sees what they did before.
    pub fn acquires_of_others(&self, root: Barriers) -> bool {
        let relaxed = Op::Sync(SyncOp::Barrier(BarrierOp::Arrive(MemoryOrder::Relaxed)));
        let others = |&barrier: &Value| {
            self.ty(barrier).barrier().is_some_and(|ty| ty.root == root && ty.remote)
        };
        self.is_sent_to(root)
            || self.body.any_op(&mut |op, args| {
                let gives = matches!(op, Op::Sync(SyncOp::Barrier(op)) if op.is_window());
                let releases = !gives && *op != relaxed && args.iter().any(others);
                releases || self.commits_to_several(op, args, root)
            })
    }

    /// Whether threads write to the shared memory of another block.
    pub fn writes_others(&self) -> bool {
        self.body.any_op(&mut |op, args| {
            let effects = self.effects(op, args, None);
            effects.writes().any(|access| access.by == By::Threads && self.is_remote(access))
        })
    }

    /// Whether the kernel scatters rows of a tensor: several threads then have stores in flight.
    pub fn scatters(&self) -> bool {
        self.body.any_op(
            &mut |op, _| matches!(op, Op::Copy(CopyOp::Tma(tma)) if tma.kind == TmaKind::Scatter),
        )
    }
}

/// What the threads of a kernel read and write themselves, reads first; what the tensor cores of a pair read; what copies fill that another
/// block's barrier counts.
#[derive(Default)]
struct Touched {
    /// What is read, and what is written, by windows or by addresses of known tensors.
    tensors: [BTreeSet<u32>; 2],
    /// Whether addresses are.
    addresses: [bool; 2],
    /// Whether addresses are whose tensor is not known.
    anywhere: [bool; 2],
    shared: [BTreeSet<Shared>; 2],
    multiplied: BTreeSet<Shared>,
    counted: BTreeSet<Shared>,
    /// Threads access another block's shared memory.
    remote: bool,
}
