//! `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`, in tiled mode, of four
//! rows and, for loads, in im2col mode.

mod scatter;
mod tile;

use super::bulk::copy::{at_lane, issuer, land_in, never_written};
use super::bulk::flight::Cargo;
use super::bulk::group::{self, Store};
use super::bulk::{Spot, global, own_spot, ranges, read_rows, word};
use super::memory::{self, hazards, resolve};
use super::tensormap;
use crate::code::{AtomOp, Elements, LANES, Place, Tensor, TensorWay};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, Warp};
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE};
use crate::numeric::atomic::{FloatOp, IntOp};
use crate::numeric::integer::Int;
use crate::numeric::narrow::Half;
use crate::tensor_map::{Pixels, TensorMap};
use tile::{Tile, UNIT};

/// The alignment of the shared memory of a tensor copy (PTX ISA, "cp.async.bulk.tensor").
const SHARED_ALIGN: u64 = 128;

/// A tensor copy; lanes one after another.
pub(crate) fn issue(cx: &mut Context<'_>, warp: &mut Warp, op: &Tensor, mask: u32) -> Run<()> {
    for lane in lanes(mask) {
        one(cx, warp, op, lane).map_err(|trap| {
            if trap.lane.is_some() { trap } else { trap.lane(lane_number(lane)) }
        })?;
    }
    Ok(())
}

fn one(cx: &mut Context<'_>, warp: &mut Warp, op: &Tensor, lane: usize) -> Run<()> {
    let (map, pixels) = map(cx, warp, op, lane)?;
    let mut coordinates = Vec::with_capacity(op.coordinates.len());
    for &slot in &op.coordinates {
        coordinates.push(word(warp, slot, lane, "is a coordinate of a tensor copy")?.cast_signed());
    }
    let mut offsets = Vec::with_capacity(op.offsets.len());
    for &slot in &op.offsets {
        let offset = word(warp, slot, lane, "is an offset of a tensor copy")?;
        offsets.push(offset & 0xFFFF);
    }
    let tile = match (op.elements, pixels) {
        (Elements::Tile, None) => Tile::new(&map, &coordinates)?,
        (Elements::FourRows, None) => Tile::four_rows(&map, &coordinates)?,
        (Elements::Pixels, Some(pixels)) => Tile::pixels(&map, &pixels, &coordinates, &offsets)?,
        (Elements::Pixels, None) => return Err(other_mode("an im2col", "a tiled")),
        (Elements::Tile | Elements::FourRows, Some(_)) => {
            return Err(other_mode("a tiled", "an im2col"));
        }
    };
    for row in &tile.inside {
        let span = (row.address, row.bytes as u64);
        global(cx.launch, &mut warp.guess, span, "a tensor copy")?;
    }
    // Without an element of the tensor, a copy touches where the map begins: an H100 stops with an illegal address if nothing is there.
    if op.elements == Elements::Tile
        && tile.inside.is_empty()
        && cx.launch.allocation(map.address, &mut warp.guess).is_none()
    {
        let detail = format!(
            "a tensor copy of a box without any element of its tensor touches global memory at {:#x}, where its map begins and nothing is allocated",
            map.address
        );
        return Err(Trap::new(FaultKind::OutOfBounds, detail).address(map.address));
    }
    match op.way {
        TensorWay::Load(landing) => {
            let mut data = fill(&map, tile.bytes());
            let rows = tile.inside.clone();
            for row in &rows {
                memory::global::async_read(cx, warp, lane, (row.address, row.bytes as u64))?;
            }
            let missing = read_rows(cx.launch, &mut warp.guess, &rows, &mut data)?;
            let to = at_lane(warp, landing.to, lane)?;
            let cargo = Cargo { missing, rows, ..Cargo::of(issuer(cx, warp, lane), data) };
            let size = (tile.shared_bytes(), SHARED_ALIGN);
            let pieces = |spot: Spot| tile.pieces(spot.address(), base(spot.block));
            land_in(cx, warp, (landing, lane), (to, size), cargo, pieces)
        }
        TensorWay::Store { from, op: verb } => {
            begins_inside(op.elements, &coordinates)?;
            if op.elements == Elements::FourRows && verb.is_none() {
                scatter::apart(cx, &tile.inside)?;
            }
            let op = verb.map(|verb| reduction(verb, map.dtype)).transpose()?;
            if op.is_none() {
                ends_with_a_unit(&tile)?;
            }
            let size = (tile.shared_bytes(), SHARED_ALIGN);
            let from = at_lane(warp, from, lane)?;
            let from = own_spot(cx, from, size, "the source of a tensor copy")?;
            let pieces = tile.pieces(from.address(), base(from.block));
            let source = ranges(&pieces);
            for piece in &source {
                hazards::async_read(cx, (warp, lane), from.block, piece.offset, piece.bytes)?;
            }
            let mut data = vec![0; tile.bytes()];
            let mut start = 0;
            for piece in pieces {
                let end = start + piece.bytes as usize;
                let unwritten = cx.block().shared.read(piece.offset, &mut data[start..end]);
                // What is outside the tensor is not stored, so it need not have been written.
                if let Some(offset) = unwritten {
                    let bytes = start..end;
                    check_written(cx, &tile, (offset, piece.offset), &bytes)?;
                }
                start = end;
            }
            let (lane, pc) = (lane_number(lane), warp.pc);
            let store = Store { lane, pc, source, rows: tile.inside, data, op };
            group::issue(cx, warp, store)
        }
        TensorWay::Prefetch => Ok(()),
    }
}

/// A map is for copies of its mode (PTX ISA, "Tensor Copy Modes").
fn other_mode(copy: &str, map: &str) -> Trap {
    Trap::new(FaultKind::IllegalOperand, format!("{copy} copy with {map} tensor map"))
}

/// Checks that a box that is stored, or reduced into the tensor, begins in it or after it. PTX ISA does not ask for it, but
/// an H200 stops such a copy with an illegal instruction, along every dimension; it carries out loads from there. Nor
/// may a scattered row be before the tensor.
fn begins_inside(elements: Elements, coordinates: &[i32]) -> Run<()> {
    let Some((dimension, at)) = coordinates.iter().enumerate().find(|(_, at)| **at < 0) else {
        return Ok(());
    };
    if elements == Elements::FourRows {
        let what = if dimension == 0 { "column" } else { "row" };
        let detail = format!(
            "a scatter by tensor map writes before the tensor: {what} {at}; only gathers may have negative rows and columns"
        );
        return Err(Trap::new(FaultKind::IllegalOperand, detail));
    }
    let detail = format!(
        "the box of a store by tensor map begins before the tensor: coordinate {dimension}, from the innermost, is {at}; only \
         boxes of loads may"
    );
    Err(Trap::new(FaultKind::IllegalOperand, detail))
}

/// Checks that the rows of a box that is stored end with a whole unit. PTX ISA does not ask for it, but an H200 writes whole
/// units of 16 bytes: up to 15 bytes after a row that ends within one, in the padding or the next row, or after the tensor.
fn ends_with_a_unit(tile: &Tile) -> Run<()> {
    let Some(row) = tile.inside.iter().find(|row| !row.bytes.is_multiple_of(UNIT as usize)) else {
        return Ok(());
    };
    let over = row.bytes.next_multiple_of(UNIT as usize) - row.bytes;
    let detail = format!(
        "a row of a store by tensor map ends in the middle of {UNIT} bytes, and the hardware writes all of them: {over} bytes \
         behind the row would be overwritten; the tensor's innermost extent has to be a multiple of {UNIT} bytes"
    );
    let end = row.address.wrapping_add(row.bytes as u64);
    Err(Trap::new(FaultKind::OutOfBounds, detail).address(end))
}

/// Checks the bytes of a piece that are inside the tensor, one by one from the first that was never written.
fn check_written(
    cx: &mut Context<'_>,
    tile: &Tile,
    (first, offset): (u32, u32),
    bytes: &std::ops::Range<usize>,
) -> Run<()> {
    let skip = (first - offset) as usize;
    for (at, place) in (first..).zip(bytes.clone().skip(skip)) {
        let inside =
            tile.inside.iter().any(|row| (row.start..row.start + row.bytes).contains(&place));
        if inside && cx.block().shared.read(at, &mut [0]).is_some() {
            return Err(never_written(Spot { block: cx.block, offset: at }));
        }
    }
    Ok(())
}

/// The shared address of the first byte of a block.
fn base(block: usize) -> u32 {
    u32::try_from(block).expect("clusters are small") << RANK_SHIFT | SHARED_BASE
}

/// The tensor map of a lane's copy.
fn map(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Tensor,
    lane: usize,
) -> Run<(TensorMap, Option<Pixels>)> {
    let address = at_lane(warp, op.map, lane)?;
    let mut addresses = [0; LANES];
    addresses[lane] = address;
    let (place, address) = match op.map.place {
        Place::Generic => {
            let (place, _, local) = resolve(&addresses, 1 << lane);
            (place, local[lane])
        }
        Place::Global | Place::Const | Place::Param | Place::Local | Place::Shared => {
            (op.map.place, address)
        }
    };
    let (map, pixels) = tensormap::read(cx, &mut warp.guess, place, address)?;
    if place != Place::Param {
        tensormap::order::read(cx, (warp, lane), address)?;
    }
    map.check().map_err(|problem| {
        let detail = format!("the tensor map at {address:#x}: {problem}");
        Trap::new(FaultKind::IllegalOperand, detail).address(address)
    })?;
    Ok((map, pixels))
}

/// The bytes of a box that is outside its tensor.
fn fill(map: &TensorMap, bytes: usize) -> Vec<u8> {
    if map.oob_fill == 0 {
        return vec![0; bytes];
    }
    // The payload of the NaN is not documented; an H200 writes 0x7ff7 in every two bytes, of f32 and bf16.
    (0..bytes).map(|i| if i % 2 == 1 { 0x7F } else { 0xF7 }).collect()
}

/// What a reduction does to elements of a type (PTX ISA, "cp.reduce.async.bulk.tensor"; types as in
/// "cp.reduce.async.bulk"). Of signed 64 bits there are the smallest and the largest alone: at bits, an H200 stops with an illegal instruction.
fn reduction(verb: IntOp, dtype: u32) -> Run<AtomOp> {
    let float = match verb {
        IntOp::Add => Some(FloatOp::Add),
        IntOp::Min => Some(FloatOp::Min),
        IntOp::Max => Some(FloatOp::Max),
        IntOp::Inc | IntOp::Dec | IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Exchange => None,
    };
    let bitwise = matches!(verb, IntOp::And | IntOp::Or | IntOp::Xor);
    let counting = matches!(verb, IntOp::Inc | IntOp::Dec);
    let int = |int: Int| Some(AtomOp::Int(verb, int));
    let op = match dtype {
        2 => int(Int::U32),
        3 if !counting => int(Int::S32),
        4 if !counting => int(Int::U64),
        5 if matches!(verb, IntOp::Min | IntOp::Max) => int(Int::S64),
        6 => float.map(|op| AtomOp::Half(op, Half::F16)),
        7 if verb == IntOp::Add => Some(AtomOp::F32(FloatOp::Add)),
        8 if verb == IntOp::Add => Some(AtomOp::F64(FloatOp::Add)),
        9 => float.map(|op| AtomOp::Half(op, Half::Bf16)),
        _ => None,
    };
    op.filter(|op| !bitwise || matches!(op, AtomOp::Int(..))).ok_or_else(|| {
        let detail = format!("no reduction {verb:?} of elements of tensor map type {dtype}");
        Trap::new(FaultKind::IllegalOperand, detail)
    })
}
