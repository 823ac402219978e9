//! What is known of bytes of shared memory: operations in flight on them, who accessed them last, and through which proxy.

use super::Access;
use crate::code::{Doubles, LANES, SharedVariable};
use crate::fault::{Bytes, FaultKind, Run, Trap, Unfenced};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Arrivals, Cluster, Context, Warp};
use crate::memory::proxy::Writer;
use crate::memory::race::{self, Conflict, Touch};
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE, Shared};

/// Checks that no asynchronous operation has still to write these bytes nor, where they are about to change, to read
/// them.
#[inline]
pub(crate) fn in_flight(cx: &Context<'_>, block: usize, accessed: &Accessed<'_>) -> Run<()> {
    let memory = &cx.cluster.blocks[block].shared;
    let bytes = accessed.bytes;
    let changes = accessed.access.writes();
    if changes {
        accessed.no_mbarrier(memory)?;
    }
    if changes && memory.any_held() {
        let untouched = accessed
            .untouched("an asynchronous operation has still to read", |offset| {
                memory.held(offset, bytes).map(Some)
            });
        untouched.or_else(|trap| cx.found(trap))?;
    }
    if memory.any_in_flight() {
        let untouched = accessed.untouched("an asynchronous copy has still to write", |offset| {
            memory.in_flight(offset, bytes).then(|| memory.in_flight_from(offset, bytes))
        });
        untouched.or_else(|trap| cx.found(trap))?;
    }
    Ok(())
}

/// Warp and instruction that issued an operation, where they are known.
type Issuer = Option<(u32, u32)>;

/// What the lanes of a warp access: as offsets into the block's shared memory, and as they said it.
#[derive(Clone, Copy)]
pub(crate) struct Accessed<'a> {
    pub(crate) offsets: &'a Doubles,
    pub(crate) addresses: &'a Doubles,
    pub(crate) bytes: u32,
    pub(crate) mask: u32,
    pub(crate) access: Access,
}

impl Accessed<'_> {
    /// No lane may change an mbarrier but by instructions for those (PTX ISA, "mbarrier").
    fn no_mbarrier(&self, memory: &Shared) -> Run<()> {
        let over = |lane: &usize| {
            let offset = u32::try_from(self.offsets[*lane]).expect("shared memory is small");
            memory.mbarrier_in(offset, self.bytes).is_some()
        };
        let Some(lane) = lanes(self.mask).find(over) else { return Ok(()) };
        let (what, bytes) = (self.access.text(), Bytes(self.bytes.into()));
        let address = self.addresses[lane];
        let detail = format!(
            "{what} of {bytes} at shared address {address:#x}, where a valid mbarrier is: an `mbarrier.inval` is missing before"
        );
        Err(Trap::new(FaultKind::IllegalOperand, detail).lane(lane_number(lane)).address(address))
    }

    /// The fault of the first lane for whose offset `pending` finds an operation.
    fn untouched(&self, still: &str, pending: impl Fn(u32) -> Option<Issuer>) -> Run<()> {
        for lane in lanes(self.mask) {
            let offset = u32::try_from(self.offsets[lane]).expect("shared memory is small");
            let Some(issuer) = pending(offset) else { continue };
            let address = self.addresses[lane];
            let (what, bytes) = (self.access.text(), self.bytes);
            let detail = format!(
                "{what} of {} at shared address {address:#x}, which {still}",
                Bytes(bytes.into())
            );
            let mut trap = Trap::new(FaultKind::AsyncInFlight, detail)
                .lane(lane_number(lane))
                .address(address)
                .bytes(bytes);
            trap.copy = issuer;
            return Err(trap);
        }
        Ok(())
    }
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
    let time = cx.cluster.races.time(warp.seat(), mask);
    let before = cx.block().proxies.writes(warp.index, time);
    let proxies = &mut cx.cluster.blocks[block].proxies;
    for lane in lanes(mask) {
        let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
        let who = (cx.block, warp.index, lane_number(lane));
        proxies.wrote(who, (warp.pc, before), offset, bytes);
    }
}

/// Checks what an instruction of the asynchronous proxy (a bulk copy, `wgmma`) is about to read from the shared
/// memory of a block of the cluster, on behalf of the lane that issues it: no byte is in flight, no other warp
/// writes it without a barrier between, and `fence.proxy.async` is between the barrier and what was written
/// through the generic proxy, or between the barrier and this read. The bytes are in the block's memory;
/// offset and size are multiples of 4.
///
/// # Errors
/// [`FaultKind::AsyncInFlight`], [`FaultKind::Race`], [`FaultKind::ProxyFence`].
pub(crate) fn async_read(
    cx: &mut Context<'_>,
    (warp, lane): (&Warp, usize),
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
        let mut trap = Trap::new(FaultKind::AsyncInFlight, detail).address(at).bytes(bytes);
        trap.copy = memory.in_flight_from(offset, bytes);
        cx.found(trap)?;
    }
    if cx.cluster.races.enabled() {
        let mut offsets = [0; LANES];
        offsets[lane] = offset.into();
        let races = &mut cx.cluster.races;
        let read = races.access((warp.accessor(), block, Touch::Read), &offsets, bytes, 1 << lane);
        read.or_else(|conflict| {
            let at = address(cx, offset);
            let detail = format!("an asynchronous read of {bytes} bytes at shared address {at:#x}");
            let mut trap = Trap::new(FaultKind::Race, detail).address(at).bytes(bytes);
            trap.other = Some(conflict.earlier);
            cx.found(trap)
        })?;
    }
    for (offset, writer) in cx.cluster.blocks[block].proxies.writers(offset, bytes) {
        fenced(cx, warp, block, offset, writer)?;
    }
    Ok(())
}

/// Checks that no asynchronous copy has still to write units of 16 bytes of a block's memory, by number, which a product is to read.
pub(crate) fn landed(cx: &Context<'_>, block: usize, units: &[u32], name: &str) -> Run<()> {
    let memory = &cx.cluster.blocks[block].shared;
    if !memory.any_in_flight() {
        return Ok(());
    }
    let Some(unit) = units.iter().find(|unit| memory.in_flight(16 * **unit, 16)) else {
        return Ok(());
    };
    let address = SHARED_BASE + 16 * unit;
    let detail = format!(
        "{name} has bytes at shared address {address:#x}, which an asynchronous copy has still to write"
    );
    let mut trap = Trap::new(FaultKind::AsyncInFlight, detail).address(address.into()).bytes(16);
    trap.copy = memory.in_flight_from(16 * unit, 16);
    cx.found(trap)
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
            "has executed no `fence.proxy.async.shared::cta` since, nor has this warp after a barrier behind the write"
        }
        Some(time)
            if from == cx.block
                && !cx.cluster.races.knows(warp.seat(), (warp.block, writer.warp.into()), time) =>
        {
            "has executed `fence.proxy.async` since, but no barrier lies between that fence and this instruction"
        }
        Some(_) => return Ok(()),
    };
    let at = u64::from(cx.cluster.blocks[block].rank << RANK_SHIFT | (SHARED_BASE + offset));
    let detail = format!("the asynchronous proxy reads the 16 bytes at shared address {at:#x}");
    let mut trap = Trap::new(FaultKind::ProxyFence, detail).address(at).bytes(16);
    let (warp, lane, pc) = (writer.warp.into(), writer.lane.into(), writer.pc);
    trap.unfenced = Some(Unfenced { warp, lane, pc, did: "wrote last", missing });
    cx.found(trap)
}

/// Checks that a lane of a warp may have bytes of a block's memory overwritten through the asynchronous proxy that threads read through the generic
/// one: that each of them has executed `fence.proxy.async` since, and the warp knows of it; or the warp has, knowing of the reads.
pub(crate) fn fenced_reads(
    cx: &mut Context<'_>,
    warp: &Warp,
    (block, offset, bytes): (usize, u32, u32),
    name: &str,
) -> Run<()> {
    let Cluster { races, blocks, .. } = &*cx.cluster;
    let own = &blocks[cx.block].proxies;
    let unfenced = |((of, reader), lane, time, _): &((u32, u32), usize, u32, u32)| {
        let fences = blocks[*of as usize].proxies.fenced_since(*reader, *lane, *time);
        let known = |fence: &u32| races.knows(warp.seat(), (*of, *reader), *fence);
        !fences.iter().any(known)
            && !own.fenced_knowing(warp.index, (race::warp(*of, *reader), *time))
    };
    let Some((from, lane, _, pc)) =
        races.readers(block, (offset, bytes)).into_iter().find(unfenced)
    else {
        return Ok(());
    };
    let at = u64::from(blocks[block].rank << RANK_SHIFT | (SHARED_BASE + offset));
    let detail = format!(
        "{name} writes {bytes} bytes at shared address {at:#x} through the asynchronous proxy"
    );
    let mut trap = Trap::new(FaultKind::ProxyFence, detail).address(at).bytes(bytes);
    let missing = "has executed no `fence.proxy.async.shared::cta` since, nor has this warp after a barrier behind the read";
    let (warp, lane) = (from.1, lane_number(lane));
    trap.unfenced = Some(Unfenced { warp, lane, pc, did: "read last", missing });
    cx.found(trap)
}

/// The same as [`fenced`] for all writers of units of 16 bytes of a block's memory, by number.
pub(crate) fn fenced_units(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    units: &[u32],
) -> Run<()> {
    if !cx.cluster.blocks[block].proxies.enabled() {
        return Ok(());
    }
    // Neighbours mostly come from one warp, and need one answer.
    let mut last: Option<Writer> = None;
    for &unit in units {
        let Some(writer) = cx.cluster.blocks[block].proxies.writer(unit) else { continue };
        let alike = |last| {
            let from = &cx.cluster.blocks[usize::from(writer.block)].proxies;
            from.fenced_alike(writer, last)
        };
        if !last.is_some_and(alike) {
            fenced(cx, warp, block, 16 * unit, writer)?;
        }
        last = Some(writer);
    }
    Ok(())
}

/// The fault of a product whose factors race with another access.
pub(crate) fn raced(conflict: Conflict) -> Trap {
    let mut trap = Trap::new(FaultKind::Race, "`wgmma` reads shared memory");
    trap.other = Some(conflict.earlier);
    trap
}

/// A block leaves the kernel.
///
/// # Errors
/// Another block of the cluster accessed its shared memory, and no thread of this block knows that the access is over.
pub(crate) fn leave(cx: &mut Context<'_>) -> Run<()> {
    let own = cx.block;
    let Cluster { races, blocks, .. } = &mut *cx.cluster;
    if !races.enabled() || blocks.len() == 1 {
        return Ok(());
    }
    // Arrivals of a phase that was waited for are over, whether they release or not.
    let here = &blocks[own];
    let quiet = |word: &usize| here.mbarriers.get(word).is_none_or(Arrivals::all_waited_for);
    let words: Vec<usize> =
        here.shared.mbarriers().map(|offset| offset as usize / 8).filter(quiet).collect();
    let Err((offset, earlier)) = races.leave(own, &words) else { return Ok(()) };
    let address = u64::from(blocks[own].rank << RANK_SHIFT | (SHARED_BASE + offset));
    let detail =
        format!("the block leaves the kernel, and gives up 8 bytes at shared address {address:#x}");
    let mut trap = Trap::new(FaultKind::Race, detail).address(address).bytes(8);
    trap.other = Some(earlier);
    cx.found(trap)
}

/// Checks that nobody else touches the same words with nothing that orders the two.
#[inline]
pub(crate) fn race(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    accessed: &Accessed<'_>,
) -> Run<()> {
    race_of_store(cx, warp, block, accessed, |_| false)
}

/// The same for a store of what is there already, which may race with others that stored it: nothing depends on their order.
#[inline]
pub(crate) fn race_of_store(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    accessed: &Accessed<'_>,
    changes_nothing: impl Fn(&Shared) -> bool,
) -> Run<()> {
    if let Some(Some(variable)) = cx.launch.code.shared_origins.get(warp.pc as usize) {
        within(&cx.launch.code.shared_variables[*variable as usize], accessed)?;
    }
    ordered(cx, warp, block, accessed).or_else(|trap| {
        let wrote = trap.other.is_some_and(|earlier| earlier.wrote);
        if wrote && changes_nothing(&cx.cluster.blocks[block].shared) {
            return Ok(());
        }
        cx.found(trap)
    })
}

/// Checks that lanes access nothing but a variable, from whose symbol their addresses were computed.
#[inline]
fn within(variable: &SharedVariable, accessed: &Accessed<'_>) -> Run<()> {
    let Accessed { offsets, addresses, bytes, mask, access } = *accessed;
    let (start, size) = (u64::from(variable.start), u64::from(variable.bytes));
    let outside = |lane: &usize| {
        // What is before the variable wraps, and is too large as well.
        offsets[*lane].wrapping_sub(start).saturating_add(bytes.into()) > size
    };
    let Some(lane) = lanes(mask).find(outside) else { return Ok(()) };
    let (address, name) = (addresses[lane], &variable.name);
    let base = address.wrapping_sub(offsets[lane].wrapping_sub(start));
    let detail = format!(
        "{} of {} at shared address {address:#x}, outside the `.shared` variable `{name}` of {} at {base:#x}, from which the address was computed",
        access.text(),
        Bytes(bytes.into()),
        Bytes(variable.bytes.into()),
    );
    let trap = Trap::new(FaultKind::OutOfBounds, detail);
    Err(trap.lane(lane_number(lane)).address(address).bytes(bytes))
}

/// The same, without a look at the hazards that the launch lets pass.
#[inline]
pub(crate) fn ordered(
    cx: &mut Context<'_>,
    warp: &Warp,
    block: usize,
    accessed: &Accessed<'_>,
) -> Run<()> {
    let Accessed { offsets, addresses, bytes, mask, access } = *accessed;
    if mask == 0 || !cx.cluster.races.enabled() {
        return Ok(());
    }
    let races = &mut cx.cluster.races;
    let result = races.access((warp.accessor(), block, access.touch()), offsets, bytes, mask);
    result.map_err(|conflict| {
        let address = addresses[conflict.lane as usize];
        let (what, count) = (access.text(), Bytes(bytes.into()));
        let detail = format!("{what} of {count} at shared address {address:#x}");
        let mut trap = Trap::new(FaultKind::Race, detail).lane(conflict.lane).address(address);
        (trap.bytes, trap.other) = (Some(bytes), Some(conflict.earlier));
        trap
    })
}
