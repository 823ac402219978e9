//! `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`.

use super::flight::{self, Cargo, Flight};
use super::group::{self, Store};
use super::{Issuer, Piece, Row, Spot, global, own_spot, read_rows, spot, word};
use crate::code::tcgen05::Group;
use crate::code::{AsyncStore, Bulk, BulkWay, Landing};
use crate::exec::memory::{self, addresses, hazards};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, Warp};

/// Addresses and sizes of a bulk copy are multiples of this.
const UNIT: u32 = 16;

/// `cp.async.bulk` and its relatives; lanes one after another.
pub(crate) fn issue(cx: &mut Context<'_>, warp: &mut Warp, op: &Bulk, mask: u32) -> Run<()> {
    let from = addresses(warp, &op.from, mask)?;
    for lane in lanes(mask) {
        let bytes = word(warp, op.bytes, lane, "is the size of a bulk copy")?;
        one(cx, warp, op, (from[lane], bytes), lane).map_err(|trap| {
            if trap.lane.is_some() { trap } else { trap.lane(lane_number(lane)) }
        })?;
    }
    Ok(())
}

fn one(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Bulk,
    (from, bytes): (u64, u32),
    lane: usize,
) -> Run<()> {
    if !bytes.is_multiple_of(UNIT) {
        let detail = format!("a bulk copy of {bytes} bytes, which is not a multiple of {UNIT}");
        return Err(Trap::new(FaultKind::IllegalOperand, detail));
    }
    match op.way {
        BulkWay::Load(landing) => {
            let rows = source(cx, warp, (from, bytes))?;
            let mut data = vec![0; bytes as usize];
            for row in &rows {
                memory::global::async_read(cx, warp, lane, (row.address, row.bytes as u64))?;
            }
            let missing = read_rows(cx.launch, &mut warp.guess, &rows, &mut data)?;
            let to = at_lane(warp, landing.to, lane)?;
            let size = (bytes, u64::from(UNIT));
            let cargo = Cargo { missing, rows, ..Cargo::of(issuer(cx, warp, lane), data) };
            let pieces = |spot: Spot| vec![Piece { offset: spot.offset, bytes }];
            land_in(cx, warp, (landing, lane), (to, size), cargo, pieces)
        }
        BulkWay::Push { to, barrier } => {
            let to = at_lane(warp, to, lane)?;
            let to = spot(cx, to, (bytes, UNIT.into()), "the destination of a bulk copy")?;
            let barrier = mbarrier(cx, at_lane(warp, barrier, lane)?, to.block, Group::One)?;
            let (held, data) = own_source(cx, (warp, lane), (from, bytes))?;
            let issuer = issuer(cx, warp, lane);
            let cargo = Cargo { op: op.op, held: Some(held), ..Cargo::of(issuer, data) };
            let pieces = vec![Piece { offset: to.offset, bytes }];
            let Piece { offset, bytes } = held;
            cx.block().shared.hold(offset, bytes, (issuer.warp, issuer.pc));
            flight::depart(cx, Flight { cargo, barrier, block: to.block, pieces })
        }
        BulkWay::Store { to } => {
            let (held, data) = own_source(cx, (warp, lane), (from, bytes))?;
            let rows = source(cx, warp, (at_lane(warp, to, lane)?, bytes))?;
            let (lane, pc) = (lane_number(lane), warp.pc);
            group::issue(cx, warp, Store { lane, pc, source: vec![held], rows, data, op: op.op })
        }
        BulkWay::Prefetch => source(cx, warp, (from, bytes)).map(drop),
    }
}

/// The issuing lane.
pub(crate) fn issuer(cx: &Context<'_>, warp: &Warp, lane: usize) -> Issuer {
    Issuer { block: cx.block, warp: warp.index, lane: lane_number(lane), pc: warp.pc }
}

/// One lane's address.
pub(crate) fn at_lane(warp: &Warp, address: crate::code::Address, lane: usize) -> Run<u64> {
    Ok(addresses(warp, &address, 1 << lane)?[lane])
}

/// Issues a copy from global memory to each block that gets one; `pieces` are where it is from a place on.
pub(crate) fn land_in(
    cx: &mut Context<'_>,
    warp: &Warp,
    (landing, lane): (Landing, usize),
    (to, size): (u64, (u32, u64)),
    cargo: Cargo,
    pieces: impl Fn(Spot) -> Vec<Piece>,
) -> Run<()> {
    const WHAT: &str = "the destination of an asynchronous copy";
    let barrier = at_lane(warp, landing.barrier, lane)?;
    let first = if landing.own || landing.multicast.is_some() {
        own_spot(cx, to, size, WHAT)?
    } else {
        spot(cx, to, size, WHAT)?
    };
    let barrier = mbarrier(cx, barrier, first.block, landing.group)?;
    let Some(mask) = landing.multicast else {
        let (block, pieces) = (first.block, pieces(first));
        return flight::depart(cx, Flight { cargo, barrier, block, pieces });
    };
    let mask = word(warp, mask, lane, "names the blocks of a multicast")? & 0xFFFF;
    let blocks = cx.cluster.blocks.len();
    if mask == 0 || mask >> blocks != 0 {
        let detail = format!("a multicast to the blocks {mask:#06x} of a cluster of {blocks}");
        return Err(Trap::new(FaultKind::IllegalOperand, detail));
    }
    // The same places in each block, the mbarrier's included.
    for block in (0..blocks).filter(|block| mask >> block & 1 != 0) {
        let pieces = pieces(Spot { block, ..first });
        // Of each pair, the one with the place in it that the mbarrier's own block has.
        let barrier = match landing.group {
            Group::One => (block, barrier.1),
            Group::Pair => ((block & !1) | (barrier.0 & 1), barrier.1),
        };
        flight::depart(cx, Flight { cargo: cargo.clone(), barrier, block, pieces })?;
    }
    Ok(())
}

/// The mbarrier of a copy: block and word. It is in the block that the copy lands in, or in its pair.
fn mbarrier(cx: &Context<'_>, address: u64, block: usize, group: Group) -> Run<(usize, usize)> {
    let at = spot(cx, address, (8, 8), "the mbarrier of an asynchronous copy")?;
    let permitted = match group {
        Group::One => at.block == block,
        Group::Pair => at.block | 1 == block | 1,
    };
    if !permitted {
        let detail = format!(
            "the mbarrier of an asynchronous copy lies in block {} of the cluster, its destination in block {block}",
            at.block
        );
        return Err(Trap::new(FaultKind::WrongSpace, detail).address(address));
    }
    Ok((at.block, at.offset as usize / 8))
}

/// Checks bytes of global memory.
fn source(cx: &Context<'_>, warp: &mut Warp, (address, bytes): (u64, u32)) -> Run<Vec<Row>> {
    if !address.is_multiple_of(UNIT.into()) {
        let detail = format!("a bulk copy at {address:#x}, which is not a multiple of {UNIT}");
        return Err(Trap::new(FaultKind::Misaligned, detail).address(address));
    }
    if bytes == 0 {
        return Ok(Vec::new());
    }
    global(cx.launch, &mut warp.guess, (address, bytes.into()), "a bulk copy")?;
    Ok(vec![Row { address, start: 0, bytes: bytes as usize }])
}

/// Checks and reads bytes of the block's own shared memory.
fn own_source(
    cx: &mut Context<'_>,
    (warp, lane): (&Warp, usize),
    (address, bytes): (u64, u32),
) -> Run<(Piece, Vec<u8>)> {
    let size = (bytes, u64::from(UNIT));
    let from = own_spot(cx, address, size, "the source of a bulk copy")?;
    hazards::async_read(cx, (warp, lane), from.block, from.offset, bytes)?;
    let mut data = vec![0; bytes as usize];
    if let Some(offset) = cx.block().shared.read(from.offset, &mut data) {
        return Err(never_written(Spot { offset, ..from }));
    }
    Ok((Piece { offset: from.offset, bytes }, data))
}

/// The fault of a copy from shared memory that was never written.
pub(crate) fn never_written(at: Spot) -> Trap {
    let address = at.address();
    let detail = format!("an asynchronous copy of shared memory never written, at {address:#x}");
    Trap::new(FaultKind::Uninitialised, detail).address(address.into())
}

/// `st.async`, `red.async`.
pub(crate) fn store(cx: &mut Context<'_>, warp: &mut Warp, op: &AsyncStore, mask: u32) -> Run<()> {
    let (to, barrier) = (addresses(warp, &op.to, mask)?, addresses(warp, &op.barrier, mask)?);
    let bytes = op.bytes * u32::try_from(op.sources.len()).expect("at most four elements");
    for lane in lanes(mask) {
        let located = |trap: Trap| trap.lane(lane_number(lane));
        let mut data = Vec::with_capacity(bytes as usize);
        for &slot in &op.sources {
            if warp.regs.defined(slot) >> lane & 1 == 0 {
                let use_ = "is stored asynchronously";
                return Err(crate::exec::uninitialised(warp, slot, 1 << lane, use_));
            }
            let value = warp.regs.wide(slot)[lane].to_le_bytes();
            data.extend_from_slice(&value[..op.bytes as usize]);
        }
        let what = "the destination of an asynchronous store";
        let spot = spot(cx, to[lane], (bytes, bytes.into()), what).map_err(located)?;
        let barrier = mbarrier(cx, barrier[lane], spot.block, Group::One).map_err(located)?;
        let cargo = Cargo { op: op.op, ..Cargo::of(issuer(cx, warp, lane), data) };
        let pieces = vec![Piece { offset: spot.offset, bytes }];
        flight::depart(cx, Flight { cargo, barrier, block: spot.block, pieces })?;
    }
    Ok(())
}
