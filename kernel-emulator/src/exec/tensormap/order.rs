//! The order of changes of tensor maps and the copies that read them by the tensormap proxy; see `memory/race/maps.rs`.

use std::sync::atomic::Ordering::Relaxed;

use super::{BYTES, Bytes};
use crate::code::{Address, LANES, MemoryScope, Place};
use crate::exec::memory::global::{elsewhere, race};
use crate::exec::memory::hazards::Accessed;
use crate::exec::memory::{Access, addresses, resolve};
use crate::fault::{FaultKind, MapFence, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, Warp};
use crate::memory::Allocation;
use crate::memory::race::{MapWriter, Unreleased};

/// Half of a map: as it begins at a multiple of so many bytes, no half is in two pages of the race detector.
const HALF: u32 = 64;

/// A lane is about to write a map in global memory. That is one weak access to all of it (PTX ISA, "tensormap.replace").
pub(super) fn written(
    cx: &mut Context<'_>,
    (warp, lane): (&Warp, usize),
    (memory, offset): (&Allocation, u64),
    bytes: &Bytes,
) -> Run<()> {
    for half in [0, HALF] {
        let at = offset + u64::from(half);
        let (offsets, addresses) = (&[at; LANES], &[memory.base + at; LANES]);
        let (mask, access) = (1 << lane, Access::Store);
        let accessed = Accessed { offsets, addresses, bytes: HALF, mask, access };
        let same = || {
            let (mut now, start) = ([0; HALF as usize], half as usize);
            memory.read(at, &mut now).is_none() && bytes[start..].starts_with(&now)
        };
        race(cx, warp, (warp.guess, memory), (&accessed, None), same)?;
    }
    Ok(())
}

/// Who wrote a map in global memory last, in this launch.
fn writers(cx: &mut Context<'_>, guess: &mut usize, address: u64) -> Vec<MapWriter> {
    let Some(memory) = cx.launch.allocation(address, guess) else { return Vec::new() };
    let offset = address - memory.base;
    let unwritten = !cx.launch.written[*guess].load(Relaxed);
    if unwritten || !cx.cluster.races.enabled() || memory.bytes - offset < BYTES.into() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for half in [0, HALF].map(u64::from) {
        let across = cx.launch.across.as_ref();
        let others = across.map(|across| across.writers(*guess, (offset + half, HALF)));
        let others = others.unwrap_or_default();
        found.extend(cx.cluster.races.map_writers((address + half, HALF), &others));
    }
    found
}

/// `fence.proxy.tensormap::generic.acquire`. Maps elsewhere than in global memory do not change.
pub(crate) fn acquire(
    cx: &mut Context<'_>,
    warp: &Warp,
    (map, scope): (&Address, MemoryScope),
    mask: u32,
) -> Run<()> {
    let addresses = addresses(warp, map, mask)?;
    let mut rest = mask;
    while rest != 0 {
        let (place, _, local) = match map.place {
            Place::Generic => resolve(&addresses, 1 << rest.trailing_zeros()),
            Place::Global | Place::Const | Place::Param | Place::Local | Place::Shared => {
                (map.place, 0, addresses)
            }
        };
        let address = local[rest.trailing_zeros() as usize];
        let same = lanes(rest)
            .filter(|lane| addresses[*lane] == addresses[rest.trailing_zeros() as usize]);
        let same = same.fold(0, |mask, lane| mask | 1 << lane);
        let writers = match place {
            Place::Global | Place::Const => writers(cx, &mut warp.guess.clone(), address),
            Place::Generic | Place::Param | Place::Local | Place::Shared => Vec::new(),
        };
        cx.cluster.races.acquire_map(warp.threads(same), scope, (address, &writers));
        rest &= !same;
    }
    Ok(())
}

/// Checks that a copy which a lane issues may read its map in global memory: who changed the map in this launch released it to the tensormap
/// proxy, and a thread of the block acquired it since.
///
/// # Errors
/// [`FaultKind::ProxyFence`], or [`FaultKind::Race`] where the lane has not even synchronised with who changed the map.
pub(crate) fn read(cx: &mut Context<'_>, (warp, lane): (&Warp, usize), address: u64) -> Run<()> {
    for writer in writers(cx, &mut warp.guess.clone(), address) {
        let races = &cx.cluster.races;
        let Some(missing) = races.map_unreleased(warp.seat(), lane, (address, writer)) else {
            continue;
        };
        let (kind, half) = match missing {
            Unreleased::Unknown => (FaultKind::Race, None),
            Unreleased::Release => (FaultKind::ProxyFence, Some(MapFence::Release)),
            Unreleased::Acquire => (FaultKind::ProxyFence, Some(MapFence::Acquire)),
        };
        let detail = format!(
            "a tensor copy reads the tensor map of {BYTES} bytes at global address {address:#x} through the tensormap proxy"
        );
        let mut trap =
            Trap::new(kind, detail).lane(lane_number(lane)).address(address).bytes(BYTES);
        trap.map_fence = half;
        trap.other = Some(match writer {
            MapWriter::Own(epoch) => MapWriter::earlier(epoch),
            MapWriter::Other(other) => elsewhere(cx, lane, other).1,
        });
        // One is enough: what is missing is mostly the same for all of the map.
        return cx.found(trap);
    }
    Ok(())
}
