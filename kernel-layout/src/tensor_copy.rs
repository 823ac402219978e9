//! Copies from shared to tensor memory by `tcgen05.cp`: which instruction copies a tile, and how it reads it.
//!
//! An instruction reads rows of 16 or 32 bytes by a matrix descriptor, as a product reads an operand that is contiguous
//! along `k` ([`wgmma`](crate::wgmma)). It writes them to 4 or 8 columns: to all rows of tensor memory, or the same
//! rows to several warps' quarters, or one row to each quarter. [`tensor_copy`] finds the instruction for two layouts,
//! or says why there is none (PTX ISA, "tcgen05.cp").
//!
//! ```
//! use kernel_layout::forms::{nvmma_shared, tensor_memory};
//! use kernel_layout::tensor_copy::{RowsHeld, tensor_copy};
//! use kernel_layout::tile::CopyShape;
//! let shared = nvmma_shared(128, 32, false, false, &[128, 64])?;
//! let memory = tensor_memory([128, 64], 1, false, &[128, 64])?;
//! let copy = tensor_copy(&shared, &memory, RowsHeld::All, 4).expect("an instruction copies it");
//! assert_eq!(copy.shape, CopyShape::M128x256b);
//! // Eight columns each; the second span of 32 elements is 128 rows further on.
//! let starts: Vec<_> = copy.instructions().collect();
//! assert_eq!(starts[..5], [(0, 0), (8, 32), (16, 64), (24, 96), (32, 16384)]);
//! # Ok::<(), kernel_layout::LayoutError>(())
//! ```

use std::error::Error;
use std::fmt;

use crate::layout::log2;
use crate::tile::CopyShape;
use crate::wgmma::{Major, Operand, SWIZZLES, Tile, exchanged};
use crate::{Dim, Layout};

/// The rows of tensor memory.
const ROWS: u32 = crate::forms::TENSOR_MEMORY_ROWS;
/// The fewest bytes of a row that an instruction copies.
const LEAST_ROW_BYTES: u32 = 16;
/// Bytes of a column.
const COLUMN_BYTES: u32 = 4;

/// How instructions copy a tile.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorCopy {
    /// The instruction.
    pub shape: CopyShape,
    /// How it reads shared memory: the rows of tensor memory are its rows, the columns are along `k`.
    pub source: Operand,
    /// The bytes of a row that one instruction copies: 16 or 32.
    pub row_bytes: u32,
    /// The bytes of a row of the tile.
    total_bytes: u32,
    element_bytes: u32,
}

impl TensorCopy {
    /// The first column of 32 bits that each instruction writes, and where it starts to read, in bytes from the start of the tile.
    pub fn instructions(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.total_bytes).step_by(self.row_bytes as usize).map(|byte| {
            (byte / COLUMN_BYTES, self.source.start_bytes(0, byte / self.element_bytes))
        })
    }
}

/// Which rows of tensor memory of a layout hold elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowsHeld {
    /// Each of them.
    All,
    /// Only the first of each warp's 32; the others, which the layout declares as its copies, hold nothing.
    FirstOfWarps,
}

/// Why no instruction copies a tile from shared to tensor memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CopyRefusal {
    /// The tile does not have all rows of tensor memory.
    Rows {
        /// The rows that its layout has.
        actual: u32,
        /// The rows of tensor memory.
        required: u32,
    },
    /// The copies are not rows that one instruction writes together.
    Copies {
        /// The bits of the row that choose copies; an instruction has none, 5, 6, or both.
        actual: Vec<u32>,
    },
    /// Elements leave gaps in their columns.
    Gaps,
    /// A row has fewer bits than the smallest instruction copies.
    RowBits {
        /// The bits of a row of the tile.
        actual: u32,
        /// The fewest bits that an instruction copies.
        required: u32,
    },
    /// The elements of one swizzled span are not contiguous in tensor memory.
    Interrupted {
        /// The bytes of a span.
        span_bytes: u32,
        /// The bytes of a span that are contiguous.
        actual: u32,
    },
    /// No descriptor leads to the elements of an instruction.
    Source,
}

impl fmt::Display for CopyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyRefusal::Rows { actual, required } => {
                write!(f, "rows of tensor memory: required {required}, actual {actual}")
            }
            CopyRefusal::Copies { actual } => {
                write!(
                    f,
                    "bits of the row that choose copies: required [], [5], [6] or [5, 6], actual {actual:?}"
                )
            }
            CopyRefusal::Gaps => f.write_str("elements leave gaps in their columns"),
            CopyRefusal::RowBits { actual, required } => {
                write!(f, "bits of a row: required a multiple of {required}, actual {actual}")
            }
            CopyRefusal::Interrupted { span_bytes, actual } => write!(
                f,
                "bytes of a swizzled span that follow one another in tensor memory: required {span_bytes}, actual {actual}"
            ),
            CopyRefusal::Source => {
                f.write_str("no matrix descriptor leads to the elements of an instruction")
            }
        }
    }
}

impl Error for CopyRefusal {}

/// How `tcgen05.cp` copies a tile of `element_bytes` (1, 2 or 4) from `shared` (from `Offset`) to `memory` (from `Row` and
/// `Col`, which counts elements).
///
/// The rows decide the instruction: rows with copies need one that writes several warps' quarters. It copies 32 bytes
/// of a row if it writes all rows and these are long enough, or if it writes one row for each warp; otherwise 16 bytes.
///
/// A swizzled span of the source, 32, 64 or 128 bytes of a row, has to be contiguous in tensor memory too: otherwise
/// the tile of 8 rows by a span, which a descriptor describes, does not exist.
///
/// # Errors
/// See [`CopyRefusal`].
///
/// # Requires
/// Both layouts are of tensors of the same two extents, and `shared` holds each element once.
///
/// # Ensures
/// The byte that an instruction's rule leads to holds the element that the layout of tensor memory has there
/// (`law_copies_write_what_the_layouts_say`).
pub fn tensor_copy(
    shared: &Layout,
    memory: &Layout,
    held: RowsHeld,
    element_bytes: u32,
) -> Result<TensorCopy, CopyRefusal> {
    let offsets =
        shared.sublayout(&[Dim::Offset], &Dim::axes(2)).invert().ok_or(CopyRefusal::Source)?;
    let bytes = |dim| -> Vec<Option<u32>> {
        memory
            .bases(dim)
            .iter()
            .map(|basis| {
                let at: Vec<(Dim, u32)> =
                    Dim::axes(2).into_iter().zip(basis.iter().copied()).collect();
                basis.iter().any(|&part| part != 0).then(|| offsets.apply(&at)[0] * element_bytes)
            })
            .collect()
    };
    let (rows, columns) = (bytes(Dim::Row), bytes(Dim::Col));
    if memory.in_size(Dim::Row) != ROWS {
        return Err(CopyRefusal::Rows { actual: memory.in_size(Dim::Row), required: ROWS });
    }
    let copies: Vec<usize> = (0..rows.len()).filter(|&bit| rows[bit].is_none()).collect();
    let half = LEAST_ROW_BYTES;
    let ways: &[(CopyShape, u32)] = match copies[..] {
        [0, 1, 2, 3, 4] if held == RowsHeld::FirstOfWarps => &[(CopyShape::M4x256b, 2 * half)],
        [] => &[(CopyShape::M128x256b, 2 * half), (CopyShape::M128x128b, half)],
        [5] => &[(CopyShape::M64x128bWarps01And23, half)],
        [6] => &[(CopyShape::M64x128bWarps02And13, half)],
        [5, 6] => &[(CopyShape::M32x128bWarps4, half)],
        _ => {
            let actual = copies.into_iter().map(|bit| bit.try_into().expect("a row has 7 bits"));
            return Err(CopyRefusal::Copies { actual: actual.collect() });
        }
    };
    let rows: Vec<u32> = rows.into_iter().flatten().collect();
    let Some(columns) = columns.into_iter().collect::<Option<Vec<u32>>>() else {
        return Err(CopyRefusal::Gaps);
    };
    let total_bytes = element_bytes << columns.len();
    let least = ways.iter().map(|&(_, row_bytes)| row_bytes).min().unwrap_or(LEAST_ROW_BYTES);
    if total_bytes < least {
        return Err(CopyRefusal::RowBits { actual: 8 * total_bytes, required: 8 * least });
    }
    for swizzle in SWIZZLES {
        let span_bytes = swizzle.max(LEAST_ROW_BYTES);
        if !follow_by(&rows, swizzle, span_bytes) {
            continue;
        }
        let actual = run_bytes(&columns, swizzle, element_bytes).min(span_bytes);
        if actual < span_bytes {
            return Err(CopyRefusal::Interrupted { span_bytes, actual });
        }
        for &(shape, row_bytes) in ways.iter().filter(|(_, row_bytes)| *row_bytes <= total_bytes) {
            let within = [rows.len(), log2(row_bytes / element_bytes)];
            let tile = Tile { bytes: [rows.clone(), columns.clone()], within, element_bytes };
            if let Some(source) = tile.read(Major::K, swizzle) {
                return Ok(TensorCopy { shape, source, row_bytes, total_bytes, element_bytes });
            }
        }
    }
    Err(CopyRefusal::Source)
}

/// Whether the first rows are one span apart: 8 of them are an atom.
fn follow_by(rows: &[u32], swizzle_bytes: u32, span_bytes: u32) -> bool {
    let mut atom = rows.iter().take(3).enumerate();
    atom.all(|(bit, &byte)| exchanged(byte, swizzle_bytes) == span_bytes << bit)
}

/// The bytes along the columns that are contiguous in shared memory, except for the swizzle.
fn run_bytes(columns: &[u32], swizzle_bytes: u32, element_bytes: u32) -> u32 {
    let plain = columns.iter().map(|&byte| exchanged(byte, swizzle_bytes));
    let follows = |&(bit, byte): &(usize, u32)| byte == element_bytes << bit;
    element_bytes << plain.enumerate().take_while(follows).count()
}

/// The layout in shared memory, without a swizzle, from which instructions copy to `memory`: 16 bytes of a row after
/// those of the previous row, then the next 16 bytes of all rows.
///
/// For scale factors, 128×4 bytes, this is their order in a block of 512 bytes (PTX ISA, "tcgen05.mma: Scale factor
/// layouts").
///
/// ```
/// use kernel_layout::forms::tensor_memory_scales;
/// use kernel_layout::tensor_copy::{RowsHeld, tensor_copy, unswizzled_source};
/// use kernel_layout::tile::CopyShape;
/// let memory = tensor_memory_scales(&[128, 4])?;
/// let shared = unswizzled_source(&memory, 1).expect("elements fill the columns");
/// // Byte (m % 32)·16 + (m / 32)·4 + j.
/// assert_eq!(shared.to_string(), "offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> [128, 4]");
/// let copy = tensor_copy(&shared, &memory, RowsHeld::All, 1).expect("an instruction copies it");
/// assert_eq!((copy.shape, copy.source.stride_bytes), (CopyShape::M32x128bWarps4, 128));
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// Nothing for a tile whose rows have fewer than 16 bytes, or gaps.
pub fn unswizzled_source(memory: &Layout, element_bytes: u32) -> Option<Layout> {
    let columns = memory.bases(Dim::Col);
    let near = log2(LEAST_ROW_BYTES / element_bytes);
    let is_copy = |basis: &Vec<u32>| basis.iter().all(|&part| part == 0);
    if columns.len() < near || columns.iter().any(is_copy) {
        return None;
    }
    let rows = memory.bases(Dim::Row).iter().filter(|basis| !is_copy(basis));
    let bases = columns[..near].iter().chain(rows).chain(&columns[near..]).cloned().collect();
    Layout::new(vec![(Dim::Offset, bases)], memory.outs().to_vec()).ok()
}
