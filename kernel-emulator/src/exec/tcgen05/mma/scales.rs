//! Scales of block-scaled products, in tensor memory (PTX ISA, "Scale Factor Layout").

use super::super::order::{self, Access};
use super::super::{Place, allocated, thread_address};
use super::{Instruction, Product};
use crate::code::tcgen05::Scales;
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Warp};
use crate::memory::tensor::Region;

/// Scales by slice, and the rows or columns whose scales were never written.
#[derive(Debug, Default)]
pub(super) struct Factors {
    pub(super) slices: Vec<Vec<f64>>,
    pub(super) unwritten: Vec<u32>,
}

impl Product<'_> {
    /// The scales of A and of B in the tensor memory of a block.
    pub(super) fn scales(
        &self,
        cx: &mut Context<'_>,
        warp: &Warp,
        scales: &Scales,
        block: usize,
    ) -> Run<[Factors; 2]> {
        let Instruction { columns, scale_ids, .. } = self.instruction;
        let a = thread_address(warp, &scales.a, self.lane)?;
        let b = thread_address(warp, &scales.b, self.lane)?;
        let a = self.scales_of(cx, block, ("A", a, scale_ids.0), (self.layout.rows, 1))?;
        // Where the columns of D come in two parts, so do the scales of B, each in half of the lanes.
        let parts = self.layout.parts;
        let b = self.scales_of(cx, block, ("B", b, scale_ids.1), (columns / parts, parts))?;
        Ok([a, b])
    }

    /// The scales of an operand: row `r` of a part is in lane `r % 32` of column `r / 32`, and the same in each quarter of the part's
    /// lanes (PTX ISA, "Scale Factor Layout").
    fn scales_of(
        &self,
        cx: &mut Context<'_>,
        block: usize,
        (name, place, id): (&str, Place, u32),
        (rows, parts): (u32, u32),
    ) -> Run<Factors> {
        let (count, _) = self.slices();
        let columns = rows.div_ceil(32);
        if place.lane != 0 {
            let detail = format!(
                "the scales of {name} of `tcgen05.mma` start in lane {} of tensor memory: required 0",
                place.lane
            );
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        let what = format!("the scales of {name} of `tcgen05.mma`");
        allocated(cx, block, place, columns, &what)?;
        let region = Region { shares: u8::MAX, column: place.column, columns };
        order::access(cx, &self.actor, (block, region), Access::Read)?;
        let tensor = &cx.cluster.blocks[block].tensor;
        let mut factors = Factors { slices: vec![Vec::new(); count], ..Factors::default() };
        let copies = 4 / parts;
        for row in 0..rows * parts {
            let (part, within) = (row / rows, row % rows);
            let column = place.column + within / 32;
            let cell = |copy: u32| {
                let lane = within % 32 + 32 * (copies * part + copy);
                let (cells, written) = tensor.row(lane, column, 1);
                (cells[0] >> (8 * id), written[0])
            };
            let (value, mut written) = cell(0);
            for copy in 1..copies {
                let (other, also) = cell(copy);
                written &= also;
                let mask = u32::MAX >> (32 - 8 * count);
                if written && (other ^ value) & mask != 0 {
                    let detail = format!(
                        "{what} differ between the quarters of the lanes: row {row} has {:#x} in lane {} and {:#x} in lane {}; `tcgen05.cp` with `.warpx4` writes all four",
                        value & mask,
                        within % 32 + 32 * copies * part,
                        other & mask,
                        within % 32 + 32 * (copies * part + copy),
                    );
                    return Err(Trap::new(FaultKind::IllegalOperand, detail));
                }
            }
            if !written {
                factors.unwritten.push(row);
            }
            for (slice, code) in factors.slices.iter_mut().zip(value.to_le_bytes()) {
                slice.push(self.instruction.scale.value(code));
            }
        }
        Ok(factors)
    }
}
