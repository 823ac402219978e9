//! `tcgen05.ld` and `tcgen05.st` (PTX ISA, "Tensor Memory and Register Load/Store Instructions").
//!
//! Stated by the manual's figures, one lane and register at a time. With `.pack::16b` and `.unpack::16b` a register
//! stands for two neighbouring columns, the lower one in its low half, and the figures count such pairs.

use super::order::{self, Access, Actor};
use super::{Place, allocated, warp_address};
use crate::code::tcgen05::{AccessShape, TensorAccess};
use crate::code::{LANES, W};
use crate::fault::{FaultKind, Run, Trap, Unwritten};
use crate::machine::{Context, Warp};
use crate::memory::tensor::Region;

/// Lanes of tensor memory that a warp reaches.
const QUARTER: u32 = 32;

impl AccessShape {
    const fn text(self) -> &'static str {
        match self {
            AccessShape::L32B32 => ".32x32b",
            AccessShape::L16B64 => ".16x64b",
            AccessShape::L16B128 => ".16x128b",
            AccessShape::L16B256 => ".16x256b",
            AccessShape::L16B32x2 { .. } => ".16x32bx2",
        }
    }

    /// Lanes of tensor memory.
    const fn lanes(self) -> u32 {
        match self {
            AccessShape::L32B32 => 32,
            AccessShape::L16B64
            | AccessShape::L16B128
            | AccessShape::L16B256
            | AccessShape::L16B32x2 { .. } => 16,
        }
    }

    /// The columns of this many registers: the number of one part, and how far the next part is away.
    const fn columns(self, registers: u32) -> (u32, Option<u32>) {
        match self {
            AccessShape::L32B32 => (registers, None),
            AccessShape::L16B64 | AccessShape::L16B128 | AccessShape::L16B256 => {
                (2 * registers, None)
            }
            AccessShape::L16B32x2 { split } => (registers, Some(split)),
        }
    }

    /// The lane and column of register `i` of a lane; `wide` is columns of a register, which the distance of the halves
    /// of `.16x32bx2` does not count in.
    const fn place(self, lane: u32, i: u32, wide: u32) -> (u32, u32) {
        match self {
            AccessShape::L32B32 => (lane, i * wide),
            AccessShape::L16B64 => (lane / 4 + lane % 2 * 8, (2 * i + lane / 2 % 2) * wide),
            AccessShape::L16B128 => (lane / 4 + i % 2 * 8, (i / 2 * 4 + lane % 4) * wide),
            AccessShape::L16B256 => {
                (lane / 4 + i / 2 % 2 * 8, (i / 4 * 8 + lane % 4 * 2 + i % 2) * wide)
            }
            AccessShape::L16B32x2 { split } => (lane % 16, lane / 16 * split + i * wide),
        }
    }
}

/// Where an access starts, and what it covers.
struct Target {
    place: Place,
    /// Columns of a register.
    wide: u32,
    regions: Vec<Region>,
}

/// Checks where a warp accesses tensor memory.
fn target(cx: &Context<'_>, warp: &Warp, op: &TensorAccess, name: &str) -> Run<Target> {
    let place = warp_address(warp, &op.address)?;
    let first = warp.index % 4 * QUARTER;
    let shape = op.shape.text();
    let span = op.shape.lanes();
    if !(first..first + QUARTER).contains(&place.lane) {
        let (index, last, quarter) = (warp.index, first + QUARTER - 1, warp.index % 4);
        let detail = format!(
            "`{name}` by warp {index} from lane {} of tensor memory on: required lanes {first} to {last}, a quarter of the lanes for each warp by its index modulo 4, so add {quarter} << 21 to the address of lane 0",
            place.lane
        );
        let address = u64::from(place.address());
        return Err(Trap::new(FaultKind::TensorMemory, detail).address(address));
    }
    if !(place.lane - first).is_multiple_of(span) {
        let detail = format!(
            "`{name}` of `{shape}` from lane {} of tensor memory on: a multiple of {span} is required",
            place.lane
        );
        return Err(Trap::new(FaultKind::Misaligned, detail).address(place.address().into()));
    }
    let wide = if op.halves { 2 } else { 1 };
    let registers = u32::try_from(op.registers.len()).expect("at most 128");
    let (columns, split) = op.shape.columns(registers);
    let columns = columns * wide;
    let shares = Region::shares(place.lane, span);
    let mut regions = Vec::new();
    for away in std::iter::once(0).chain(split) {
        let column = place.column.saturating_add(away);
        allocated(cx, cx.block, Place { column, ..place }, columns, &format!("`{name}`"))?;
        regions.push(Region { shares, column, columns });
    }
    Ok(Target { place, wide, regions })
}

/// The cells of register `i`, by lane: each is a lane, a column and a half.
fn cells(op: &TensorAccess, target: &Target, i: usize) -> impl Iterator<Item = (u32, u32)> {
    let (shape, place, wide) = (op.shape, target.place, target.wide);
    let i = u32::try_from(i).expect("at most 128");
    (0..32).map(move |lane| {
        let (row, column) = shape.place(lane, i, wide);
        (place.lane + row, place.column + column)
    })
}

/// `tcgen05.ld`
pub(super) fn load(cx: &mut Context<'_>, warp: &mut Warp, op: &TensorAccess) -> Run<()> {
    let target = target(cx, warp, op, "tcgen05.ld")?;
    let loads = &mut cx.block().tensor.warps[warp.index as usize].loads;
    loads.count += 1;
    loads.open.extend(&target.regions);
    let by = Actor::Warp { index: warp.index, pc: warp.pc, number: loads.count };
    for region in &target.regions {
        order::access(cx, &by, (cx.block, *region), Access::Read)?;
    }
    let tensor = &cx.block().tensor;
    let mut results = Vec::with_capacity(op.registers.len());
    let mut unwritten = None;
    for (i, register) in op.registers.iter().enumerate() {
        let (mut value, mut defined) = ([0; LANES], 0);
        for (lane, (row, column)) in cells(op, &target, i).enumerate() {
            let (cells, written) = tensor.row(row, column, target.wide);
            value[lane] = match cells {
                [cell] => *cell,
                cells => cells[0] & 0xFFFF | cells[1] << 16,
            };
            if written.iter().all(|written| *written) {
                defined |= 1 << lane;
            } else {
                let address = u64::from(Place { lane: row, column }.address());
                unwritten = Some((lane, address));
            }
        }
        results.push((*register, value, defined));
    }
    if let Some((lane, address)) = unwritten {
        let lane = crate::machine::warp::lane_number(lane);
        let place = crate::code::Place::Generic;
        warp.unwritten = Some(Unwritten { pc: warp.pc, lane, address, place });
    }
    let registers: Vec<W> = results.iter().map(|(register, ..)| *register).collect();
    for (register, value, defined) in results {
        warp.regs.set_w(register, &value, u32::MAX, defined);
    }
    warp.loads.issue(warp.pc, &registers);
    Ok(())
}

/// `tcgen05.st`
pub(super) fn store(cx: &mut Context<'_>, warp: &mut Warp, op: &TensorAccess) -> Run<()> {
    let target = target(cx, warp, op, "tcgen05.st")?;
    let stores = &mut cx.block().tensor.warps[warp.index as usize].stores;
    stores.count += 1;
    stores.open.extend(&target.regions);
    let by = Actor::Warp { index: warp.index, pc: warp.pc, number: stores.count };
    for region in &target.regions {
        order::access(cx, &by, (cx.block, *region), Access::Write)?;
    }
    let tensor = &mut cx.block().tensor;
    for (i, register) in op.registers.iter().enumerate() {
        let (value, defined) = (warp.regs.w(*register), warp.regs.w_defined(*register));
        for (lane, (row, column)) in cells(op, &target, i).enumerate() {
            let (cells, written) = tensor.row_mut(row, column, target.wide);
            match cells {
                [cell] => *cell = value[lane],
                cells => {
                    cells[0] = value[lane] & 0xFFFF;
                    cells[1] = value[lane] >> 16;
                }
            }
            written.fill(defined >> lane & 1 != 0);
        }
    }
    Ok(())
}

/// `tcgen05.wait::ld`
pub(super) fn wait_loads(cx: &mut Context<'_>, warp: &mut Warp) {
    warp.loads.wait();
    order::waited(cx, warp, Access::Read);
}

/// `tcgen05.wait::st`
pub(super) fn wait_stores(cx: &mut Context<'_>, warp: &Warp) {
    order::waited(cx, warp, Access::Write);
}
