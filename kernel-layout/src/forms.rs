//! Named layouts: constructors for a shape, and [`Form`], a layout that a user writes before the shape is known.
//!
//! A constructor describes one tile by its parameters and fits it to the tensor (see [`Layout::fit`]): a tensor larger
//! than the tile is covered by repeating the tile in further registers (or offsets); in a smaller one, threads repeat
//! elements of others.
//!
//! # Tensor memory
//!
//! Tensor memory is a table of 128 rows (the PTX manual's *lanes*) and 512 columns of 32 bits; its layouts go from row and
//! column to the element stored there. Columns are counted in elements: `f16` packed two to a word has 1024 of them, and
//! with a column stride of 2, one `f16` in each word, every second one is empty.
//!
//! The 128 rows belong to four warps, 32 each. Blocks of 64 rows differ from blocks of 128 in the three highest bits of
//! the row:
//!
//! | row bit | 0 1 2 3 | 4 | 5 | 6 |
//! |---|---|---|---|---|
//! | block of 128 rows leads to row | 1 2 4 8 | 16 | 32 | 64 |
//! | block of 64 rows leads to row | 1 2 4 8 | *see below* | 16 | 32 |
//!
//! A block of 64 rows gives each warp 16 rows of the tensor and leaves the warp's other 16 rows of memory, row bit 4, to
//! whatever else the tensor has: further rows, else further columns, else nothing. So row 40 of memory, with bits 3 and 5
//! set, is row 8 + 32 = 40 of a block of 128, and row 8 + 16 = 24 of a block of 64.
//!
//! A zero basis of row bit 5 or 6 means that the warps hold copies, as they do of scale factors; any other zero basis
//! means that the place holds nothing of the tensor.
//!
//! *What a load moves.* One `tcgen05.ld` of one warp moves an *atom* of some rows and columns of 32 bits, `.xN` times
//! along the columns. Here are the atoms as layouts from register and lane to (row, column of 32 bits); PTX ISA,
//! "tcgen05.ld and tcgen05.st matrix shapes":
//!
//! | atom | rows | columns | register | lane |
//! |---|---|---|---|---|
//! | `32x32b` | 32 | 1 | | `[1,0] [2,0] [4,0] [8,0] [16,0]` |
//! | `16x64b` | 16 | 2 | | `[8,0] [0,1] [1,0] [2,0] [4,0]` |
//! | `16x128b` | 16 | 4 | `[8,0]` | `[0,1] [0,2] [1,0] [2,0] [4,0]` |
//! | `16x256b` | 16 | 8 | `[0,1] [8,0]` | `[0,2] [0,4] [1,0] [2,0] [4,0]` |
//!
//! The register layout of a whole tensor follows from three facts: warp `w` accesses only rows 32·(`w` mod 4) to
//! 32·(`w` mod 4) + 31; elements beyond one instruction are in further registers of the same thread; and warps beyond
//! the fourth share the work. It is the composition of the layout of the places with that of the memory:
//!
//! ```
//! use kernel_layout::forms::{TmemAtom, TmemColumns, tensor_memory, tensor_memory_registers};
//! let memory = tensor_memory([128, 32], 1, false, &[128, 32])?;
//! let load = tensor_memory_registers(&memory, TmemAtom::M16x256b, TmemColumns::Whole, 4, 32)?;
//! assert_eq!(
//!     load.to_string(),
//!     "register [0,1] [8,0] [0,8] [0,16] [16,0], lane [0,2] [0,4] [1,0] [2,0] [4,0], warp [32,0] [64,0] -> [128, 32]",
//! );
//! # Ok::<(), kernel_layout::LayoutError>(())
//! ```

mod blocked;
mod form;
mod mma;
mod shared;
mod tensor_memory;
mod tensor_memory_access;
mod tensor_memory_moves;
mod tensor_memory_window;

pub use blocked::{blocked, blocked_for, blocked_form_for, linear, slice_of};
pub use form::Form;
pub use mma::{
    fma_operand, matrix_fragment, mma_v2_accumulator, mma_v2_metadata, mma_v2_operand,
    mma_v2_quarters, mma_v2_scales, wgmma_accumulator, wgmma_metadata, wgmma_operand,
};
pub use shared::{
    default_swizzle_bytes, nvmma_alignment_bytes, nvmma_shared, row_major_shared, shared_linear,
    swizzled_shared,
};
pub use tensor_memory::{
    TENSOR_MEMORY_COLUMNS, TENSOR_MEMORY_ROWS, check_tensor_memory, tensor_memory,
    tensor_memory_columns, tensor_memory_scales,
};
use tensor_memory_access::words;
pub use tensor_memory_access::{
    TmemAtom, TmemColumns, tensor_memory_has_gap, tensor_memory_registers,
};
pub use tensor_memory_moves::{TensorMemoryMoves, TensorMemoryUnit, tensor_memory_moves};
pub use tensor_memory_window::{PartRefusal, tensor_memory_part};

use crate::layout::log2;
use crate::{Dim, Layout, LayoutError};

/// The number of lanes of a warp.
pub const LANES: u32 = 32;

/// Identity bases along `dim`, one axis after another in `order`, over all axes of `sizes`.
fn identity_nd(dim: Dim, sizes: &[u32], order: &[u32]) -> Layout {
    let start = Layout::trusted(
        vec![(dim, Vec::new())],
        Dim::axes(sizes.len()).into_iter().map(|axis| (axis, 1)).collect(),
    );
    order.iter().fold(start, |layout, &axis| {
        layout.product(&Layout::identity(dim, Dim::axis(axis as usize), sizes[axis as usize]))
    })
}

/// As [`identity_nd`], but with zero bases along one axis: those threads repeat what the others hold.
fn broadcast_nd(dim: Dim, sizes: &[u32], order: &[u32], repeated: usize) -> Layout {
    let start = Layout::trusted(
        vec![(dim, Vec::new())],
        Dim::axes(sizes.len()).into_iter().map(|axis| (axis, 1)).collect(),
    );
    order.iter().fold(start, |layout, &axis| {
        let (out, size) = (Dim::axis(axis as usize), sizes[axis as usize]);
        let next = if axis as usize == repeated {
            Layout::zeros(dim, out, size)
        } else {
            Layout::identity(dim, out, size)
        };
        layout.product(&next)
    })
}

/// The axes of a tensor, the outermost first: 0, 1, ..
fn outermost_first(rank: usize) -> Vec<u32> {
    (0..).take(rank).collect()
}

/// The axes of a tensor, the innermost first.
fn innermost_first(rank: usize) -> Vec<u32> {
    let mut order = outermost_first(rank);
    order.reverse();
    order
}

/// log2 of the most elements of a tile: well above what registers or shared memory hold.
const TILE_BITS: usize = 20;
/// log2 of the most that another list of parameters may multiply to; more than any hardware has of anything.
const LIST_BITS: usize = 10;
/// log2 of the most blocks of a cluster (PTX ISA, "Cluster of Cooperative Thread Arrays": at most 16).
const CLUSTER_BITS: usize = 4;

/// Every entry must be a power of two, and all must multiply to no more than a tile has.
fn check_shape(shape: &[u32]) -> Result<(), LayoutError> {
    check_bits("shape", shape, TILE_BITS)
}

/// Every entry must be a power of two, and the product small.
fn check_powers(what: &'static str, list: &[u32]) -> Result<(), LayoutError> {
    check_bits(what, list, LIST_BITS)
}

fn check_bits(what: &'static str, list: &[u32], limit: usize) -> Result<(), LayoutError> {
    if let Some(index) = list.iter().position(|entry| !entry.is_power_of_two()) {
        return Err(LayoutError::NotPowerOfTwo { what, index, actual: list[index] });
    }
    let actual = list.iter().map(|&entry| log2(entry)).sum();
    if actual <= limit {
        Ok(())
    } else {
        Err(LayoutError::TooLarge { what, log2_actual: actual, log2_limit: limit })
    }
}

/// A list must have one entry for each axis.
fn check_rank(what: &'static str, actual: usize, required: usize) -> Result<(), LayoutError> {
    if actual == required { Ok(()) } else { Err(LayoutError::Rank { what, actual, required }) }
}

/// `order` must name each of `rank` axes once.
fn check_order(order: &[u32], rank: usize) -> Result<(), LayoutError> {
    check_rank("order", order.len(), rank)?;
    let mut seen = order.to_vec();
    seen.sort_unstable();
    if seen.iter().enumerate().all(|(index, &axis)| axis as usize == index) {
        Ok(())
    } else {
        Err(LayoutError::Order { actual: order.to_vec() })
    }
}

/// An argument must be one of the values that the hardware knows.
fn check_one_of(
    what: &'static str,
    actual: u32,
    allowed: &'static [u32],
) -> Result<(), LayoutError> {
    if allowed.contains(&actual) {
        Ok(())
    } else {
        Err(LayoutError::NotOneOf { what, actual, allowed })
    }
}
