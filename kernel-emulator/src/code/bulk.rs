//! The operands of bulk copies, tensor copies and tensor maps.

use super::tcgen05::Group;
use super::{Address, AtomOp, MemoryScope, P, Q, Slot, W};
use crate::numeric::atomic::IntOp;

/// What the asynchronous proxy copies in bulk, and the groups of a thread's copies.
#[derive(Clone, Debug)]
pub(crate) enum BulkCopy {
    Bytes(Box<Bulk>),
    Tensor(Box<Tensor>),
    Store(Box<AsyncStore>),
    Commit,
    Wait { keep: u32, reads_only: bool },
}

impl BulkCopy {
    /// Whether it reads shared memory by the asynchronous proxy.
    pub(crate) fn reads_async(&self) -> bool {
        match self {
            BulkCopy::Bytes(copy) => {
                matches!(copy.way, BulkWay::Push { .. } | BulkWay::Store { .. })
            }
            BulkCopy::Tensor(copy) => matches!(copy.way, TensorWay::Store { .. }),
            BulkCopy::Store(_) | BulkCopy::Commit | BulkCopy::Wait { .. } => false,
        }
    }
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`, `cp.async.bulk.prefetch`.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub(crate) way: BulkWay,
    /// Where the bytes come from.
    pub(crate) from: Address,
    /// How many: a multiple of 16.
    pub(crate) bytes: W,
    /// What `cp.reduce` does to each element of the destination.
    pub(crate) op: Option<AtomOp>,
}

/// Where a bulk copy goes, and how its end is noticed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BulkWay {
    /// From global memory to shared memory.
    Load(Landing),
    /// From the block's own shared memory to that of a block of the cluster.
    Push { to: Address, barrier: Address },
    /// From the block's own shared memory to global memory, in the thread's bulk group.
    Store { to: Address },
    /// To the cache only.
    Prefetch,
}

/// Where in shared memory a copy from global memory lands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing {
    pub(crate) to: Address,
    /// The mbarrier that counts the bytes.
    pub(crate) barrier: Address,
    /// The blocks of the cluster that get a copy, by rank.
    pub(crate) multicast: Option<W>,
    /// `.shared::cta`: the executing block's own shared memory only.
    pub(crate) own: bool,
    /// The blocks that the mbarrier may be of, beside that which the copy lands in.
    pub(crate) group: Group,
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) way: TensorWay,
    /// The tensor map.
    pub(crate) map: Address,
    pub(crate) elements: Elements,
    /// Where the box starts, innermost first, in elements; of four rows, the column and the rows.
    pub(crate) coordinates: Box<[W]>,
    /// From the pixels that the bounding box has to those that are copied, the innermost first; of im2col alone.
    pub(crate) offsets: Box<[W]>,
}

/// Which elements of the tensor a copy takes (PTX ISA, "Tensor Copy Modes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    /// `.tile`: a box.
    Tile,
    /// `.tile::gather4`, `.tile::scatter4`: four rows of a tensor of two dimensions, wherever they are.
    FourRows,
    /// `.im2col`: pixels of a bounding box, one after the other.
    Pixels,
}

/// Where a tensor copy goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorWay {
    /// From the tensor to shared memory.
    Load(Landing),
    /// From the block's own shared memory to the tensor; `op` is what `cp.reduce` does to each element.
    Store { from: Address, op: Option<IntOp> },
    /// To the cache only.
    Prefetch,
}

/// `st.async`, `red.async`.
#[derive(Clone, Debug)]
pub(crate) struct AsyncStore {
    pub(crate) to: Address,
    pub(crate) barrier: Address,
    /// Bytes of one element: 4 or 8.
    pub(crate) bytes: u32,
    pub(crate) sources: Box<[Slot]>,
    /// What `red.async` does.
    pub(crate) op: Option<AtomOp>,
}

/// `tensormap.replace`.
#[derive(Clone, Debug)]
pub(crate) struct Replace {
    pub(crate) map: Address,
    pub(crate) field: MapField,
    pub(crate) value: Slot,
}

/// `tensormap.cp_fenceproxy`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapCopy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) scope: MemoryScope,
}

/// A field of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapField {
    GlobalAddress,
    /// Less one.
    Rank,
    BoxDim(usize),
    GlobalDim(usize),
    GlobalStride(usize),
    ElementStride(usize),
    ElementType,
    Interleave,
    Swizzle,
    Fill,
}

/// `clusterlaunchcontrol.try_cancel`.
#[derive(Clone, Debug)]
pub(crate) struct TryCancel {
    /// Where the response goes.
    pub(crate) to: Address,
    /// The mbarrier that counts its bytes.
    pub(crate) barrier: Address,
    /// `.multicast::cluster::all`: every block of the cluster gets it.
    pub(crate) all: bool,
}

/// `clusterlaunchcontrol.query_cancel`.
#[derive(Clone, Debug)]
pub(crate) enum QueryCancel {
    IsCanceled { d: P, a: Q },
    FirstBlock { d: [Option<W>; 3], a: Q },
}
