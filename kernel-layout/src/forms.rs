//! Named layouts: constructors by shape, and [`Form`], what a user writes before the shape is known.
//!
//! A constructor describes one tile by its parameters and fits it to the tensor (see [`Layout::fit`]): a tensor larger
//! than the tile is covered by repeating the tile in further registers (or offsets); in a smaller one, threads repeat
//! what others hold.

mod blocked;
mod form;
mod mma;
mod shared;
mod tensor_memory;
mod tensor_memory_access;

pub use blocked::{blocked, blocked_for, blocked_form_for, linear, slice_of};
pub use form::Form;
pub use mma::{
    fma_operand, matrix_fragment, mma_v2_accumulator, mma_v2_operand, wgmma_accumulator,
    wgmma_operand,
};
pub use shared::{
    default_swizzle_bytes, nvmma_alignment_bytes, nvmma_shared, row_major_shared, shared_linear,
    swizzled_shared,
};
pub use tensor_memory::{
    TENSOR_MEMORY_COLUMNS, TENSOR_MEMORY_ROWS, tensor_memory, tensor_memory_columns,
    tensor_memory_scales,
};
pub use tensor_memory_access::{TmemAtom, TmemColumns, tensor_memory_registers};

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
