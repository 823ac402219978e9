//! Tensor maps in memory: reading them, `tensormap.replace`, `tensormap.cp_fenceproxy`.

pub(crate) mod order;

use super::bulk::{global, own_spot};
use super::memory::{Access, addresses, hazards, resolve};
use crate::code::{LANES, MapCopy, Place, Replace};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, PARAM_BASE, Warp};
use crate::tensor_map::encoded::{self, TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES};
use crate::tensor_map::{Pixels, TensorMap};

/// Bytes of a tensor map, as sizes of accesses are given.
const BYTES: u32 = 128;

/// The 128 bytes of a tensor map.
type Bytes = [u8; TENSOR_MAP_BYTES];

/// Reads the tensor map at an address of a space.
pub(super) fn read(
    cx: &Context<'_>,
    guess: &mut usize,
    place: Place,
    address: u64,
) -> Run<(TensorMap, Option<Pixels>)> {
    let bytes = fetch(cx, guess, place, address)?;
    encoded::decode(&bytes).map_err(|problem| wrong_map(address, &problem))
}

fn wrong_map(address: u64, problem: &str) -> Trap {
    let detail = format!("the tensor map at {address:#x}: {problem}");
    Trap::new(FaultKind::IllegalOperand, detail).address(address)
}

fn not_a_map(address: u64) -> Trap {
    let detail = format!("the {TENSOR_MAP_BYTES} bytes at {address:#x} are not a tensor map");
    Trap::new(FaultKind::IllegalOperand, detail).address(address)
}

fn aligned(address: u64) -> Run<()> {
    if address.is_multiple_of(TENSOR_MAP_ALIGN) {
        return Ok(());
    }
    let detail =
        format!("a tensor map at {address:#x}, which is not a multiple of {TENSOR_MAP_ALIGN}");
    Err(Trap::new(FaultKind::Misaligned, detail).address(address))
}

fn fetch(cx: &Context<'_>, guess: &mut usize, place: Place, address: u64) -> Run<Bytes> {
    aligned(address)?;
    let mut bytes = [0; TENSOR_MAP_BYTES];
    match place {
        Place::Global | Place::Const | Place::Generic => {
            let span = (address, TENSOR_MAP_BYTES as u64);
            let (memory, offset) = global(cx.launch, guess, span, "a tensor map")?;
            if memory.read(offset, &mut bytes).is_some() {
                return Err(not_a_map(address));
            }
        }
        Place::Param => {
            let size = u64::from(cx.launch.param_bytes);
            let start = address.checked_sub(PARAM_BASE);
            let start = start.filter(|start| start + TENSOR_MAP_BYTES as u64 <= size);
            let Some(start) = start.and_then(|start| usize::try_from(start / 8).ok()) else {
                let detail = format!(
                    "a tensor map at parameter address {address:#x}, outside the entry's {size} bytes of parameters"
                );
                return Err(Trap::new(FaultKind::OutOfBounds, detail).address(address));
            };
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(&cx.launch.params[start..]) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        Place::Shared | Place::Local => {
            let detail = format!(
                "a tensor copy reads its tensor map from parameters, constant or global memory, not from {address:#x}"
            );
            return Err(Trap::new(FaultKind::WrongSpace, detail).address(address));
        }
    }
    Ok(bytes)
}

/// `tensormap.replace`: changes a field of a map in shared or global memory; lanes one after another.
pub(crate) fn replace(cx: &mut Context<'_>, warp: &mut Warp, op: &Replace, mask: u32) -> Run<()> {
    let undefined = mask & !warp.regs.defined(op.value);
    if undefined != 0 {
        let use_ = "is written to a tensor map";
        return Err(super::uninitialised(warp, op.value, undefined, use_));
    }
    let (at, values) = (addresses(warp, &op.map, mask)?, warp.regs.wide(op.value));
    for lane in lanes(mask) {
        one(cx, warp, op, (at[lane], values[lane]), lane)
            .map_err(|trap| trap.lane(lane_number(lane)))?;
    }
    Ok(())
}

fn one(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Replace,
    (address, value): (u64, u64),
    lane: usize,
) -> Run<()> {
    let (place, address) = if op.map.place == Place::Generic {
        let (place, _, local) = resolve(&[address; LANES], 1 << lane);
        (place, local[lane])
    } else {
        (op.map.place, address)
    };
    let change = |bytes: &mut Bytes| {
        encoded::replace(bytes, op.field, value).map_err(|problem| wrong_map(address, &problem))
    };
    if place == Place::Shared {
        let mut bytes = read_shared(cx, (warp, lane), address)?;
        change(&mut bytes)?;
        write_shared(cx, (warp, lane), address, &bytes)
    } else {
        let mut bytes = fetch(cx, &mut warp.guess, place, address)?;
        change(&mut bytes)?;
        write_global(cx, (warp, lane), address, &bytes)
    }
}

/// Writes a map in global memory through the generic proxy, as a lane.
fn write_global(
    cx: &mut Context<'_>,
    (warp, lane): (&mut Warp, usize),
    address: u64,
    bytes: &Bytes,
) -> Run<()> {
    let span = (address, TENSOR_MAP_BYTES as u64);
    let (memory, offset) = global(cx.launch, &mut warp.guess, span, "a tensor map")?;
    order::written(cx, (warp, lane), (memory, offset), bytes)?;
    memory.write(offset, bytes);
    Ok(())
}

/// Reads a map in the block's own shared memory.
fn read_shared(cx: &mut Context<'_>, who: (&Warp, usize), address: u64) -> Run<Bytes> {
    let offset = shared(cx, who, address, Access::Load)?;
    let mut bytes = [0; TENSOR_MAP_BYTES];
    if cx.block().shared.read(offset, &mut bytes).is_some() {
        return Err(not_a_map(address));
    }
    Ok(bytes)
}

fn write_shared(cx: &mut Context<'_>, who: (&Warp, usize), address: u64, bytes: &Bytes) -> Run<()> {
    let offset = shared(cx, who, address, Access::Store)?;
    cx.block().shared.write(offset, bytes);
    Ok(())
}

/// Checks an access of a lane, through the generic proxy, to a map in shared memory: its offset.
fn shared(
    cx: &mut Context<'_>,
    (warp, lane): (&Warp, usize),
    address: u64,
    access: Access,
) -> Run<u32> {
    let spot = own_spot(cx, address, (BYTES, TENSOR_MAP_ALIGN), "a tensor map")?;
    let (mut offsets, mut addresses) = ([0; LANES], [0; LANES]);
    (offsets[lane], addresses[lane]) = (u64::from(spot.offset), address);
    let (addresses, mask) = (&addresses, 1 << lane);
    let accessed = hazards::Accessed { offsets: &offsets, addresses, bytes: BYTES, mask, access };
    hazards::in_flight(cx, spot.block, &accessed)?;
    hazards::race(cx, warp, spot.block, &accessed)?;
    if access == Access::Store {
        hazards::wrote(cx, warp, spot.block, &offsets, BYTES, mask);
    }
    Ok(spot.offset)
}

/// `tensormap.cp_fenceproxy`: the warp copies a map from shared to global memory, and releases it to the tensormap proxy.
pub(crate) fn copy(cx: &mut Context<'_>, warp: &mut Warp, op: &MapCopy, mask: u32) -> Run<()> {
    let (to, from) = (addresses(warp, &op.to, mask)?, addresses(warp, &op.from, mask)?);
    let first = mask.trailing_zeros() as usize;
    if let Some(lane) = lanes(mask).find(|&lane| (to[lane], from[lane]) != (to[first], from[first]))
    {
        let detail = format!(
            "the addresses of `tensormap.cp_fenceproxy` differ between the lanes of a warp: {:#x} and {:#x}",
            to[first], to[lane]
        );
        return Err(Trap::new(FaultKind::IllegalOperand, detail).lane(lane_number(lane)));
    }
    let bytes = read_shared(cx, (warp, first), from[first])?;
    let address = to[first];
    aligned(address)?;
    write_global(cx, (warp, first), address, &bytes)?;
    cx.cluster.races.release_maps(warp.threads(mask), op.scope);
    Ok(())
}
