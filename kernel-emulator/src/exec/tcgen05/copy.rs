//! `tcgen05.cp` and `tcgen05.shift` (PTX ISA, "Tensor Memory Data Movement Instructions").

use super::flight::{self, Work};
use super::operand::{Descriptor, Major, bytes};
use super::order::{self, Access, Actor};
use super::{Place, allocated, blocks, thread_address};
use crate::code::tcgen05::{CopyShape, Expand, Group, TensorCopy};
use crate::code::{Address, Slot};
use crate::exec::memory::hazards;
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Warp};
use crate::memory::tensor::Region;

impl CopyShape {
    /// Rows, and units of sixteen bytes of a row.
    const fn extents(self) -> (u32, u32) {
        match self {
            CopyShape::R128B256 => (128, 2),
            CopyShape::R128B128 => (128, 1),
            CopyShape::R4B256 => (4, 2),
            CopyShape::R64Warps0213 | CopyShape::R64Warps0123 => (64, 1),
            CopyShape::R32 => (32, 1),
        }
    }

    /// The lanes that get a row.
    fn lanes(self, row: u32) -> Vec<u32> {
        match self {
            CopyShape::R128B256 | CopyShape::R128B128 => vec![row],
            CopyShape::R4B256 => vec![32 * row],
            CopyShape::R64Warps0213 => vec![row, row + 64],
            CopyShape::R64Warps0123 if row < 32 => vec![row, row + 32],
            CopyShape::R64Warps0123 => vec![row + 32, row + 64],
            CopyShape::R32 => vec![row, row + 32, row + 64, row + 96],
        }
    }
}

/// Sixteen elements of a byte each, where the elements of shared memory are narrower: those of four bits in bits 2 to 5, those of
/// six in the low ones.
fn expanded(value: u128, expand: Option<Expand>) -> u128 {
    let (bits, up) = match expand {
        None => return value,
        Some(Expand::From6) => (6, 0),
        Some(Expand::From4) => (4, 2),
    };
    let mut out = 0;
    for j in 0..16 {
        let element = value >> (bits * j) & ((1 << bits) - 1);
        out |= element << (8 * j + up);
    }
    out
}

/// `tcgen05.cp`
pub(super) fn issue(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &TensorCopy,
    lane: usize,
) -> Run<()> {
    let place = thread_address(warp, &op.to, lane)?;
    if warp.regs.d_defined(op.from) >> lane & 1 == 0 {
        let use_ = "is the descriptor of the source of a copy";
        return Err(crate::exec::uninitialised(warp, Slot::D(op.from), 1 << lane, use_));
    }
    let bits = warp.regs.d(op.from)[lane];
    let descriptor = Descriptor::decode(bits, "the source of `tcgen05.cp`")?;
    let within = if op.shape == CopyShape::R4B256 { 32 } else { 1 };
    if place.lane >= within {
        let detail = format!(
            "`tcgen05.cp` to lane {} of tensor memory: required lane 0, as it writes all quarters",
            place.lane
        );
        return Err(Trap::new(FaultKind::IllegalOperand, detail).address(place.address().into()));
    }
    let (rows, units) = op.shape.extents();
    let columns = 4 * units;
    let used = match op.expand {
        None => 16,
        Some(Expand::From6) => 12,
        Some(Expand::From4) => 8,
    };
    let thread = flight::thread(cx, warp, lane);
    let (number, signature) = cx.cluster.tensor.issue(thread, Work::Copy);
    let actor = Actor::Operation { number, pc: warp.pc, signature, warp: warp.index };
    let mut shares = 0;
    for lane in (0..rows).flat_map(|row| op.shape.lanes(row)) {
        shares |= Region::shares(place.lane + lane, 1);
    }
    let mut reads = Vec::new();
    for block in blocks(cx, op.group)? {
        allocated(cx, block, place, columns, "the destination of `tcgen05.cp`")?;
        let region = Region { shares, column: place.column, columns };
        order::access(cx, &actor, (block, region), Access::Write)?;
        let here = &mut cx.cluster.blocks[block];
        let mut read = Vec::new();
        for row in 0..rows {
            for unit in 0..units {
                let address = descriptor.unit(Major::K, row, unit);
                let from = bytes(&here.shared, address, used, "the source of `tcgen05.cp`")?;
                read.push(from.unit);
                let value = expanded(from.value, op.expand).to_le_bytes();
                // What is narrower is widened all together.
                let known = match op.expand {
                    None => from.words_written(&here.shared),
                    Some(_) => [from.written; 4],
                };
                for lane in op.shape.lanes(row) {
                    let (cells, written) =
                        here.tensor.row_mut(place.lane + lane, place.column + 4 * unit, 4);
                    for (cell, word) in cells.iter_mut().zip(value.chunks_exact(4)) {
                        *cell = u32::from_le_bytes(*word.first_chunk().expect("four bytes"));
                    }
                    written.copy_from_slice(&known);
                }
            }
        }
        hazards::landed(cx, block, &read, "the source of `tcgen05.cp`")?;
        flight::reads(cx, (warp, lane), (block, &read), "tcgen05.cp")?;
        reads.push((block, read));
    }
    flight::depart(cx, warp, (number, signature), reads);
    Ok(())
}

/// `tcgen05.shift.down`: 32 bytes of each lane go to the next one, but for the last of 32 (PTX ISA, "Data Movement Shape":
/// `.31x256b`).
pub(super) fn shift(
    cx: &mut Context<'_>,
    warp: &Warp,
    (group, address): (Group, &Address),
    lane: usize,
) -> Run<()> {
    const COLUMNS: u32 = 8;
    const LANES: u32 = 32;
    let place = thread_address(warp, address, lane)?;
    if !place.lane.is_multiple_of(LANES) || place.lane >= 128 {
        let detail = format!(
            "`tcgen05.shift` from lane {} of tensor memory on: a multiple of 32 below 128 is required",
            place.lane
        );
        return Err(Trap::new(FaultKind::Misaligned, detail).address(place.address().into()));
    }
    let thread = flight::thread(cx, warp, lane);
    let (number, signature) = cx.cluster.tensor.issue(thread, Work::Shift);
    let actor = Actor::Operation { number, pc: warp.pc, signature, warp: warp.index };
    for block in blocks(cx, group)? {
        allocated(cx, block, place, COLUMNS, "what `tcgen05.shift` moves")?;
        let shares = Region::shares(place.lane, LANES);
        let region = Region { shares, column: place.column, columns: COLUMNS };
        order::access(cx, &actor, (block, region), Access::Write)?;
        let tensor = &mut cx.cluster.blocks[block].tensor;
        for lane in (place.lane + 1..place.lane + LANES).rev() {
            let Place { column, .. } = place;
            let (cells, written) = tensor.row(lane - 1, column, COLUMNS);
            let (cells, written) = (cells.to_vec(), written.to_vec());
            let (to, to_written) = tensor.row_mut(lane, column, COLUMNS);
            to.copy_from_slice(&cells);
            to_written.copy_from_slice(&written);
        }
    }
    flight::depart(cx, warp, (number, signature), Vec::new());
    Ok(())
}
