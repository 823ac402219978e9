//! What operations do to shared memory, and who does it: the one place that says so, for whatever asks about order.

use super::{Bulk, Kernel, Op, ParamKind, Tcgen05, TmaKind, Type, Value};

/// What is done to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Its elements are read.
    Reads,
    /// Its elements are written.
    Writes,
}

/// Who reads or writes (PTX ISA, "Proxies").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The threads of the partition, by the generic proxy, in their own order.
    Threads,
    /// `cp.async` of the threads: by the generic proxy, at some time before a wait.
    CpAsync,
    /// TMA and bulk copies: by the async proxy, at some time before what they complete on is waited for.
    AsyncCopy,
    /// A TMA copy of a pipelined loop, which the schedule waits for.
    Staged,
    /// `wgmma` and `tcgen05`: by the async proxy, at some time before their group or commit is waited for.
    TensorCores,
}

/// One access to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The window.
    pub window: Value,
    /// What is done to it.
    pub does: Does,
    /// Who does it.
    pub by: By,
}

impl Access {
    /// Whether the generic proxy does it: what the async proxy is to see needs a fence behind it.
    pub fn is_generic(self) -> bool {
        match self.by {
            By::Threads | By::CpAsync => true,
            By::AsyncCopy | By::Staged | By::TensorCores => false,
        }
    }
}

impl Kernel {
    /// What an operation does to shared memory; the windows may be those of other blocks of the cluster.
    pub fn shared_accesses(&self, op: &Op, args: &[Value]) -> Vec<Access> {
        let (reads, writes, by): (Vec<Value>, Vec<Value>, By) = match op {
            Op::LoadShared => (args.to_vec(), Vec::new(), By::Threads),
            Op::StoreShared | Op::StoreAsync => {
                (Vec::new(), args.iter().take(1).copied().collect(), By::Threads)
            }
            Op::CopyAsync(_) => {
                (Vec::new(), args.last().copied().into_iter().collect(), By::CpAsync)
            }
            Op::Tma(tma) => {
                let ParamKind::Tensor { rank, .. } = self.params[tma.param as usize].kind else {
                    return Vec::new();
                };
                let window: Vec<Value> =
                    tma.operands(rank as usize, args).window.into_iter().collect();
                match tma.kind {
                    TmaKind::Store | TmaKind::Reduce(_) | TmaKind::Scatter => {
                        (window, Vec::new(), By::AsyncCopy)
                    }
                    TmaKind::Load | TmaKind::Gather => (Vec::new(), window, By::AsyncCopy),
                    TmaKind::Staged => (Vec::new(), window, By::Staged),
                    TmaKind::Prefetch => return Vec::new(),
                }
            }
            Op::Bulk(bulk @ Bulk { kind, .. }) => {
                let operands = bulk.operands(args);
                let list = |window: Option<Value>| window.into_iter().collect();
                (list(operands.reads(*kind)), list(operands.fills(*kind)), By::AsyncCopy)
            }
            Op::Wgmma | Op::Tcgen05(Tcgen05::Mma { .. } | Tcgen05::Copy { .. }) => {
                (args.to_vec(), Vec::new(), By::TensorCores)
            }
            Op::Const(_)
            | Op::ParamPtr(_)
            | Op::ParamDim(..)
            | Op::ParamStride(..)
            | Op::ParamScalar(_)
            | Op::BlockId(_)
            | Op::NumBlocks(_)
            | Op::Arange(_)
            | Op::Splat
            | Op::Broadcast
            | Op::Expand(_)
            | Op::Reshape
            | Op::Permute(_)
            | Op::Join
            | Op::Split(_)
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Fma
            | Op::Cast
            | Op::ToLayout(_)
            | Op::AssertLayout(_)
            | Op::LoadTensor(_)
            | Op::StoreTensor(_)
            | Op::LoadPtr { .. }
            | Op::StorePtr { .. }
            | Op::Atomic(_)
            | Op::SharedAlloc(_)
            | Op::SharedIndex
            | Op::SharedTranspose
            | Op::SharedRemote
            | Op::CopyCommit
            | Op::CopyWait(_)
            | Op::CopyWaitAll
            | Op::Staged(_)
            | Op::Sync
            | Op::Barrier(_)
            | Op::Named(..)
            | Op::TmaWait { .. }
            | Op::FenceAsync
            | Op::WgmmaWait(_)
            | Op::TensorMemory(_)
            | Op::Tcgen05(Tcgen05::Commit { .. } | Tcgen05::FenceBefore | Tcgen05::FenceAfter)
            | Op::Cluster(_)
            | Op::Grid(_)
            | Op::Dot { .. }
            | Op::Assert(_) => return Vec::new(),
        };
        let accesses = |windows: Vec<Value>, does| {
            let shared = windows.into_iter().filter(|&window| self.is_shared(window));
            shared.map(move |window| Access { window, does, by })
        };
        accesses(reads, Does::Reads).chain(accesses(writes, Does::Writes)).collect()
    }

    fn is_shared(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::Shared(_))
    }
}
