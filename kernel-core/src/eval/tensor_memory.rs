//! The places of elements in tensor memory, by the figures of the PTX manual: arithmetic on rows and columns, element by element.
//!
//! The compiler has the same as linear maps (`layouts/tensor_memory.rs`), which are not used here; a test compares the two.
//! What a user wrote, or what products make of an allocation, decides which of four rules applies:
//!
//! | rule | row of memory | byte of the row |
//! |---|---|---|
//! | blocks of products ("Data path layout" D, F and B) | the row in the block | blocks contiguous, along the rows first |
//! | metadata of operands of 16 and 32 bits ("Sparsity selector") | the row, but bit 3 is the lowest bit of the column | two columns to a word; bit 3 of the row chooses the half |
//! | scales ("Scale factor layouts") | the row modulo 32, again for each warp | four along `k` to a word, then 32 rows after 32 rows |
//! | extents and strides, as a user writes them | the sum of the steps along `TLane` | the sum of the steps along `TCol` |

use kernel_layout::Form;
use kernel_layout::tile::{Iter, TileAxis, TileLayout};

use crate::ir::{CtaGroup, Kernel, TensorMemory, TensorMemoryRole};

/// The rows of tensor memory (PTX ISA, "Tensor Memory Addressing").
pub(super) const ROWS: u32 = 128;
/// The bytes of one row in one column (PTX ISA, "Tensor Memory Addressing").
pub(super) const WORD_BYTES: u32 = 4;
/// The most columns of one product (PTX ISA, "tcgen05.mma: Matrix shape").
const PRODUCT_COLUMNS: u32 = 256;
/// Rows that one warp reaches (PTX ISA, "tcgen05: Access restrictions").
const WARP_ROWS: u32 = 32;
/// Rows that stay together in a block of 64: a warp's 32 rows have as many of them, and as many others (PTX ISA, "Data path layout F").
const SLAB_ROWS: u32 = 16;

/// How the tiles of an allocation, or of a view, are in its columns.
pub(super) struct Arrangement {
    rule: Rule,
    /// The rows and columns of a tile.
    tile: [u32; 2],
    element_bytes: u32,
}

enum Rule {
    Blocks {
        block: [u32; 2],
        col_stride: u32,
        two_ctas: bool,
    },
    Scales,
    /// Metadata of operands of 16 and 32 bits.
    Metadata,
    Strides(TileLayout),
}

impl Arrangement {
    pub(super) fn of(kernel: &Kernel, root: TensorMemory) -> Arrangement {
        let data = &kernel.tensor_memory[root];
        let Some(&tile) = data.shape.last_chunk() else {
            unreachable!("elaborate makes tiles of two axes");
        };
        let [rows, columns]: [u32; 2] = tile;
        let element_bytes = data.dtype.bytes();
        let rule = match (&data.pinned, data.role) {
            (Some(Form::TensorMemory { block, col_stride, two_ctas }), _) => {
                Rule::Blocks { block: *block, col_stride: *col_stride, two_ctas: *two_ctas }
            }
            (Some(Form::Tile(strides)), _) => Rule::Strides(strides.clone()),
            (Some(Form::TensorMemoryScales), _) | (None, TensorMemoryRole::Scales) => Rule::Scales,
            (Some(_), _) => unreachable!("elaborate refuses other layouts of tensor memory"),
            (None, TensorMemoryRole::Metadata { factor_bytes }) if factor_bytes > 1 => {
                Rule::Metadata
            }
            (
                None,
                role @ (TensorMemoryRole::Sums
                | TensorMemoryRole::Values
                | TensorMemoryRole::Metadata { .. }),
            ) => {
                let sums = role == TensorMemoryRole::Sums;
                Rule::Blocks {
                    block: [rows.min(ROWS), columns.min(PRODUCT_COLUMNS)],
                    // A sum has a word, whatever its type; other elements fill the words.
                    col_stride: if sums { (WORD_BYTES / element_bytes).max(1) } else { 1 },
                    two_ctas: sums && kernel.cta_group() == CtaGroup::Pair,
                }
            }
        };
        Arrangement { rule, tile, element_bytes }
    }

    /// The columns of 32 bits from one tile to the next.
    pub(super) fn columns(&self) -> u32 {
        let [rows, columns] = self.tile;
        let all = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
        let last = all.map(|at| self.place(at)[1] / WORD_BYTES).max().unwrap_or(0);
        (last + 1).next_power_of_two()
    }

    /// The row of memory, and the first byte in that, at which an element is, or the first of its copies.
    pub(super) fn place(&self, [row, column]: [u32; 2]) -> [u32; 2] {
        match &self.rule {
            Rule::Blocks { block, col_stride, two_ctas } => {
                let [lane, place] = self.in_blocks(*block, *two_ctas, [row, column]);
                [lane, place * col_stride * self.element_bytes]
            }
            Rule::Scales => {
                let words_down = self.tile[0].div_ceil(WARP_ROWS);
                let word = column / WORD_BYTES * words_down + row / WARP_ROWS;
                [row % WARP_ROWS, word * WORD_BYTES + column % WORD_BYTES]
            }
            Rule::Metadata => {
                // Of each sixteen rows, two that are eight apart share words, and two adjacent elements of them are in two lanes.
                let sixteen = row % ROWS / 16 * 16;
                let half = row % 16 / 8;
                let lane = sixteen + row % 8 + 8 * (column % 2);
                let word = row / ROWS * (self.tile[1] / 2) + column / 2;
                [lane, word * WORD_BYTES + half * self.element_bytes]
            }
            Rule::Strides(layout) => {
                let index = u64::from(row * self.tile[1] + column);
                let [lane, place] = [TileAxis::TLane, TileAxis::TCol]
                    .map(|axis| along(layout, index, axis) + offset(layout, axis));
                [lane, place * self.element_bytes]
            }
        }
    }

    /// The row of memory of an element, and how many elements are before it there.
    fn in_blocks(&self, block: [u32; 2], two_ctas: bool, [row, column]: [u32; 2]) -> [u32; 2] {
        let [rows, _] = self.tile;
        if block[0] == ROWS {
            let number = column / block[1] * (rows / ROWS) + row / ROWS;
            return [row % ROWS, number * block[1] + column % block[1]];
        }
        if two_ctas && block[1] > 1 {
            // Data path layout B: the right half of the columns in the lower half of the rows.
            let half = block[1] / 2;
            let number = column / block[1] * (rows / block[0]) + row / block[0];
            let right = column % block[1] / half;
            return [row % block[0] + right * block[0], number * half + column % half];
        }
        // Data path layout F: each warp has 16 rows of the block; the other 16 are those of the next block, down or to the right.
        let lane = row % block[0] / SLAB_ROWS * WARP_ROWS + row % SLAB_ROWS;
        let (down, right) = (row / block[0], column / block[1]);
        let (slab, number) = if rows > block[0] {
            (down % 2, right * (rows / ROWS) + down / 2)
        } else {
            (right % 2, right / 2)
        };
        [lane + slab * SLAB_ROWS, number * block[1] + column % block[1]]
    }

    /// How far below an element its copies are, itself included.
    pub(super) fn copies(&self) -> Vec<u32> {
        match &self.rule {
            Rule::Blocks { .. } | Rule::Metadata => vec![0],
            // Each warp has them, in all of its rows.
            Rule::Scales => (0..ROWS).step_by(self.tile[0].min(WARP_ROWS) as usize).collect(),
            Rule::Strides(layout) => {
                let mut copies = vec![0];
                let down = layout.replica().iter().filter(|copy| copy.axis == TileAxis::TLane);
                for Iter { extent, stride, .. } in down {
                    let steps = (0..*extent).map(|digit| rows_or_columns(digit, *stride));
                    copies =
                        steps.flat_map(|step| copies.iter().map(move |copy| copy + step)).collect();
                }
                copies
            }
        }
    }
}

/// The sum of an index's steps along an axis: its digits, the last one fastest and the first without a limit, times their strides.
fn along(layout: &TileLayout, index: u64, axis: TileAxis) -> u32 {
    let (mut rest, mut sum) = (index, 0);
    for (at, Iter { extent, stride, axis: of }) in layout.shard().iter().enumerate().rev() {
        if *of == axis {
            sum += rows_or_columns(if at == 0 { rest } else { rest % extent }, *stride);
        }
        rest /= extent;
    }
    sum
}

fn offset(layout: &TileLayout, axis: TileAxis) -> u32 {
    layout.offset().get(&axis).map_or(0, |&offset| rows_or_columns(1, offset))
}

fn rows_or_columns(digit: u64, stride: i64) -> u32 {
    let step = i64::try_from(digit).ok().and_then(|digit| u32::try_from(digit * stride).ok());
    step.expect("elaborate has checked that tiles lie within tensor memory")
}
