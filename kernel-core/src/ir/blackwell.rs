//! What Blackwell adds: tensor memory, and the products of the fifth generation of tensor cores.
//!
//! Tensor memory has 128 rows of 512 columns of 32 bits, beside the registers and shared memory of a multiprocessor. One thread
//! starts a product whose sums lie there; a commit makes an mbarrier wait for what that thread has started. Each warp
//! moves its own quarter of the rows to registers and back (PTX ISA, "Tensor Memory", "tcgen05").

use la_arena::Idx;

use super::Dtype;
use crate::loc::Loc;

/// An allocation of tensor memory: an index into [`Kernel::tensor_memory`](super::Kernel::tensor_memory).
pub type TensorMemory = Idx<TensorMemoryData>;

/// An allocation of tensor memory.
#[derive(Clone, Debug)]
pub struct TensorMemoryData {
    /// Element type.
    pub dtype: Dtype,
    /// Extents; the last two are the tile, a leading one counts tiles.
    pub shape: Vec<u32>,
    /// A product adds to it: sums have a column each, of whatever type.
    pub holds_sums: bool,
    /// A layout pinned by the user, of one tile.
    pub pinned: Option<kernel_layout::Form>,
    /// Where it was made.
    pub loc: Loc,
}

/// A window of an allocation of tensor memory: one of its tiles, or all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMemoryType {
    /// The allocation.
    pub root: TensorMemory,
    /// Element type.
    pub dtype: Dtype,
    /// Extents of the window.
    pub shape: Vec<u32>,
}

/// Operations on tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMemoryOp {
    /// An allocation. Contents are undefined.
    Alloc(TensorMemory),
    /// Operand 0 without its leading axis, at the index in operand 1 (`i32`).
    Index,
    /// Reads the whole window into registers, and waits for them.
    Load,
    /// Writes a tile (operand 1) to the window (operand 0), and waits until it is there.
    Store,
}

/// What one thread of the partition starts, or orders (PTX ISA, "tcgen05").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tcgen05 {
    /// Starts `a · b + acc`: (m, k) · (k, n) + (m, n). Operand 0 is a shared window or one of tensor memory, operand 1 a shared window,
    /// operand 2 the sums in tensor memory; operand 3 (`bool`) says whether they are added to, or overwritten.
    Mma,
    /// Starts a copy of the shared window in operand 0 to the tile of tensor memory in operand 1.
    Copy,
    /// One arrival at the barrier in operand 0 when everything that the thread has started so far is done.
    Commit,
    /// What the threads of the partition have done to tensor memory comes before what they do next to synchronise.
    FenceBefore,
    /// What the threads do to tensor memory from here on comes behind what they have waited for.
    FenceAfter,
}

impl TensorMemoryOp {
    /// The words in dumps.
    pub(crate) fn printed(self) -> String {
        match self {
            TensorMemoryOp::Alloc(root) => {
                format!("tensor_memory_alloc @tensor_memory{}", root.into_raw().into_u32())
            }
            TensorMemoryOp::Index => "tensor_memory_index".to_owned(),
            TensorMemoryOp::Load => "tensor_memory_load".to_owned(),
            TensorMemoryOp::Store => "tensor_memory_store".to_owned(),
        }
    }
}

impl Tcgen05 {
    /// Whether the tensor cores do it, in the order in which one thread starts it (PTX ISA, "tcgen05: Pipelined instructions").
    pub(crate) const fn is_by_tensor_cores(self) -> bool {
        match self {
            Tcgen05::Mma | Tcgen05::Copy => true,
            Tcgen05::Commit | Tcgen05::FenceBefore | Tcgen05::FenceAfter => false,
        }
    }

    /// The name in dumps, after `tcgen05_`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Tcgen05::Mma => "mma",
            Tcgen05::Copy => "copy",
            Tcgen05::Commit => "commit",
            Tcgen05::FenceBefore => "fence_before",
            Tcgen05::FenceAfter => "fence_after",
        }
    }
}
