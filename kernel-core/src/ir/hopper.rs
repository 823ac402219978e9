//! What Hopper adds: mbarriers, TMA copies, asynchronous matrix products, clusters.
//!
//! One thread or the warpgroups issue such an operation, and it completes later. Waiting for it is part of the
//! program: an mbarrier, a group of stores, a group of products.

use la_arena::Idx;

use super::{Dtype, Extents, FilterAxis, MemoryOrder};
use crate::loc::Loc;

/// An allocation of mbarriers: an index into [`Kernel::barriers`](super::Kernel::barriers).
pub type Barriers = Idx<BarrierData>;

/// An allocation of mbarriers.
#[derive(Clone, Debug)]
pub struct BarrierData {
    /// How many there are; none for a single one.
    pub ring: Option<u32>,
    /// The arrivals that complete a phase, each by one partition or thread.
    pub count: u32,
    /// What the source calls it: the variable, or the field of one, that held it first.
    pub name: Option<String>,
    /// Where it was made.
    pub loc: Loc,
}

/// A handle on one or all mbarriers of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierType {
    /// The allocation.
    pub root: Barriers,
    /// It stands for all of them.
    pub ring: bool,
    /// It may be that of another block of the cluster.
    pub remote: bool,
}

/// Options of a tensor map besides its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapOptions {
    /// The swizzle of tiles in shared memory: 0, 32, 64 or 128; none if each tile chooses.
    pub swizzle_bytes: Option<u32>,
    /// What elements outside of the tensor are read as.
    pub fill: Fill,
    /// The L2 promotion, the least bytes that a read loads into the L2 cache: 64, 128 or 256; 0 for none.
    pub l2_promotion_bytes: u32,
    /// Element strides of a load along each axis, 1 along the last one; empty if it takes all of them.
    pub element_strides: Vec<u32>,
    /// A filter of which a load brings what is under a tap at a row of places, along each axis but the first and the last; empty without one.
    /// The coordinates of a copy are the number of a place, a tap along each of these axes, and a channel.
    pub filter: Vec<FilterAxis>,
}

/// What a tensor map reads outside of its tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Zero.
    #[default]
    Zero,
    /// A NaN, of a floating-point type.
    Nan,
}

impl Default for MapOptions {
    fn default() -> Self {
        // What a row of a swizzled box is a part of.
        let l2_promotion_bytes = 256;
        MapOptions {
            swizzle_bytes: None,
            fill: Fill::Zero,
            l2_promotion_bytes,
            element_strides: Vec::new(),
            filter: Vec::new(),
        }
    }
}

impl MapOptions {
    /// The distance of the elements that a load takes along an axis.
    pub fn element_stride(&self, axis: usize) -> u32 {
        self.element_strides.get(axis).copied().unwrap_or(1)
    }
}

/// Operations on mbarriers (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    /// The allocation. Every phase waits for as many arrivals as [`BarrierData::count`] says.
    Alloc(Barriers),
    /// One of a ring (operand 0), at the index in operand 1 (`i32`).
    Index,
    /// One that another block of the cluster has at the same place: operand 0, and the rank of the block in operand 1 (`i32`).
    Remote,
    /// One thread arrives at operand 0, and the phase also waits for as many bytes as operand 1 (`i32`) says.
    Expect,
    /// Every thread of the partition has reached this: one arrival at operand 0. A relaxed one, at another block's barrier, says only that
    /// what the threads have waited for is over.
    Arrive(MemoryOrder),
    /// Every thread waits for the end of the phase of operand 0 whose parity is in operand 1 (`i32`).
    Wait,
    /// Whether the phase of operand 0 whose parity is in operand 1 (`i32`) has ended, the same for all threads: `bool`.
    Test,
}

/// A TMA copy between a tensor and a shared window (PTX ISA, "Asynchronous copy: tensor copies").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tma {
    /// The direction.
    pub kind: TmaKind,
    /// The tensor.
    pub param: u32,
    /// An operand says which blocks of the cluster receive the tile.
    pub multicast: bool,
    /// An operand says whether the copy takes place.
    pub guarded: bool,
    /// The L2 eviction priority of what is copied.
    pub evict: Evict,
    /// The extents of what is copied on the axes of the tensor, where neither the tensor map nor the window has them.
    pub extents: Option<Extents>,
    /// The axes on which a slice bounds the tensor.
    pub slice: BoundedAxes,
}

/// Axes of a tensor on which a slice bounds a TMA copy; on the others the slice is the whole tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundedAxes(u32);

impl BoundedAxes {
    /// The same axes and this one. A tensor of more than 32 axes has no map, so its last axes need not be known.
    #[must_use]
    pub fn with(self, axis: usize) -> BoundedAxes {
        let bit = u32::try_from(axis).ok().and_then(|axis| 1u32.checked_shl(axis));
        BoundedAxes(self.0 | bit.unwrap_or(0))
    }

    /// In ascending order.
    pub fn axes(self) -> impl Iterator<Item = usize> {
        (0..u32::BITS as usize).filter(move |axis| self.0 >> axis & 1 == 1)
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn count(self) -> usize {
        self.0.count_ones() as usize
    }
}

/// The direction of a TMA copy.
///
/// Operands are the coordinates of the corner, one `i32` for each axis of the tensor (of a gather and a scatter the numbers of the rows, a
/// tile of `i32` of rank 1, and the column); where the slice begins and ends on each axis that it bounds (`i32`, from the origin of the
/// tensor, see [`Corner`](super::Corner)); then in this order: for a load and a gather the barrier that it completes on; with `multicast` the mask (`i32`); with `guarded` the condition (`bool`); the shared window, except for a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TmaKind {
    /// From the tensor to shared memory; outside of the tensor: zero.
    Load,
    /// A load at the start of an iteration of a pipelined loop, which has no barrier yet: `schedule::pipeline` makes loads of them all.
    Staged,
    /// From shared memory to the tensor; outside of it: dropped. Each store is a group of its own.
    Store,
    /// From shared memory, combined with what the tensor has.
    Reduce(TmaReduce),
    /// From the tensor into the L2 cache.
    Prefetch,
    /// Rows of a tensor of rank 2, wherever they are, to shared memory; outside of the tensor, before it as well: zero.
    Gather,
    /// From shared memory to rows of a tensor of rank 2; those after its end are dropped. A group of the threads that issue it.
    Scatter,
}

/// How a TMA store combines with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TmaReduce {
    /// The sum.
    Add,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl TmaReduce {
    /// Every reduction.
    pub const ALL: [TmaReduce; 6] = [
        TmaReduce::Add,
        TmaReduce::Min,
        TmaReduce::Max,
        TmaReduce::And,
        TmaReduce::Or,
        TmaReduce::Xor,
    ];

    /// The name in kernels, after `tma::reduce_`.
    pub const fn name(self) -> &'static str {
        match self {
            TmaReduce::Add => "add",
            TmaReduce::Min => "min",
            TmaReduce::Max => "max",
            TmaReduce::And => "and",
            TmaReduce::Or => "or",
            TmaReduce::Xor => "xor",
        }
    }

    /// The element types of a TMA reduction (PTX ISA, "cp.reduce.async.bulk.tensor"). It does not take `i64` for bits: an H200 stops
    /// with an illegal instruction for such a map.
    pub const fn takes(self) -> &'static [Dtype] {
        match self {
            TmaReduce::Add => {
                &[Dtype::U32, Dtype::I32, Dtype::U64, Dtype::F16, Dtype::Bf16, Dtype::F32]
            }
            TmaReduce::Min | TmaReduce::Max => {
                &[Dtype::U32, Dtype::I32, Dtype::U64, Dtype::I64, Dtype::F16, Dtype::Bf16]
            }
            TmaReduce::And | TmaReduce::Or | TmaReduce::Xor => {
                &[Dtype::U32, Dtype::I32, Dtype::U64]
            }
        }
    }
}

/// The L2 eviction priority of what a copy accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evict {
    /// The default.
    #[default]
    Normal,
    /// Evicted first.
    First,
    /// Evicted last.
    Last,
}

impl Evict {
    /// The method of a copy that sets it; none for the default.
    pub(crate) const fn method(self) -> Option<&'static str> {
        match self {
            Evict::Normal => None,
            Evict::First => Some("evict_first"),
            Evict::Last => Some("evict_last"),
        }
    }

    /// The name in dumps, after a space.
    pub(crate) fn printed(self) -> String {
        self.method().map_or_else(String::new, |method| format!(" {method}"))
    }
}

/// What a wait for TMA stores waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreWait {
    /// Shared memory has been read, and may be written again.
    Read,
    /// The tensor has been written.
    Written,
}

/// A named barrier of a kernel: an index into [`Kernel::named`](super::Kernel::named).
pub type Named = Idx<NamedData>;

/// A named barrier, at which warps of several partitions meet (PTX ISA, "barrier").
#[derive(Clone, Debug)]
pub struct NamedData {
    /// The warps that a phase waits for: those that wait and those that only arrive.
    pub warps: u32,
    /// Where it was made.
    pub loc: Loc,
}

/// Operations on named barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedOp {
    /// All warps of the partition arrive, and wait until as many have come as the barrier counts.
    Sync,
    /// All warps of the partition arrive, and go on.
    Arrive,
}

impl NamedOp {
    /// The word in dumps.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            NamedOp::Sync => "named_sync",
            NamedOp::Arrive => "named_arrive",
        }
    }
}

/// Operations on the blocks of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterOp {
    /// The rank of this block: `i32`.
    Rank,
    /// This block's coordinate in its cluster, on an axis: `i32`.
    BlockId(u32),
    /// The cluster's coordinate in the grid, on an axis: `i32`.
    Id(u32),
    /// Every thread of every block of the cluster waits for the others.
    Sync,
    /// This thread has come so far.
    Arrive,
    /// Waits for all threads of the cluster that arrive.
    Wait,
    /// Asks for a cluster that has not begun: one thread of the first block, whose answer goes to all blocks. Operand 0 is the window of four `u32`
    /// that it is written to, operand 1 the barrier that counts its 16 bytes (PTX ISA, "`clusterlaunchcontrol.try_cancel`").
    TryCancel,
    /// Whether the answer in operand 0 is a cluster, which then does not begin: `bool`.
    IsCanceled,
    /// The coordinate, on an axis of the grid, of the block of that cluster that has this one's place in it: `i32`; 0 if there is none.
    CanceledBlockId(u32),
}

/// The order between grids that overlap (PTX ISA, "griddepcontrol").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridOp {
    /// The next grid may start.
    LaunchDependents,
    /// Waits for the grids before, and sees what they wrote.
    Wait,
}

impl ClusterOp {
    /// Whether it says where this block is.
    pub fn is_position(self) -> bool {
        match self {
            ClusterOp::Rank | ClusterOp::BlockId(_) | ClusterOp::Id(_) => true,
            ClusterOp::Sync
            | ClusterOp::Arrive
            | ClusterOp::Wait
            | ClusterOp::TryCancel
            | ClusterOp::IsCanceled
            | ClusterOp::CanceledBlockId(_) => false,
        }
    }
}

impl BarrierOp {
    /// Whether it gives a barrier, without an access to it.
    pub fn is_window(self) -> bool {
        match self {
            BarrierOp::Alloc(_) | BarrierOp::Index | BarrierOp::Remote => true,
            BarrierOp::Expect | BarrierOp::Arrive(_) | BarrierOp::Wait | BarrierOp::Test => false,
        }
    }

    /// The operation and its operands in dumps.
    pub(crate) fn printed(self, args: &str) -> String {
        match self {
            BarrierOp::Alloc(root) => {
                format!("barrier_alloc @barrier{}", root.into_raw().into_u32())
            }
            BarrierOp::Index => format!("barrier_index {args}"),
            BarrierOp::Remote => format!("barrier_remote {args}"),
            BarrierOp::Expect => format!("barrier_expect {args}"),
            BarrierOp::Arrive(MemoryOrder::Relaxed) => format!("barrier_arrive.relaxed {args}"),
            BarrierOp::Arrive(
                MemoryOrder::Release | MemoryOrder::Acquire | MemoryOrder::AcquireRelease,
            ) => format!("barrier_arrive {args}"),
            BarrierOp::Wait => format!("barrier_wait {args}"),
            BarrierOp::Test => format!("barrier_test {args}"),
        }
    }
}

impl TmaKind {
    /// Whether a barrier counts its bytes, and other blocks can be among those that receive it.
    pub const fn completes_on_a_barrier(self) -> bool {
        match self {
            TmaKind::Load | TmaKind::Gather => true,
            TmaKind::Staged
            | TmaKind::Store
            | TmaKind::Reduce(_)
            | TmaKind::Prefetch
            | TmaKind::Scatter => false,
        }
    }

    /// Whether it reads shared memory, in a group of the thread that issues it.
    pub const fn reads_shared(self) -> bool {
        match self {
            TmaKind::Store | TmaKind::Reduce(_) | TmaKind::Scatter => true,
            TmaKind::Load | TmaKind::Staged | TmaKind::Prefetch | TmaKind::Gather => false,
        }
    }

    /// Whether its rows are where an operand says, one by one.
    pub const fn by_rows(self) -> bool {
        match self {
            TmaKind::Gather | TmaKind::Scatter => true,
            TmaKind::Load
            | TmaKind::Staged
            | TmaKind::Store
            | TmaKind::Reduce(_)
            | TmaKind::Prefetch => false,
        }
    }
}

impl Tma {
    /// A copy that always takes place, into this block alone.
    pub const fn plain(kind: TmaKind, param: u32) -> Tma {
        let slice = BoundedAxes(0);
        let (multicast, guarded, evict, extents) = (false, false, Evict::Normal, None);
        Tma { kind, param, multicast, guarded, evict, extents, slice }
    }

    /// The same within a slice that bounds these axes.
    #[must_use]
    pub const fn in_slice(self, slice: BoundedAxes) -> Tma {
        Tma { slice, ..self }
    }

    /// How many of the operands are positions: those of the corner, and the bounds of a slice.
    pub const fn positions(self, rank: usize) -> usize {
        rank + 2 * self.slice.count()
    }

    /// The same of a tile with these extents on the axes of the tensor.
    #[must_use]
    pub fn of_extents(self, extents: Extents) -> Tma {
        Tma { extents: Some(extents), ..self }
    }

    /// The operands by what they are; `rank` is the tensor's.
    pub fn operands<T: Copy>(self, rank: usize, args: &[T]) -> TmaOperands<T> {
        let (positions, rest) = args.split_at(self.positions(rank));
        let (coordinates, bounds) = positions.split_at(rank);
        let bounds = self.slice.axes().zip(bounds.chunks_exact(2));
        let slice = bounds.map(|(axis, bounds)| (axis, [bounds[0], bounds[1]])).collect();
        let mut rest = rest.iter().copied();
        let barrier = self.kind.completes_on_a_barrier().then(|| rest.next()).flatten();
        let mask = self.multicast.then(|| rest.next()).flatten();
        let condition = self.guarded.then(|| rest.next()).flatten();
        TmaOperands {
            coordinates: coordinates.to_vec(),
            slice,
            barrier,
            mask,
            condition,
            window: rest.next(),
        }
    }

    /// How many operands there are.
    pub const fn operand_count(self, rank: usize) -> usize {
        let (barrier, window) = match self.kind {
            TmaKind::Load | TmaKind::Gather => (1, 1),
            TmaKind::Staged | TmaKind::Store | TmaKind::Reduce(_) | TmaKind::Scatter => (0, 1),
            TmaKind::Prefetch => (0, 0),
        };
        self.positions(rank) + barrier + window + self.multicast as usize + self.guarded as usize
    }

    /// The operation and its operands in dumps.
    pub(crate) fn printed(self, param: &str, args: &[String]) -> String {
        let others = self.operand_count(0);
        let (at, rest) = args.split_at(args.len().saturating_sub(others));
        let (bounds, rest) = rest.split_at(self.positions(0).min(rest.len()));
        let mut at = at.to_vec();
        for (axis, bounds) in self.slice.axes().zip(bounds.chunks_exact(2)) {
            if let Some(at) = at.get_mut(axis) {
                *at = format!("{at} in {}..{}", bounds[0], bounds[1]);
            }
        }
        let word = match self.kind {
            TmaKind::Load => "tma_load".to_owned(),
            TmaKind::Staged => "tma_staged".to_owned(),
            TmaKind::Store => "tma_store".to_owned(),
            TmaKind::Reduce(how) => format!("tma_reduce_{}", how.name()),
            TmaKind::Prefetch => "tma_prefetch".to_owned(),
            TmaKind::Gather => "tma_gather".to_owned(),
            TmaKind::Scatter => "tma_scatter".to_owned(),
        };
        let multicast = if self.multicast { " multicast" } else { "" };
        let guarded = if self.guarded { " where" } else { "" };
        let evict = self.evict.printed();
        format!("{word}{multicast}{guarded}{evict} {param} [{}] {}", at.join(", "), rest.join(", "))
            .trim_end()
            .to_owned()
    }
}

/// The operands of a TMA copy.
#[derive(Clone, Debug)]
pub struct TmaOperands<T> {
    /// The corner, one an axis of the tensor; of a gather and a scatter, rows and column.
    pub coordinates: Vec<T>,
    /// The axes that a slice bounds, each with the positions at which it begins and ends there.
    pub slice: Vec<(usize, [T; 2])>,
    /// What a load completes on.
    pub barrier: Option<T>,
    /// The blocks of the cluster that receive the tile.
    pub mask: Option<T>,
    /// Whether the copy takes place.
    pub condition: Option<T>,
    /// The shared window; none of a prefetch.
    pub window: Option<T>,
}

impl StoreWait {
    /// The most stores that a wait can leave in flight.
    pub const MOST_PENDING: u32 = 63;

    /// The word in dumps.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            StoreWait::Read => "read",
            StoreWait::Written => "written",
        }
    }
}

impl ClusterOp {
    /// The operation and its operands in dumps.
    pub(crate) fn printed(self, args: &str) -> String {
        match self {
            ClusterOp::Rank => "cluster_rank".to_owned(),
            ClusterOp::BlockId(axis) => format!("cluster_block_id {axis}"),
            ClusterOp::Id(axis) => format!("cluster_id {axis}"),
            ClusterOp::Sync => "cluster_sync".to_owned(),
            ClusterOp::Arrive => "cluster_arrive".to_owned(),
            ClusterOp::Wait => "cluster_wait".to_owned(),
            ClusterOp::TryCancel => format!("cluster_try_cancel {args}"),
            ClusterOp::IsCanceled => format!("cluster_is_canceled {args}"),
            ClusterOp::CanceledBlockId(axis) => format!("cluster_canceled_block_id {axis} {args}"),
        }
    }
}

impl GridOp {
    /// The word in dumps.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            GridOp::LaunchDependents => "grid_launch_dependents",
            GridOp::Wait => "grid_wait",
        }
    }
}

impl super::Kernel {
    /// Whether the kernel waits itself for the grids before it, so that it may be launched before they have ended.
    pub fn is_programmatic(&self) -> bool {
        let waits = super::Op::Sync(super::SyncOp::Grid(GridOp::Wait));
        self.body.any_op(&mut |op, _| *op == waits)
    }

    /// Whether the map of a parameter goes over the places of a filter.
    pub fn has_filter(&self, param: u32) -> bool {
        !self.params[param as usize].map.filter.is_empty()
    }

    /// The extents, on the axes of the tensor, of what a TMA copy moves; `window` is the shape of its shared side.
    pub fn tma_block(&self, tma: Tma, window: &[u32]) -> Vec<u32> {
        let declared = self.params[tma.param as usize].block.as_deref();
        let own = tma.extents.as_ref().map(Extents::shape);
        declared.or(own).unwrap_or(window).to_vec()
    }
}
