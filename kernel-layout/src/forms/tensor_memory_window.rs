//! Parts of a tile in tensor memory: which parts have a layout, and where they begin.

use super::{TENSOR_MEMORY_ROWS, words};
use crate::layout::log2;
use crate::{Basis, Dim, Layout};

/// The row bit in which blocks of 64 rows may have other rows or columns of the tile.
const HALF_BIT: usize = 4;

/// Why a part of a tile is not a tile itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartRefusal {
    /// It leaves out rows of tensor memory that every instruction of a warpgroup accesses.
    Rows {
        /// The rows that it has.
        actual: u32,
        /// The rows of tensor memory.
        required: u32,
    },
    /// It has parts of 32-bit words.
    Words {
        /// The columns of the tile that share a word.
        required: u32,
        /// The columns of the part.
        actual: u32,
    },
}

/// The layout of a part of a tile with extents `shape`. It begins at a multiple of its extents; which one does not
/// matter.
///
/// Columns of tensor memory between those of the part hold nothing of it, and neither do the rows that a block of 64
/// rows leaves to others.
///
/// ```
/// use kernel_layout::forms::{PartRefusal, tensor_memory, tensor_memory_part};
/// let tile = tensor_memory([128, 64], 1, false, &[256, 128])?;
/// // The right half of the columns: every second block.
/// let right = tensor_memory_part(&tile, &[128, 64], 32).expect("a block");
/// assert_eq!(right, tensor_memory([128, 64], 1, false, &[128, 64])?);
/// let upper = tensor_memory_part(&tile, &[64, 64], 32);
/// assert_eq!(upper, Err(PartRefusal::Rows { actual: 64, required: 128 }));
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When other rows are left out, or words are not whole.
///
/// # Requires
/// `memory` has the inputs `Row`, of 128, and `Col`, and no swizzle; the extents are powers of two up to those of the tile.
pub fn tensor_memory_part(
    memory: &Layout,
    shape: &[u32],
    element_bits: u32,
) -> Result<Layout, PartRefusal> {
    let inside = |basis: &Basis| basis.iter().zip(shape).all(|(part, extent)| part < extent);
    let nothing = vec![0; shape.len()];
    let kept = |basis: &Basis| if inside(basis) { basis.clone() } else { nothing.clone() };
    let rows = memory.bases(Dim::Row);
    // Where further bits choose copies, so would this one: rows that a block of 64 leaves out are between others.
    let between = rows.get(HALF_BIT + 1).is_some_and(|basis| *basis != nothing);
    let left_out = |&(bit, basis): &(usize, &Basis)| !(inside(basis) || bit == HALF_BIT && between);
    let out = rows.iter().enumerate().filter(left_out).count();
    if out > 0 {
        let actual = TENSOR_MEMORY_ROWS >> out;
        return Err(PartRefusal::Rows { actual, required: TENSOR_MEMORY_ROWS });
    }
    let packed_bits = log2(32 / element_bits);
    let in_word = words(memory, packed_bits).unwrap_or(0);
    let columns = memory.bases(Dim::Col);
    if !columns.iter().take(in_word).all(inside) {
        let actual = shape.last().copied().unwrap_or(1);
        return Err(PartRefusal::Words { required: 1 << in_word, actual });
    }
    let mut cols: Vec<Basis> = columns.iter().map(kept).collect();
    while cols.len() > packed_bits && cols.last().is_some_and(|basis| *basis == nothing) {
        cols.pop();
    }
    let ins = vec![(Dim::Row, rows.iter().map(kept).collect()), (Dim::Col, cols)];
    let outs = memory.out_dims().zip(shape.iter().copied()).collect();
    Ok(Layout::trusted(ins, outs))
}
