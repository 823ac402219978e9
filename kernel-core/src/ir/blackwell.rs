//! What Blackwell adds: tensor memory, and the products of the fifth generation of tensor cores.
//!
//! Tensor memory has 128 rows of 512 columns of 32 bits, besides the registers and shared memory of a multiprocessor. One thread
//! starts a product with its accumulator there; a commit signals an mbarrier when what that thread has started is done. Each warp
//! moves its own quarter of the rows to registers and back (PTX ISA, "Tensor Memory", "tcgen05").

use kernel_ptx::Word;

use la_arena::Idx;

use super::{Dtype, Kernel};
use crate::loc::Loc;

/// An allocation of tensor memory: an index into [`Kernel::tensor_memory`](super::Kernel::tensor_memory).
pub type TensorMemory = Idx<TensorMemoryData>;

/// An allocation of tensor memory, or a view of one as elements of another type or shape.
#[derive(Clone, Debug)]
pub struct TensorMemoryData {
    /// Element type.
    pub dtype: Dtype,
    /// Extents; the last two are the tile, a leading one counts tiles.
    pub shape: Vec<u32>,
    /// What products use it for.
    pub role: TensorMemoryRole,
    /// Of a view: the allocation whose columns it names.
    pub of: Option<TensorMemory>,
    /// A layout pinned by the user, of one tile.
    pub pinned: Option<kernel_layout::Form>,
    /// What the source calls it: the variable, or the field of one, that held it first.
    pub name: Option<String>,
    /// Where it was made.
    pub loc: Loc,
}

/// What products use an allocation for. It decides the layout if nothing else does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMemoryRole {
    /// Nothing, or operands: elements fill the columns.
    Values,
    /// Sums: they have a column each, of whatever type.
    Sums,
    /// Scales of blocks of operands: four to a column, and a copy for each warp.
    Scales,
    /// Metadata of sparse operands, whose elements have this many bytes.
    Metadata {
        /// The bytes of an element of the operand.
        factor_bytes: u32,
    },
}

/// A window of an allocation of tensor memory, or of a view: one of its tiles, a part of that, or all of them.
///
/// A part is a power of two along each axis, and begins at a multiple of it: where it begins does not matter for how it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMemoryType {
    /// The allocation, or the view.
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
    /// The part of operand 0 that begins at a row and a column.
    Tile([u32; 2]),
    /// The columns of operand 0 as another type or shape: a view.
    View(TensorMemory),
    /// Reads the whole window into registers, and waits for them.
    Load,
    /// Writes a tile (operand 1) to the window (operand 0), and waits until it is there.
    Store,
}

/// Whose tensor cores work together: in one kernel always the same (PTX ISA, "tcgen05: `.cta_group`").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtaGroup {
    /// Each block's for itself.
    One,
    /// Those of two blocks of a cluster whose ranks differ in the last bit.
    Pair,
}

/// How a block-scaled product reads its operands and their scales (PTX ISA, "tcgen05.mma: Block scaling", "Block Scaling for
/// mma.sync").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaled {
    /// FP8 operands, either of which may be padded FP4; 32 numbers along `k` have one scale, a power of two.
    Mxf8,
    /// Pairs of FP4 in bytes; 32 numbers have one scale, a power of two.
    Mxf4,
    /// Pairs of FP4 in bytes; 16 numbers have one scale, of type e4m3 or a power of two.
    Nvf4,
}

impl Scaled {
    /// The numbers along `k` that have one scale.
    pub const fn block(self) -> u32 {
        match self {
            Scaled::Mxf8 | Scaled::Mxf4 => 32,
            Scaled::Nvf4 => 16,
        }
    }

    /// How many scales an instruction has for a line (PTX ISA, `.scale_vec`).
    pub const fn of_a_line(self) -> u32 {
        match self {
            Scaled::Mxf8 => 1,
            Scaled::Mxf4 => 2,
            Scaled::Nvf4 => 4,
        }
    }

    /// The modifier that says so.
    pub const fn scale_vector(self) -> Word {
        match self {
            Scaled::Mxf8 => Word::ScaleVec1x,
            Scaled::Mxf4 => Word::ScaleVec2x,
            Scaled::Nvf4 => Word::ScaleVec4x,
        }
    }

    /// Whether operands are bytes of two FP4 numbers without padding.
    pub const fn is_packed(self) -> bool {
        match self {
            Scaled::Mxf8 => false,
            Scaled::Mxf4 | Scaled::Nvf4 => true,
        }
    }
}

/// What a product multiplies besides its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplied {
    /// Nothing.
    Dense,
    /// Scales of blocks of the operands.
    Scaled(Scaled),
    /// Nothing, but metadata says where the elements of the left operand are, which has half of each row.
    Sparse,
}

impl Multiplied {
    /// How scales are read, if there are some.
    pub const fn scaled(self) -> Option<Scaled> {
        match self {
            Multiplied::Scaled(scaled) => Some(scaled),
            Multiplied::Dense | Multiplied::Sparse => None,
        }
    }

    /// The operands behind the four of every product.
    pub const fn more(self) -> usize {
        match self {
            Multiplied::Dense => 0,
            Multiplied::Scaled(_) => 2,
            Multiplied::Sparse => 1,
        }
    }
}

/// What one thread of the partition starts, or orders (PTX ISA, "tcgen05").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tcgen05 {
    /// Starts `a · b + acc`: (m, k) · (k, n) + (m, n). Operand 0 is a shared window or one of tensor memory, operand 1 a shared window,
    /// operand 2 the accumulator in tensor memory; operand 3 (`bool`) says whether it is added to, or overwritten.
    ///
    /// Of a pair of blocks each has (m / 2, k) · (k, n / 2) + (m / 2, n), at the same places: the one of even rank starts the product of both, and in
    /// the other one nothing happens.
    Mma {
        /// Whose product it is.
        group: CtaGroup,
        /// If it is scaled, operands 4 and 5 are the scales of the left operand, (m, k / block), and of the right one, (n, k / block), in tensor
        /// memory. Each block of a pair has those of its own rows, (m / 2, k / block), and those of all columns. If it is sparse, the left
        /// operand is (m, k / 2), and operand 4 is its metadata in tensor memory; each block of a pair has that of its own rows.
        multiplied: Multiplied,
        /// The last operand (`bool`) says whether it is started.
        guarded: bool,
    },
    /// Starts a copy of the shared window in operand 0 to the tile of tensor memory in operand 1; in a kernel of pairs, of what each
    /// of both blocks has.
    Copy {
        /// Operand 2 (`bool`) says whether it is started.
        guarded: bool,
    },
    /// One arrival at the barrier in operand 0 when everything that the thread has started so far is done. In a kernel of pairs only the
    /// block of even rank commits.
    Commit {
        /// Operand 1 (`i32`) says in which blocks of the cluster: at the barrier that each of them has at the same place.
        multicast: bool,
        /// The last operand (`bool`) says whether there is one.
        guarded: bool,
    },
    /// Orders accesses of the partition's threads to tensor memory before their next synchronisation.
    FenceBefore,
    /// Orders accesses of the threads to tensor memory from here on after what they have waited for.
    FenceAfter,
}

impl Kernel {
    /// The allocation whose columns an allocation or a view names.
    pub fn tensor_columns(&self, root: TensorMemory) -> TensorMemory {
        self.tensor_memory[root].of.unwrap_or(root)
    }
}

impl TensorMemoryOp {
    /// Whether it gives a window of tensor memory, without an access to it.
    pub fn is_window(self) -> bool {
        match self {
            TensorMemoryOp::Alloc(_)
            | TensorMemoryOp::Index
            | TensorMemoryOp::Tile(_)
            | TensorMemoryOp::View(_) => true,
            TensorMemoryOp::Load | TensorMemoryOp::Store => false,
        }
    }

    /// The names in dumps.
    pub(crate) fn printed(self) -> String {
        match self {
            TensorMemoryOp::Alloc(root) => {
                format!("tensor_memory_alloc @tensor_memory{}", root.into_raw().into_u32())
            }
            TensorMemoryOp::Index => "tensor_memory_index".to_owned(),
            TensorMemoryOp::Tile([row, column]) => format!("tensor_memory_tile {row} {column}"),
            TensorMemoryOp::View(root) => {
                format!("tensor_memory_view @tensor_memory{}", root.into_raw().into_u32())
            }
            TensorMemoryOp::Load => "tensor_memory_load".to_owned(),
            TensorMemoryOp::Store => "tensor_memory_store".to_owned(),
        }
    }
}

impl Tcgen05 {
    /// Whether it is an asynchronous operation, in the order in which one thread starts them (PTX ISA, "tcgen05: Pipelined instructions").
    pub(crate) const fn is_by_tensor_cores(self) -> bool {
        match self {
            Tcgen05::Mma { .. } | Tcgen05::Copy { .. } => true,
            Tcgen05::Commit { .. } | Tcgen05::FenceBefore | Tcgen05::FenceAfter => false,
        }
    }

    /// The operation in dumps, without its operands.
    pub(crate) fn printed(self) -> String {
        let (name, multicast, guarded) = match self {
            Tcgen05::Mma { group, multiplied, guarded } => {
                let name = match (group, multiplied) {
                    (CtaGroup::One, Multiplied::Dense) => "mma",
                    (CtaGroup::One, Multiplied::Scaled(Scaled::Mxf8)) => "mma_scaled_mxf8",
                    (CtaGroup::One, Multiplied::Scaled(Scaled::Mxf4)) => "mma_scaled_mxf4",
                    (CtaGroup::One, Multiplied::Scaled(Scaled::Nvf4)) => "mma_scaled_nvf4",
                    (CtaGroup::One, Multiplied::Sparse) => "mma_sparse",
                    (CtaGroup::Pair, Multiplied::Sparse) => "mma_sparse_pair",
                    (CtaGroup::Pair, Multiplied::Dense) => "mma_pair",
                    (CtaGroup::Pair, Multiplied::Scaled(Scaled::Mxf8)) => "mma_scaled_pair_mxf8",
                    (CtaGroup::Pair, Multiplied::Scaled(Scaled::Mxf4)) => "mma_scaled_pair_mxf4",
                    (CtaGroup::Pair, Multiplied::Scaled(Scaled::Nvf4)) => "mma_scaled_pair_nvf4",
                };
                (name, false, guarded)
            }
            Tcgen05::Copy { guarded } => ("copy", false, guarded),
            Tcgen05::Commit { multicast, guarded } => ("commit", multicast, guarded),
            Tcgen05::FenceBefore => ("fence_before", false, false),
            Tcgen05::FenceAfter => ("fence_after", false, false),
        };
        let multicast = if multicast { " multicast" } else { "" };
        let guarded = if guarded { " where" } else { "" };
        format!("tcgen05_{name}{multicast}{guarded}")
    }

    /// The operand that says whether it takes place, if one does.
    pub fn condition<T: Copy>(self, args: &[T]) -> Option<T> {
        match self {
            Tcgen05::Mma { guarded: true, .. }
            | Tcgen05::Copy { guarded: true }
            | Tcgen05::Commit { guarded: true, .. } => args.last().copied(),
            Tcgen05::Mma { guarded: false, .. }
            | Tcgen05::Copy { guarded: false }
            | Tcgen05::Commit { guarded: false, .. }
            | Tcgen05::FenceBefore
            | Tcgen05::FenceAfter => None,
        }
    }

    /// The operand that says which blocks of the cluster a commit arrives in, if it is not this one alone.
    pub fn mask<T: Copy>(self, args: &[T]) -> Option<T> {
        match self {
            Tcgen05::Commit { multicast: true, .. } => args.get(1).copied(),
            Tcgen05::Commit { multicast: false, .. }
            | Tcgen05::Mma { .. }
            | Tcgen05::Copy { .. }
            | Tcgen05::FenceBefore
            | Tcgen05::FenceAfter => None,
        }
    }
}
