//! The metadata of a sparse A, in tensor memory (PTX ISA, "Sparse Matrices", "Sparsity selector").
//!
//! The manual draws in figures where it is; in words, for an instruction of 128 rows in each block:
//!
//! | kind | columns | row `r`, group `g` along K |
//! |---|---|---|
//! | `f16`, `tf32` | that of a pair which the selector names | lane `r / 16 * 16 + r % 8 + 8 * (g / 4)`, bits `16 * (r / 8 % 2) + 4 * (g % 4)` and up |
//! | `f8f6f4`, `i8` | both of a pair, eight groups in each | lane `r`, bits `4 * (g % 8)` and up |
//!
//! CUTLASS (`tmem_e_frg`) and JAX (`format_tcgen05_sparse_metadata`) say the same. What neither they nor the manual's words say is how 64
//! rows in a block are, which is refused.

use super::super::order::{self, Access};
use super::super::{Place, allocated, thread_address};
use super::Product;
use crate::code::Address;
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Warp};
use crate::memory::tensor::Region;

/// The rows whose metadata a block has.
const ROWS: u32 = 128;

/// What the metadata of a block's rows says.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// For each row of A the rows of B by which its elements are multiplied.
    pub(super) rows_of_b: Vec<Vec<usize>>,
    /// Rows with metadata that was never written.
    pub(super) unwritten: Vec<u32>,
}

impl Product<'_> {
    /// The metadata in the tensor memory of a block.
    pub(super) fn metadata(
        &self,
        cx: &mut Context<'_>,
        warp: &Warp,
        address: &Address,
        block: usize,
    ) -> Run<Kept> {
        let refused = |detail: String, place: Place| {
            Err(Trap::new(FaultKind::IllegalOperand, detail).address(place.address().into()))
        };
        let place = thread_address(warp, address, self.lane)?;
        if self.layout.rows != ROWS || self.layout.parts != 1 {
            let detail = format!(
                "`tcgen05.mma.sp` with {} rows in each block is not modelled: required {ROWS}",
                self.layout.rows
            );
            return refused(detail, place);
        }
        if place.lane != 0 || place.column % 2 != 0 {
            let detail = format!(
                "the metadata of `tcgen05.mma.sp` starts in lane {} and column {} of tensor memory: required lane 0 and an even column",
                place.lane, place.column
            );
            return refused(detail, place);
        }
        let per_group = if self.instruction.a.factor.per_cell() == 1 { 2 } else { 4 };
        let groups = self.instruction.depth / per_group;
        let columns = if groups == 8 { 1 } else { 2 };
        let column = place.column + self.instruction.selector;
        let first = Place { column, ..place };
        allocated(cx, block, first, columns, "the metadata of `tcgen05.mma.sp`")?;
        let region = Region { shares: u8::MAX, column, columns };
        order::access(cx, &self.actor, (block, region), Access::Read)?;
        let tensor = &cx.cluster.blocks[block].tensor;
        let mut kept = Kept::default();
        for row in 0..ROWS {
            let (mut rows, mut known) = (Vec::new(), true);
            for group in 0..groups {
                let at = u32::try_from(group).expect("a row has few groups");
                let (lane, word, low) = if columns == 1 {
                    (row / 16 * 16 + row % 8 + 8 * (at / 4), 0, 16 * (row / 8 % 2) + 4 * (at % 4))
                } else {
                    (row, at / 8, 4 * (at % 8))
                };
                let (cells, written) = tensor.row(lane, column + word, 1);
                if !written[0] {
                    known = false;
                    break;
                }
                let bits = cells[0] >> low & 0xf;
                let Some(indices) = indices(per_group, bits) else {
                    let required = if per_group == 2 {
                        "0b0100 or 0b1110"
                    } else {
                        "0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110 or 0b1110"
                    };
                    let detail = format!(
                        "the metadata of group {group} of row {row} of A is {bits:#06b}: required {required} (PTX ISA, \"Sparse Matrices\")"
                    );
                    return refused(detail, Place { lane, column: column + word });
                };
                rows.extend(indices.iter().map(|index| group * per_group + index));
            }
            if !known {
                kept.unwritten.push(row);
                rows = vec![0; self.instruction.kept];
            }
            kept.rows_of_b.push(rows);
        }
        Ok(kept)
    }
}

/// Where the elements of a group are that A has, as its four bits say; none if they have no meaning.
fn indices(per_group: usize, bits: u32) -> Option<&'static [usize]> {
    match (per_group, bits) {
        (2, 0b0100) => Some(&[0]),
        (2, 0b1110) => Some(&[1]),
        (4, 0b0100) => Some(&[0, 1]),
        (4, 0b1000) => Some(&[0, 2]),
        (4, 0b1100) => Some(&[0, 3]),
        (4, 0b1001) => Some(&[1, 2]),
        (4, 0b1101) => Some(&[1, 3]),
        (4, 0b0110) => Some(&[2, 1]),
        (4, 0b1110) => Some(&[2, 3]),
        _ => None,
    }
}
