//! What operations do besides computing their results, for every analysis of order.
//!
//! An operation accesses memory, announces something to others, waits for others, or fences. Each access says who does it and when it is done: a
//! thread's own load at once, a TMA load when a barrier has counted its bytes.

use super::{
    BarrierOp, Bulk, BulkKind, ClusterOp, Copied, CopyOp, GridOp, Kernel, MemoryOp, Named, NamedOp,
    Op, ParamKind, ProductOp, StoreWait, SyncOp, Tcgen05, TensorMemoryOp, Tma, TmaKind, Value,
};

/// What is done to memory.
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
    /// `cp.async` of the threads: by the generic proxy.
    CpAsync,
    /// A TMA or bulk copy, which one thread starts: by the async proxy.
    AsyncCopy,
    /// `wgmma`, which the warps of a warpgroup start together, or `tcgen05`, which one thread starts: by the async proxy.
    TensorCores,
}

/// When an access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Before the thread goes on.
    AtOnce,
    /// When a wait covers its group of `cp.async`.
    CpAsyncGroup,
    /// When the phase of this barrier ends, which counts its bytes.
    Barrier(Value),
    /// When a wait covers its bulk group.
    BulkGroup,
    /// When a wait covers its `wgmma` group.
    WgmmaGroup,
    /// When a `tcgen05.commit` after it arrives.
    Commit,
    /// When the iteration of the pipelined loop that uses it begins: the schedule waits for it.
    Pipeline,
}

/// What memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A window of a tensor parameter, by its number.
    Tensor(u32),
    /// What these addresses point to.
    Address(Value),
    /// A window of shared memory, of this block or of another one of the cluster.
    Shared(Value),
    /// A window of tensor memory.
    TensorMemory(Value),
    /// The registers of a tile, which `wgmma` reads or writes asynchronously.
    Registers(Value),
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The memory.
    pub memory: Memory,
    /// What is done to it.
    pub does: Does,
    /// Who does it.
    pub by: By,
    /// When it is done.
    pub done: Done,
    /// The mask of an access by addresses, if it has one.
    pub mask: Option<Value>,
    /// Whether it takes place, if an operand says so.
    pub condition: Option<Value>,
    /// Whose memory it is.
    pub blocks: Blocks,
    /// Whether each element is read and written in one step: among such accesses there is no order.
    pub atomic: bool,
    /// Whether only elements at indices are accessed, which are known when the kernel runs.
    pub at_indices: bool,
}

/// The blocks of a cluster whose memory or barrier it is, each at the place of the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The one that the operand is of.
    One,
    /// Those in this mask.
    Masked(Value),
    /// All of them.
    All,
}

/// What threads signal to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// Their arrival at a barrier of their partition.
    Crew,
    /// Their arrival at a named barrier.
    Named(Named),
    /// Their arrival at the barrier of the cluster.
    Cluster,
    /// An arrival at a barrier.
    Arrive(Value),
    /// The bytes that the phase of a barrier counts, with an arrival.
    Expect(Value),
    /// An arrival when what the thread has started is done.
    Commit {
        /// The barrier.
        barrier: Value,
        /// Those of which blocks it arrives at.
        blocks: Blocks,
    },
    /// The end of a group of `cp.async`.
    CpAsyncGroup,
    /// That the next grid may start.
    NextGrid,
}

/// What threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The other threads of their partition.
    Crew,
    /// The other warps of a named barrier.
    Named(Named),
    /// All threads of the cluster.
    Cluster,
    /// A phase of a barrier.
    Barrier(Value),
    /// The same, without blocking: the result says whether the phase is over.
    BarrierTest(Value),
    /// Their groups of `cp.async`, but for the last few.
    CpAsync {
        /// How many may stay in flight.
        pending: u32,
    },
    /// All of their `cp.async`, in groups or not.
    CpAsyncAll,
    /// Their bulk groups, but for the last few.
    Bulk {
        /// How many may stay in flight.
        pending: u32,
        /// What of them.
        until: StoreWait,
    },
    /// Their `wgmma` groups, but for the last few.
    Wgmma {
        /// How many may stay in flight.
        pending: u32,
    },
    /// The grids before this one.
    Grids,
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Generic writes to shared memory come before async accesses after it (PTX ISA, "fence.proxy").
    Async,
    /// Accesses of tensor memory come before what threads announce after it (PTX ISA, "tcgen05.fence").
    BeforeThreadSync,
    /// Accesses of tensor memory come after what threads have waited for.
    AfterThreadSync,
}

/// What an operation does.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The memory that it reads and writes.
    pub accesses: Vec<Access>,
    /// What it announces.
    pub announces: Option<Announcement>,
    /// What it waits for, in this order.
    pub waits: Vec<Wait>,
    /// What it fences, before it announces anything.
    pub fence: Option<Fence>,
}

impl Access {
    /// Whether the generic proxy does it: the async proxy sees it only after a fence.
    pub fn is_generic(&self) -> bool {
        match self.by {
            By::Threads | By::CpAsync => true,
            By::AsyncCopy | By::TensorCores => false,
        }
    }
}

impl Done {
    /// The barrier on which it completes, if it does on one.
    pub const fn barrier(self) -> Option<Value> {
        match self {
            Done::Barrier(barrier) => Some(barrier),
            Done::AtOnce
            | Done::CpAsyncGroup
            | Done::BulkGroup
            | Done::WgmmaGroup
            | Done::Commit
            | Done::Pipeline => None,
        }
    }
}

impl Wait {
    /// The barrier whose phase it is for, if it is for one.
    pub const fn barrier(self) -> Option<Value> {
        match self {
            Wait::Barrier(barrier) | Wait::BarrierTest(barrier) => Some(barrier),
            Wait::Crew
            | Wait::Named(_)
            | Wait::Cluster
            | Wait::CpAsync { .. }
            | Wait::CpAsyncAll
            | Wait::Bulk { .. }
            | Wait::Wgmma { .. }
            | Wait::Grids => None,
        }
    }

    /// Whether it is for threads of other partitions or blocks that reach the same place.
    pub const fn meets_others(self) -> bool {
        match self {
            Wait::Named(_) | Wait::Cluster => true,
            Wait::Crew
            | Wait::Barrier(_)
            | Wait::BarrierTest(_)
            | Wait::CpAsync { .. }
            | Wait::CpAsyncAll
            | Wait::Bulk { .. }
            | Wait::Wgmma { .. }
            | Wait::Grids => false,
        }
    }
}

impl Effects {
    /// What is read.
    pub fn reads(&self) -> impl Iterator<Item = &Access> {
        self.accesses.iter().filter(|access| access.does == Does::Reads)
    }

    /// What is written.
    pub fn writes(&self) -> impl Iterator<Item = &Access> {
        self.accesses.iter().filter(|access| access.does == Does::Writes)
    }

    /// Whether it is a barrier of all threads of the partition.
    pub fn meets_crew(&self) -> bool {
        self.announces == Some(Announcement::Crew) && self.waits.contains(&Wait::Crew)
            || self.announces == Some(Announcement::Cluster) && self.waits.contains(&Wait::Cluster)
    }

    /// Whether other threads may wait for these to reach it.
    pub fn tells_threads(&self) -> bool {
        self.announces.is_some_and(|announcement| match announcement {
            Announcement::Crew
            | Announcement::Named(_)
            | Announcement::Cluster
            | Announcement::Arrive(_)
            | Announcement::Expect(_) => true,
            Announcement::Commit { .. } | Announcement::CpAsyncGroup | Announcement::NextGrid => {
                false
            }
        })
    }

    /// Whether the threads wait here for others, or for what one of them has started.
    pub fn waits_for_others(&self) -> bool {
        let meets = |wait: &Wait| *wait == Wait::Crew || wait.meets_others();
        self.waits.iter().any(|wait| meets(wait) || wait.barrier().is_some())
    }

    fn meeting() -> Self {
        Effects {
            announces: Some(Announcement::Crew),
            waits: vec![Wait::Crew],
            ..Effects::default()
        }
    }

    fn announcing(announces: Announcement) -> Self {
        Effects { announces: Some(announces), ..Effects::default() }
    }

    fn waiting(wait: Wait) -> Self {
        Effects { waits: vec![wait], ..Effects::default() }
    }

    fn accessing(accesses: impl IntoIterator<Item = Access>) -> Self {
        Effects { accesses: accesses.into_iter().collect(), ..Effects::default() }
    }
}

fn access(does: Does, memory: Memory, by: By, done: Done) -> Access {
    let (atomic, at_indices) = (false, false);
    let blocks = Blocks::One;
    Access { memory, does, by, done, mask: None, condition: None, blocks, atomic, at_indices }
}

fn by_threads(does: Does, memory: Memory) -> Access {
    access(does, memory, By::Threads, Done::AtOnce)
}

fn by_address(does: Does, address: Value, mask: Option<Value>) -> Access {
    Access { mask, ..by_threads(does, Memory::Address(address)) }
}

fn at_indices(does: Does, window: Value) -> Access {
    Access { at_indices: true, ..by_threads(does, Memory::Shared(window)) }
}

/// How a copy combines with what is at its destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Combines {
    Replaces,
    Reduces,
}

/// A copy by the async proxy, which may have a mask of blocks and a condition.
fn copied(
    [from, to]: [Memory; 2],
    combines: Combines,
    done: Done,
    (mask, condition): (Option<Value>, Option<Value>),
) -> Vec<Access> {
    let of = |does, memory| Access { condition, ..access(does, memory, By::AsyncCopy, done) };
    let blocks = mask.map_or(Blocks::One, Blocks::Masked);
    let read = (combines == Combines::Reduces).then(|| of(Does::Reads, to));
    let written = Access { blocks, ..of(Does::Writes, to) };
    [of(Does::Reads, from)].into_iter().chain(read).chain([written]).collect()
}

/// What a bulk copy accesses. A prefetch fills a cache, which no program sees.
fn copied_in_bulk(bulk: Bulk, args: &[Value]) -> Vec<Access> {
    let operands = bulk.operands(args);
    let Some(window) = operands.window.map(Memory::Shared) else { return Vec::new() };
    let done = operands.barrier.map_or(Done::BulkGroup, Done::Barrier);
    let global = Memory::Address(operands.first);
    let (between, combines) = match bulk.kind {
        BulkKind::Load => ([global, window], Combines::Replaces),
        BulkKind::Send => ([Memory::Shared(operands.first), window], Combines::Replaces),
        BulkKind::Store => ([window, global], Combines::Replaces),
        BulkKind::Reduce(_) => ([window, global], Combines::Reduces),
        BulkKind::Prefetch(_) => return Vec::new(),
    };
    copied(between, combines, done, (operands.mask, operands.condition))
}

/// A read of memory and a write of the same, in one step.
fn changed(read: Access) -> Vec<Access> {
    [Does::Reads, Does::Writes].map(|does| Access { does, atomic: true, ..read }).to_vec()
}

fn of_memory(op: &MemoryOp, args: &[Value]) -> Vec<Access> {
    use Does::{Reads, Writes};
    match op {
        MemoryOp::LoadTensor(param, _) => vec![by_threads(Reads, Memory::Tensor(*param))],
        MemoryOp::StoreTensor(param, _) => vec![by_threads(Writes, Memory::Tensor(*param))],
        MemoryOp::LoadPtr { masked } => {
            vec![by_address(Reads, args[0], masked.then(|| args[1]))]
        }
        MemoryOp::StorePtr { masked } => {
            vec![by_address(Writes, args[0], masked.then(|| args[2]))]
        }
        MemoryOp::Atomic(..) => changed(by_address(Reads, args[0], None)),
        MemoryOp::AtomicTensor { param, .. } => changed(by_threads(Reads, Memory::Tensor(*param))),
        // It fills a cache, which no program sees.
        MemoryOp::PrefetchTensor { .. } => Vec::new(),
        MemoryOp::LoadShared => vec![by_threads(Reads, Memory::Shared(args[0]))],
        MemoryOp::StoreShared => vec![by_threads(Writes, Memory::Shared(args[0]))],
        MemoryOp::GatherShared => vec![at_indices(Reads, args[0])],
        MemoryOp::ScatterShared => vec![at_indices(Writes, args[0])],
        MemoryOp::AtomicShared(_) => changed(at_indices(Reads, args[0])),
    }
}

fn of_sync(op: &SyncOp, args: &[Value]) -> Effects {
    match op {
        SyncOp::Block => Effects::meeting(),
        SyncOp::FenceAsync => Effects { fence: Some(Fence::Async), ..Effects::meeting() },
        SyncOp::Barrier(op) => of_barrier(*op, args),
        SyncOp::Named(op, named) => Effects {
            waits: match op {
                NamedOp::Sync => vec![Wait::Named(*named)],
                NamedOp::Arrive => Vec::new(),
            },
            ..Effects::announcing(Announcement::Named(*named))
        },
        SyncOp::Cluster(op) => of_cluster(*op, args),
        SyncOp::Grid(GridOp::LaunchDependents) => Effects::announcing(Announcement::NextGrid),
        SyncOp::Grid(GridOp::Wait) => Effects::waiting(Wait::Grids),
    }
}

fn of_barrier(op: BarrierOp, args: &[Value]) -> Effects {
    match op {
        BarrierOp::Alloc(_) | BarrierOp::Index | BarrierOp::Remote => Effects::default(),
        BarrierOp::Expect => Effects::announcing(Announcement::Expect(args[0])),
        BarrierOp::Arrive(_) => Effects::announcing(Announcement::Arrive(args[0])),
        BarrierOp::Wait => Effects::waiting(Wait::Barrier(args[0])),
        BarrierOp::Test => Effects::waiting(Wait::BarrierTest(args[0])),
    }
}

fn of_cluster(op: ClusterOp, args: &[Value]) -> Effects {
    let arrival = Effects::announcing(Announcement::Cluster);
    match op {
        ClusterOp::Rank | ClusterOp::BlockId(_) | ClusterOp::Id(_) => Effects::default(),
        ClusterOp::Sync => Effects { waits: vec![Wait::Cluster], ..arrival },
        ClusterOp::Arrive => arrival,
        ClusterOp::Wait => Effects::waiting(Wait::Cluster),
        ClusterOp::TryCancel => {
            let (answer, done) = (Memory::Shared(args[0]), Done::Barrier(args[1]));
            let written = access(Does::Writes, answer, By::AsyncCopy, done);
            Effects::accessing([Access { blocks: Blocks::All, ..written }])
        }
        ClusterOp::IsCanceled | ClusterOp::CanceledBlockId(_) => {
            Effects::accessing([by_threads(Does::Reads, Memory::Shared(args[0]))])
        }
    }
}

impl Kernel {
    /// What an operation with these operands and this result does.
    pub fn effects(&self, op: &Op, args: &[Value], result: Option<Value>) -> Effects {
        match op {
            // Of the memory for reports nothing in the kernel knows.
            Op::Source(_)
            | Op::Tile(_)
            | Op::Elementwise(_)
            | Op::Window(_)
            | Op::Assert(_)
            | Op::Report(_)
            | Op::Product(ProductOp::Dot(_)) => Effects::default(),
            Op::Memory(op) => Effects::accessing(of_memory(op, args)),
            Op::Copy(op) => self.of_copy(op, args),
            Op::Sync(op) => of_sync(op, args),
            Op::Product(ProductOp::Wgmma { .. }) => self.wgmma(args, result),
            Op::Product(ProductOp::WgmmaWait(pending)) => {
                Effects::waiting(Wait::Wgmma { pending: *pending })
            }
            Op::Product(ProductOp::Tcgen05(op)) => self.tcgen05(*op, args),
            Op::TensorMemory(op) => {
                let of =
                    |does| Effects::accessing([by_threads(does, Memory::TensorMemory(args[0]))]);
                match op {
                    TensorMemoryOp::Load => of(Does::Reads),
                    TensorMemoryOp::Store => of(Does::Writes),
                    TensorMemoryOp::Alloc(_)
                    | TensorMemoryOp::Index
                    | TensorMemoryOp::Tile(_)
                    | TensorMemoryOp::View(_) => Effects::default(),
                }
            }
        }
    }

    /// What an asynchronous copy does, or a wait for some.
    fn of_copy(&self, op: &CopyOp, args: &[Value]) -> Effects {
        use Does::{Reads, Writes};
        match op {
            CopyOp::StoreAsync => {
                let done = Done::Barrier(args[2]);
                let written = access(Writes, Memory::Shared(args[0]), By::Threads, done);
                Effects::accessing([written])
            }
            CopyOp::Async(copied, _) => {
                let of = |does, memory| access(does, memory, By::CpAsync, Done::CpAsyncGroup);
                let window = args.last().map(|&window| of(Writes, Memory::Shared(window)));
                let read = match *copied {
                    Copied::Tile { param, .. } => of(Reads, Memory::Tensor(param)),
                    Copied::Addresses { masked } => {
                        let mask = masked.then(|| args[1]);
                        Access { mask, ..of(Reads, Memory::Address(args[0])) }
                    }
                };
                Effects::accessing(std::iter::once(read).chain(window))
            }
            CopyOp::Commit => Effects::announcing(Announcement::CpAsyncGroup),
            CopyOp::Wait(pending) => Effects::waiting(Wait::CpAsync { pending: *pending }),
            CopyOp::WaitAll => Effects::waiting(Wait::CpAsyncAll),
            CopyOp::Staged(_) => Effects::default(),
            CopyOp::Tma(tma) => Effects::accessing(self.tma(*tma, args)),
            CopyOp::Bulk(bulk) => Effects::accessing(copied_in_bulk(*bulk, args)),
            CopyOp::BulkWait { pending, until } => {
                let bulk = Wait::Bulk { pending: *pending, until: *until };
                Effects { waits: vec![bulk, Wait::Crew], ..Effects::meeting() }
            }
        }
    }

    /// What a TMA copy accesses. A prefetch fills a cache, which no program sees.
    fn tma(&self, tma: Tma, args: &[Value]) -> Vec<Access> {
        let ParamKind::Tensor { rank, .. } = self.params[tma.param as usize].kind else {
            return Vec::new();
        };
        let operands = tma.operands(rank as usize, args);
        let tensor = Memory::Tensor(tma.param);
        let options = (operands.mask, operands.condition);
        match (tma.kind, operands.window.map(Memory::Shared)) {
            (TmaKind::Load | TmaKind::Gather | TmaKind::Staged, Some(window)) => {
                let done = operands.barrier.map_or(Done::Pipeline, Done::Barrier);
                copied([tensor, window], Combines::Replaces, done, options)
            }
            (TmaKind::Store | TmaKind::Scatter, Some(window)) => {
                copied([window, tensor], Combines::Replaces, Done::BulkGroup, options)
            }
            (TmaKind::Reduce(_), Some(window)) => {
                copied([window, tensor], Combines::Reduces, Done::BulkGroup, options)
            }
            (_, None) | (TmaKind::Prefetch, _) => Vec::new(),
        }
    }

    /// What a product by `wgmma` does.
    fn wgmma(&self, args: &[Value], result: Option<Value>) -> Effects {
        let of = |does, memory| access(does, memory, By::TensorCores, Done::WgmmaGroup);
        let read = args.iter().map(|&operand| of(Does::Reads, self.operand(operand)));
        let sums = result.map(|sums| of(Does::Writes, Memory::Registers(sums)));
        Effects::accessing(read.chain(sums))
    }

    /// What `tcgen05` does.
    fn tcgen05(&self, op: Tcgen05, args: &[Value]) -> Effects {
        use Does::{Reads, Writes};
        let condition = op.condition(args);
        let of = |does, window: Value| {
            let access = access(does, self.operand(window), By::TensorCores, Done::Commit);
            Access { condition, ..access }
        };
        match op {
            Tcgen05::Mma { multiplied, .. } => {
                let more = &args[4..4 + multiplied.more()];
                let read = args[..3].iter().chain(more).map(|&window| of(Reads, window));
                Effects::accessing(read.chain([of(Writes, args[2])]))
            }
            Tcgen05::Copy { .. } => Effects::accessing([of(Reads, args[0]), of(Writes, args[1])]),
            Tcgen05::Commit { .. } => {
                let blocks = op.mask(args).map_or(Blocks::One, Blocks::Masked);
                Effects::announcing(Announcement::Commit { barrier: args[0], blocks })
            }
            Tcgen05::FenceBefore => {
                Effects { fence: Some(Fence::BeforeThreadSync), ..Effects::default() }
            }
            Tcgen05::FenceAfter => {
                Effects { fence: Some(Fence::AfterThreadSync), ..Effects::default() }
            }
        }
    }

    /// The memory of an operand of a product.
    fn operand(&self, value: Value) -> Memory {
        if self.ty(value).shared().is_some() {
            Memory::Shared(value)
        } else if self.ty(value).tensor_memory().is_some() {
            Memory::TensorMemory(value)
        } else {
            Memory::Registers(value)
        }
    }
}
