//! Accesses to one state space: bounds, alignment, what is known of the bytes, then the bytes.

use super::Access;
use crate::code::{Doubles, LANES, Place};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, Launch, PARAM_BASE, Reached, Warp};
use crate::memory::access::{self, Problem, WordMemory};
use crate::memory::local::LOCAL_BASE;
use crate::memory::proxy::Writer;
use crate::memory::race::Conflict;
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE, Shared};

/// Loads from one space; `strong` accesses do not race. Returns the lanes whose bytes were all written.
#[inline]
pub(crate) fn load<const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    (place, strong): (Place, bool),
    addresses: &Doubles,
    bytes: u32,
    mask: u32,
    out: &mut [Doubles; N],
) -> Run<u32> {
    match place {
        Place::Global | Place::Const | Place::Generic => {
            let mut defined = 0;
            let mut rest = mask;
            while rest != 0 {
                let (memory, offsets, lanes) =
                    global(cx.launch, &mut warp.guess, addresses, bytes, rest, Access::Load)?;
                defined |= access::load(&memory, &offsets, bytes, lanes, out);
                rest &= !lanes;
            }
            Ok(defined)
        }
        Place::Shared => {
            let mut defined = 0;
            let mut rest = mask;
            while rest != 0 {
                let (block, offsets, lanes) = shared(cx, addresses, bytes, rest, Access::Load)?;
                cx.counters.shared_bank_conflicts += conflicts(&offsets, bytes, lanes);
                let memory = &cx.cluster.blocks[block].shared;
                flying(memory, &offsets, addresses, bytes, lanes, Access::Load)?;
                if !strong {
                    race(cx, warp, block, (&offsets, addresses), bytes, lanes, Access::Load)?;
                }
                let memory = &cx.cluster.blocks[block].shared;
                defined |= access::load(memory, &offsets, bytes, lanes, out);
                rest &= !lanes;
            }
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
    (place, strong): (Place, bool),
    addresses: &Doubles,
    bytes: u32,
    (mask, defined): (u32, u32),
    values: &[Doubles; N],
) -> Run<()> {
    if strong {
        cx.block().synchronises();
    }
    match place {
        Place::Global | Place::Generic => {
            let mut rest = mask;
            while rest != 0 {
                let (mut memory, offsets, lanes) =
                    global(cx.launch, &mut warp.guess, addresses, bytes, rest, Access::Store)?;
                access::store(&mut memory, &offsets, bytes, lanes, values);
                rest &= !lanes;
            }
            Ok(())
        }
        Place::Shared => {
            let mut rest = mask;
            while rest != 0 {
                let (block, offsets, lanes) = shared(cx, addresses, bytes, rest, Access::Store)?;
                cx.counters.shared_bank_conflicts += conflicts(&offsets, bytes, lanes);
                let memory = &cx.cluster.blocks[block].shared;
                flying(memory, &offsets, addresses, bytes, lanes, Access::Store)?;
                if !strong {
                    let at = (&offsets, addresses);
                    if let Err(trap) = race(cx, warp, block, at, bytes, lanes, Access::Store) {
                        let memory = &cx.cluster.blocks[block].shared;
                        let wrote = trap.other.is_some_and(|(.., wrote)| wrote);
                        if !wrote
                            || !access::holds(memory, &offsets, bytes, lanes & defined, values)
                        {
                            return Err(trap);
                        }
                    }
                }
                let memory = &mut cx.cluster.blocks[block].shared;
                access::store(memory, &offsets, bytes, lanes, values);
                wrote(cx, warp, block, &offsets, bytes, lanes);
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

/// The allocation of the first lane, with the offsets of all lanes that lie in it.
#[inline]
pub(crate) fn global<'a>(
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
    let what = access.text();
    let index = launch.allocations.partition_point(|a| a.base <= address);
    let near = index.checked_sub(1).map(|i| &launch.allocations[i]);
    let detail = match near {
        Some(a) if address - a.base < a.bytes + (1 << 20) => format!(
            "{what} of {bytes} bytes at {address:#x}, {} bytes behind the end of the allocation of {} bytes at {:#x}",
            address - a.base - a.bytes,
            a.bytes,
            a.base
        ),
        Some(_) | None => match launch.allocations.get(index) {
            Some(a) if a.base - address < 1 << 16 => format!(
                "{what} of {bytes} bytes at {address:#x}, {} bytes before the allocation of {} bytes at {:#x}",
                a.base - address,
                a.bytes,
                a.base
            ),
            Some(_) | None => {
                format!("{what} of {bytes} bytes at {address:#x}, where nothing is allocated")
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
    let what = access.text();
    let (kind, detail) = match problem {
        Problem::Alignment => (
            FaultKind::Misaligned,
            format!("{what} of {bytes} bytes at {address:#x}, which is not a multiple of {bytes}"),
        ),
        Problem::Bounds => (
            FaultKind::OutOfBounds,
            format!(
                "{what} of {bytes} bytes at {address:#x}, outside {name} of {size} bytes at {base:#x}"
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
        return Err(Trap::new(FaultKind::Race, detail).lane(first).address(address));
    }
    let base = rank << RANK_SHIFT | u64::from(SHARED_BASE);
    let size = u64::from(cx.cluster.blocks[block].shared.bytes());
    match access::check(addresses, base, size, bytes.into(), mask) {
        Ok(offsets) => Ok((block, offsets, mask)),
        Err((lane, problem)) => {
            let mut same = 0;
            for (lane, address) in addresses.iter().enumerate() {
                same |= u32::from(address >> RANK_SHIFT == rank) << lane;
            }
            same &= mask;
            match access::check(addresses, base, size, bytes.into(), same) {
                Ok(offsets) if same != mask => Ok((block, offsets, same)),
                _ => {
                    let place = ("the block's shared memory", base, size);
                    Err(fixed(addresses, lane, problem, bytes, access, place))
                }
            }
        }
    }
}

/// Checks that no byte is the destination of a copy that nothing waited for.
#[inline]
pub(crate) fn flying(
    memory: &Shared,
    offsets: &Doubles,
    addresses: &Doubles,
    bytes: u32,
    mask: u32,
    access: Access,
) -> Run<()> {
    if access != Access::Load && memory.any_held() {
        held(memory, offsets, addresses, bytes, mask, access)?;
    }
    if !memory.any_in_flight() {
        return Ok(());
    }
    for lane in lanes(mask) {
        let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
        if memory.in_flight(offset, bytes) {
            let detail = format!(
                "{} of {bytes} bytes at shared address {:#x}, which an asynchronous copy has still to write",
                access.text(),
                addresses[lane]
            );
            let mut trap = Trap::new(FaultKind::AsyncInFlight, detail)
                .lane(lane_number(lane))
                .address(addresses[lane]);
            trap.copy = memory.in_flight_from(offset, bytes);
            return Err(trap);
        }
    }
    Ok(())
}

/// Checks that no asynchronous copy has still to read bytes that are about to change.
#[cold]
fn held(
    memory: &Shared,
    offsets: &Doubles,
    addresses: &Doubles,
    bytes: u32,
    mask: u32,
    access: Access,
) -> Run<()> {
    for lane in lanes(mask) {
        let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
        if let Some(issuer) = memory.held(offset, bytes) {
            let detail = format!(
                "{} of {bytes} bytes at shared address {:#x}, which an asynchronous operation has still to read",
                access.text(),
                addresses[lane]
            );
            let mut trap = Trap::new(FaultKind::AsyncInFlight, detail)
                .lane(lane_number(lane))
                .address(addresses[lane]);
            trap.copy = Some(issuer);
            return Err(trap);
        }
    }
    Ok(())
}

/// Notes that the generic proxy wrote `bytes` bytes of each lane, for those who read asynchronously.
#[inline]
pub(crate) fn wrote(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    offsets: &Doubles,
    bytes: u32,
    mask: u32,
) {
    if !cx.cluster.blocks[block].proxies.enabled() {
        return;
    }
    let own = cx.block();
    let time = own.races.time(warp.index);
    let before = own.proxies.writes(warp.index, time);
    let proxies = &mut cx.cluster.blocks[block].proxies;
    for lane in lanes(mask) {
        let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
        let who = (cx.block, warp.index, lane_number(lane));
        proxies.wrote(who, (warp.pc, before), offset, bytes);
    }
}

/// Checks what an instruction of the asynchronous proxy (a bulk copy, `wgmma`) is about to read from the shared
/// memory of a block of the cluster, on behalf of the warp that issues it: no byte is in flight, no other warp
/// writes it without a barrier between, and `fence.proxy.async` lies between the barrier and what was written
/// through the generic proxy, or between the barrier and this read. The bytes lie in the block's memory;
/// offset and size are multiples of 4.
///
/// # Errors
/// [`FaultKind::AsyncInFlight`], [`FaultKind::Race`], [`FaultKind::ProxyFence`].
pub(crate) fn async_read(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    offset: u32,
    bytes: u32,
) -> Run<()> {
    let address = |cx: &Context<'_>, offset: u32| {
        u64::from(cx.cluster.blocks[block].rank << RANK_SHIFT | (SHARED_BASE + offset))
    };
    let memory = &cx.cluster.blocks[block].shared;
    if memory.any_in_flight() && memory.in_flight(offset, bytes) {
        let at = address(cx, offset);
        let detail = format!(
            "an asynchronous read of {bytes} bytes at shared address {at:#x}, which an asynchronous copy has still to write"
        );
        let mut trap = Trap::new(FaultKind::AsyncInFlight, detail).address(at);
        trap.copy = memory.in_flight_from(offset, bytes);
        return Err(trap);
    }
    if block == cx.block && cx.cluster.blocks[block].races.enabled() {
        let races = &mut cx.cluster.blocks[block].races;
        let who = (warp.index, warp.pc);
        let mut offsets = [0; LANES];
        offsets[0] = offset.into();
        races.read(who, &offsets, bytes, 1).map_err(|conflict| {
            let at = address(cx, offset);
            let detail = format!("an asynchronous read of {bytes} bytes at shared address {at:#x}");
            let mut trap = Trap::new(FaultKind::Race, detail).address(at);
            trap.other = Some((conflict.pc, conflict.warp, conflict.wrote));
            trap
        })?;
    }
    for (offset, writer) in cx.cluster.blocks[block].proxies.writers(offset, bytes) {
        fenced(cx, warp, block, offset, writer)?;
    }
    Ok(())
}

/// Checks that a warp may read through the asynchronous proxy what a thread wrote through the generic one: that
/// one has executed `fence.proxy.async` since, and the warp knows of it; or the warp has, knowing of the write.
pub(crate) fn fenced(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    offset: u32,
    writer: Writer,
) -> Run<()> {
    let from = usize::from(writer.block);
    if cx.cluster.blocks[cx.block].proxies.fenced_by_reader(warp.index, writer, cx.block) {
        return Ok(());
    }
    let missing = match cx.cluster.blocks[from].proxies.fenced(writer) {
        None => {
            "has not executed `fence.proxy.async.shared::cta` since, nor has this warp after a barrier"
        }
        Some(time)
            if from == cx.block
                && !cx.block().races.knows(warp.index, u32::from(writer.warp), time) =>
        {
            "executed `fence.proxy.async` since, but no barrier lies between that fence and this instruction"
        }
        Some(_) => return Ok(()),
    };
    let at = u64::from(cx.cluster.blocks[block].rank << RANK_SHIFT | (SHARED_BASE + offset));
    let lane = writer.lane;
    let detail = format!(
        "the asynchronous proxy reads shared address {at:#x}, which an ordinary write of lane {lane} reached last, and that thread {missing}"
    );
    let mut trap = Trap::new(FaultKind::ProxyFence, detail).address(at);
    trap.other = Some((writer.pc, u32::from(writer.warp), true));
    Err(trap)
}

/// The fault of a product whose factors race with another access.
pub(crate) fn raced(conflict: Conflict) -> Trap {
    let mut trap = Trap::new(FaultKind::Race, "`wgmma` reads shared memory");
    trap.other = Some((conflict.pc, conflict.warp, conflict.wrote));
    trap
}

/// Notes an access to the shared memory of another block, which must stay until it is over.
#[cold]
fn reached(cx: &mut Context<'_>, warp: &Warp, block: usize, addresses: &Doubles, mask: u32) {
    let (lane, from) = (mask.trailing_zeros(), cx.block);
    let access = Reached {
        warp: warp.index,
        pc: warp.pc,
        lane,
        address: addresses[lane as usize],
        synchronised: cx.block().synchronised,
    };
    cx.cluster.blocks[block].reached.insert(from, access);
}

/// A block leaves the kernel.
///
/// # Errors
/// Another block of the cluster accessed its shared memory, and has done nothing since that this block could have
/// waited for.
pub(crate) fn leave(cx: &mut Context<'_>) -> Run<()> {
    let blocks = &cx.cluster.blocks;
    let late = blocks[cx.block]
        .reached
        .iter()
        .find(|(from, access)| blocks[**from].synchronised == access.synchronised);
    let Some((&from, &access)) = late else { return Ok(()) };
    let [x, y, z] = cx.cluster.blocks[from].id;
    let Reached { warp, pc, lane, address, .. } = access;
    let detail = format!(
        "the block leaves the kernel, and nothing orders that behind the access of block ({x}, {y}, {z}), warp {warp}, lane {lane}, to its shared memory at {address:#x}: is a `barrier.cluster.arrive` and `.wait` missing at the end of the kernel?"
    );
    let mut trap = Trap::new(FaultKind::Race, detail).address(address);
    trap.product = Some(pc);
    Err(trap)
}

/// Checks that no other warp touches the same words without a barrier between. Accesses from other
/// blocks of the cluster are not followed.
#[inline]
pub(crate) fn race(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    (offsets, addresses): (&Doubles, &Doubles),
    bytes: u32,
    mask: u32,
    access: Access,
) -> Run<()> {
    if mask == 0 {
        return Ok(());
    }
    if block != cx.block {
        reached(cx, warp, block, addresses, mask);
        return Ok(());
    }
    if !cx.cluster.blocks[block].races.enabled() {
        return Ok(());
    }
    let races = &mut cx.cluster.blocks[block].races;
    let who = (warp.index, warp.pc);
    let result = match access {
        Access::Load => races.read(who, offsets, bytes, mask),
        Access::Store | Access::Atomic => races.write(who, offsets, bytes, mask),
    };
    result.map_err(|conflict| {
        let address = addresses[conflict.lane as usize];
        let detail = format!("{} of {bytes} bytes at shared address {address:#x}", access.text());
        let mut trap = Trap::new(FaultKind::Race, detail).lane(conflict.lane).address(address);
        trap.other = Some((conflict.pc, conflict.warp, conflict.wrote));
        trap
    })
}

/// Offsets into the warp's local memory.
fn local(warp: &Warp, addresses: &Doubles, bytes: u32, mask: u32, access: Access) -> Run<Doubles> {
    let (base, size) = (u64::from(LOCAL_BASE), u64::from(warp.local.bytes()));
    access::check(addresses, base, size, bytes.into(), mask).map_err(|(lane, problem)| {
        fixed(addresses, lane, problem, bytes, access, ("the thread's local memory", base, size))
    })
}

/// How many times more than once shared memory is read or written: a bank gives one 32-bit word at a
/// time. Accesses of 8 bytes go by half warps, of 16 bytes by quarter warps.
#[inline]
pub(crate) fn conflicts(offsets: &Doubles, bytes: u32, mask: u32) -> u64 {
    let first = offsets[0];
    let mut in_order = mask == u32::MAX;
    for (lane, offset) in (0u64..).zip(offsets) {
        in_order &= *offset == first + u64::from(bytes) * lane;
    }
    if in_order && bytes >= 4 {
        return 0;
    }
    let words = u64::from(bytes.div_ceil(4));
    let group = LANES / usize::try_from(words.min(8)).expect("at most eight");
    (0..LANES)
        .step_by(group)
        .map(|start| group_conflicts(offsets, words, mask, start..start + group))
        .sum()
}

/// The same for lanes that are served together.
fn group_conflicts(offsets: &Doubles, words: u64, mask: u32, group: std::ops::Range<usize>) -> u64 {
    // The first word of each bank, plus one; a second one in any bank means counting exactly.
    let mut firsts = [0u64; 32];
    let mut clean = true;
    for lane in group.clone().filter(|lane| mask >> lane & 1 != 0) {
        for k in 0..words {
            let word = offsets[lane] / 4 + k;
            let first = &mut firsts[bank(word)];
            if *first == 0 {
                *first = word + 1;
            }
            clean &= *first == word + 1;
        }
    }
    if clean {
        return 0;
    }
    let mut all: Vec<(usize, u64)> = group
        .filter(|lane| mask >> lane & 1 != 0)
        .flat_map(|lane| (0..words).map(move |k| offsets[lane] / 4 + k))
        .map(|word| (bank(word), word))
        .collect();
    all.sort_unstable();
    all.dedup();
    let most = all.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(0);
    most.saturating_sub(1) as u64
}

fn bank(word: u64) -> usize {
    usize::try_from(word % 32).expect("32 banks")
}
