//! Accesses to one state space: bounds, alignment, hazards, then the bytes.

use super::hazards::{self, Accessed};
use super::order::{self, Places};
use super::{Access, banks, global};
use crate::code::{Doubles, Order, Place};
use crate::fault::{Bytes, FaultKind, Run, Trap};
use crate::machine::warp::lanes;
use crate::machine::{Context, Launch, PARAM_BASE, Warp};
use crate::memory::access::{self, Problem, WordMemory};
use crate::memory::local::LOCAL_BASE;
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE};
use crate::trace::Through;

/// Where the lanes of an instruction access memory, each as many bytes.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) place: Place,
    pub(crate) order: Order,
    pub(crate) addresses: &'a Doubles,
    pub(crate) bytes: u32,
}

/// Counts how often shared memory is accessed.
#[inline]
pub(crate) fn shared_passes(
    cx: &mut Context<'_>,
    owner: usize,
    (offsets, bytes, mask): (&Doubles, u32, u32),
) {
    let conflicts = banks::conflicts(offsets, bytes, mask);
    cx.counters.shared_bank_conflicts += conflicts;
    if let Some(trace) = &mut cx.cluster.trace {
        trace.shared(owner, (bytes, mask), conflicts);
    }
}

/// Tells a trace what of global memory is accessed.
#[inline]
pub(crate) fn global_passes(cx: &mut Context<'_>, lanes: (&Doubles, u32, u32), how: Through) {
    if let Some(trace) = &mut cx.cluster.trace {
        trace.global(cx.launch, lanes, how);
    }
}

/// Loads from one space. Returns the lanes whose bytes were all written.
#[inline]
pub(crate) fn load<const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    at: At<'_>,
    mask: u32,
    out: &mut [Doubles; N],
) -> Run<u32> {
    let At { place, order, addresses, bytes } = at;
    match place {
        Place::Global | Place::Const | Place::Generic => {
            let mut defined = 0;
            let mut rest = mask;
            while rest != 0 {
                let (memory, offsets, lanes) =
                    allocation(cx.launch, &mut warp.guess, addresses, bytes, rest, Access::Load)?;
                if place != Place::Const {
                    // A strong load asks the second-level cache.
                    let how = if order.is_strong() { Through::Bypass } else { Through::Cache };
                    global_passes(cx, (addresses, bytes, lanes), how);
                    let (offsets, access) = (&offsets, Access::load(order));
                    let accessed = Accessed { offsets, addresses, bytes, mask: lanes, access };
                    let accessed = (&accessed, order.scope);
                    global::race(cx, warp, (warp.guess, memory), accessed, || false)?;
                }
                defined |= access::load(&memory, &offsets, bytes, lanes, out);
                rest &= !lanes;
            }
            order::see(cx, warp, Places { place, addresses, bytes, mask }, order);
            Ok(defined)
        }
        Place::Shared => {
            let mut defined = 0;
            let mut rest = mask;
            while rest != 0 {
                let (block, offsets, lanes) = shared(cx, addresses, bytes, rest, Access::Load)?;
                shared_passes(cx, block, (&offsets, bytes, lanes));
                let (offsets, access) = (&offsets, Access::load(order));
                let accessed = Accessed { offsets, addresses, bytes, mask: lanes, access };
                hazards::in_flight(cx, block, &accessed)?;
                hazards::race(cx, warp, block, &accessed)?;
                let memory = &cx.cluster.blocks[block].shared;
                defined |= access::load(memory, offsets, bytes, lanes, out);
                rest &= !lanes;
            }
            order::see(cx, warp, Places { place, addresses, bytes, mask }, order);
            Ok(defined)
        }
        Place::Param => {
            let size = u64::from(cx.launch.param_bytes);
            let offsets = access::check(addresses, PARAM_BASE, size, bytes.into(), mask).map_err(
                |(lane, problem)| {
                    let name = "the entry's parameters";
                    fixed(addresses, lane, problem, bytes, Access::Load, (name, PARAM_BASE, size))
                },
            )?;
            Ok(access::load(&Parameters(&cx.launch.params), &offsets, bytes, mask, out))
        }
        Place::Local => {
            let offsets = local(warp, addresses, bytes, mask, Access::Load)?;
            let mut defined = 0;
            for lane in lanes(mask) {
                defined |= access::load(&warp.local.lane(lane), &offsets, bytes, 1 << lane, out);
            }
            Ok(defined)
        }
    }
}

/// Stores to one space; where values that are not `defined` go to shared or local memory, the bytes
/// count as never written.
#[inline]
pub(crate) fn store<const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    at: At<'_>,
    (mask, defined): (u32, u32),
    values: &[Doubles; N],
) -> Run<()> {
    let At { place, order, addresses, bytes } = at;
    // What a release hands on includes its own access.
    let leave = |cx: &mut Context<'_>, warp: &Warp, mask: u32| {
        if order.is_strong() {
            order::leave(cx, warp, Places { place, addresses, bytes, mask }, (order, false));
        }
    };
    match place {
        Place::Global | Place::Generic => {
            let mut rest = mask;
            while rest != 0 {
                let (mut memory, offsets, lanes) =
                    allocation(cx.launch, &mut warp.guess, addresses, bytes, rest, Access::Store)?;
                global_passes(cx, (addresses, bytes, lanes), Through::Write);
                let (offsets, access) = (&offsets, Access::store(order));
                let accessed = Accessed { offsets, addresses, bytes, mask: lanes, access };
                let accessed = (&accessed, order.scope);
                global::race(cx, warp, (warp.guess, memory), accessed, || {
                    access::holds(&memory, offsets, bytes, lanes, values)
                })?;
                leave(cx, warp, lanes);
                access::store(&mut memory, offsets, bytes, lanes, values);
                rest &= !lanes;
            }
            Ok(())
        }
        Place::Shared => {
            let mut rest = mask;
            while rest != 0 {
                let (block, offsets, lanes) = shared(cx, addresses, bytes, rest, Access::Store)?;
                shared_passes(cx, block, (&offsets, bytes, lanes));
                let (offsets, access) = (&offsets, Access::store(order));
                let accessed = Accessed { offsets, addresses, bytes, mask: lanes, access };
                hazards::in_flight(cx, block, &accessed)?;
                hazards::race_of_store(cx, warp, block, &accessed, |memory| {
                    access::holds(memory, offsets, bytes, lanes & defined, values)
                })?;
                leave(cx, warp, lanes);
                let memory = &mut cx.cluster.blocks[block].shared;
                access::store(memory, offsets, bytes, lanes, values);
                hazards::wrote(cx, warp, block, offsets, bytes, lanes);
                let memory = &mut cx.cluster.blocks[block].shared;
                for lane in self::lanes(lanes & !defined) {
                    let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
                    memory.forget(offset, bytes);
                }
                rest &= !lanes;
            }
            Ok(())
        }
        Place::Const | Place::Param => {
            let lane = mask.trailing_zeros();
            let name =
                if place == Place::Const { "constant memory" } else { "a parameter of the entry" };
            Err(Trap::new(
                FaultKind::WrongSpace,
                format!("a store to {name}, which cannot be written"),
            )
            .lane(lane)
            .address(addresses[lane as usize]))
        }
        Place::Local => {
            let offsets = local(warp, addresses, bytes, mask, Access::Store)?;
            for lane in lanes(mask) {
                access::store(&mut warp.local.lane(lane), &offsets, bytes, 1 << lane, values);
                if defined >> lane & 1 == 0 {
                    let offset = u32::try_from(offsets[lane]).expect("local memory is small");
                    warp.local.forget(lane, offset, bytes);
                }
            }
            Ok(())
        }
    }
}

/// The entry's parameters, which are always written.
struct Parameters<'a>(&'a [u64]);

impl WordMemory for Parameters<'_> {
    fn word(&self, index: usize) -> (u64, u8) {
        (self.0[index], 0xFF)
    }

    fn put(&mut self, _: usize, _: u64, _: u8) {
        unreachable!("`store` refuses the parameter space")
    }
}

/// The allocation of the first lane, with the offsets of all lanes that are in it.
#[inline]
pub(crate) fn allocation<'a>(
    launch: &'a Launch<'_>,
    guess: &mut usize,
    addresses: &Doubles,
    bytes: u32,
    mask: u32,
    access: Access,
) -> Run<(&'a crate::memory::Allocation, Doubles, u32)> {
    let first = mask.trailing_zeros();
    let Some(memory) = launch.allocation(addresses[first as usize], guess) else {
        return Err(nowhere(launch, addresses, first, bytes, access));
    };
    let (base, size) = (memory.base, memory.bytes);
    match access::check(addresses, base, size, bytes.into(), mask) {
        Ok(offsets) => Ok((memory, offsets, mask)),
        Err((lane, problem)) => {
            let mut inside = 0;
            for (lane, address) in addresses.iter().enumerate() {
                inside |= u32::from(address.wrapping_sub(base) < size) << lane;
            }
            inside &= mask;
            match access::check(addresses, base, size, bytes.into(), inside) {
                Ok(offsets) if problem == Problem::Bounds => Ok((memory, offsets, inside)),
                _ => {
                    let place = ("an allocation", base, size);
                    Err(fixed(addresses, lane, problem, bytes, access, place))
                }
            }
        }
    }
}

#[cold]
fn nowhere(
    launch: &Launch<'_>,
    addresses: &Doubles,
    lane: u32,
    bytes: u32,
    access: Access,
) -> Trap {
    let address = addresses[lane as usize];
    let (what, bytes) = (access.text(), Bytes(bytes.into()));
    let index = launch.allocations.partition_point(|a| a.base <= address);
    let near = index.checked_sub(1).map(|i| &launch.allocations[i]);
    let detail = match near {
        Some(a) if address - a.base < a.bytes + (1 << 20) => format!(
            "{what} of {bytes} at {address:#x}, {} bytes behind the end of the allocation of {} bytes at {:#x}",
            address - a.base - a.bytes,
            a.bytes,
            a.base
        ),
        Some(_) | None => match launch.allocations.get(index) {
            Some(a) if a.base - address < 1 << 16 => format!(
                "{what} of {bytes} at {address:#x}, {} bytes before the allocation of {} bytes at {:#x}",
                a.base - address,
                a.bytes,
                a.base
            ),
            Some(_) | None => {
                format!("{what} of {bytes} at {address:#x}, where nothing is allocated")
            }
        },
    };
    Trap::new(FaultKind::OutOfBounds, detail).lane(lane).address(address)
}

/// The fault of an access to a place with known bounds.
#[cold]
fn fixed(
    addresses: &Doubles,
    lane: u32,
    problem: Problem,
    bytes: u32,
    access: Access,
    (name, base, size): (&str, u64, u64),
) -> Trap {
    let address = addresses[lane as usize];
    let (what, multiple, bytes) = (access.text(), bytes, Bytes(bytes.into()));
    let (kind, detail) = match problem {
        Problem::Alignment => (
            FaultKind::Misaligned,
            format!("{what} of {bytes} at {address:#x}, which is not a multiple of {multiple}"),
        ),
        Problem::Bounds => (
            FaultKind::OutOfBounds,
            format!(
                "{what} of {bytes} at {address:#x}, outside {name} of {size} bytes at {base:#x}"
            ),
        ),
    };
    Trap::new(kind, detail).lane(lane).address(address)
}

/// The block whose shared memory the first lane addresses, with the offsets of all lanes that address it.
#[inline]
pub(crate) fn shared(
    cx: &Context<'_>,
    addresses: &Doubles,
    bytes: u32,
    mask: u32,
    access: Access,
) -> Run<(usize, Doubles, u32)> {
    let first = mask.trailing_zeros();
    let address = addresses[first as usize];
    let rank = address >> RANK_SHIFT;
    let Some(block) = usize::try_from(rank).ok().filter(|&rank| rank < cx.cluster.blocks.len())
    else {
        let what = access.text();
        let (kind, detail) = if address >> 32 != 0 {
            let detail = format!(
                "{what} of shared memory at {address:#x}, which is not an address of the shared space (a generic or global one?)"
            );
            (FaultKind::WrongSpace, detail)
        } else {
            let blocks = cx.cluster.blocks.len();
            let detail = format!(
                "{what} at shared address {address:#x}, in block {rank} of a cluster of {blocks}"
            );
            (FaultKind::OutOfBounds, detail)
        };
        return Err(Trap::new(kind, detail).lane(first).address(address));
    };
    if block != cx.block && cx.cluster.blocks[block].left {
        let what = access.text();
        let [x, y, z] = cx.cluster.blocks[block].id;
        let detail = format!(
            "{what} at shared address {address:#x} of block ({x}, {y}, {z}), which has left the kernel: is a `barrier.cluster.arrive` and `.wait` missing at its end?"
        );
        cx.found(Trap::new(FaultKind::Race, detail).lane(first).address(address))?;
    }
    let base = rank << RANK_SHIFT | u64::from(SHARED_BASE);
    let size = u64::from(cx.cluster.blocks[block].shared.bytes());
    match access::check(addresses, base, size, bytes.into(), mask) {
        Ok(offsets) => Ok((block, of_lanes(offsets, mask), mask)),
        Err((lane, problem)) => {
            let mut same = 0;
            for (lane, address) in addresses.iter().enumerate() {
                same |= u32::from(address >> RANK_SHIFT == rank) << lane;
            }
            same &= mask;
            match access::check(addresses, base, size, bytes.into(), same) {
                Ok(offsets) if same != mask => Ok((block, of_lanes(offsets, same), same)),
                _ => {
                    let place = ("the block's shared memory", base, size);
                    Err(fixed(addresses, lane, problem, bytes, access, place))
                }
            }
        }
    }
}

/// The offsets of some lanes. Those that are left out have any address, even one before the memory.
fn of_lanes(mut offsets: Doubles, mask: u32) -> Doubles {
    if mask != u32::MAX {
        for (lane, offset) in offsets.iter_mut().enumerate() {
            if mask >> lane & 1 == 0 {
                *offset = 0;
            }
        }
    }
    offsets
}

/// Offsets into the warp's local memory.
fn local(warp: &Warp, addresses: &Doubles, bytes: u32, mask: u32, access: Access) -> Run<Doubles> {
    let (base, size) = (u64::from(LOCAL_BASE), u64::from(warp.local.bytes()));
    access::check(addresses, base, size, bytes.into(), mask).map_err(|(lane, problem)| {
        fixed(addresses, lane, problem, bytes, access, ("the thread's local memory", base, size))
    })
}
