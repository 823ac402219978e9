//! `cp.async` (PTX ISA, "Asynchronous copy").
//!
//! A copy is issued, and lands when its thread waits for it: as late as the program permits. Until
//! then its destination bytes are in flight, and touching them is a fault. The source must not change
//! on the way either: that it was not written shows when the copy lands.

use std::sync::atomic::Ordering::Relaxed;

use super::memory::{Access, addresses, global, hazards, place};
use crate::code::{Address, AsyncCopy, CpAsync, LANES, Place};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, Launch, Warp};
use crate::memory::race::{Clock, Epoch, Races};
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE};
use crate::trace::Through;

/// One lane's share of a `cp.async`.
#[derive(Clone, Copy, Debug)]
struct Copy {
    lane: u32,
    /// The group of its thread that it belongs to.
    group: u64,
    pc: u32,
    block: u32,
    /// From the start of the block's shared memory.
    to: u32,
    from: u64,
    /// Bytes written.
    bytes: u32,
    /// Bytes read; the rest are zero.
    read: u32,
    /// What the source held when the copy was issued.
    data: [u8; 16],
}

impl Copy {
    /// The shared address of the destination.
    fn address(&self) -> u64 {
        u64::from(self.block << RANK_SHIFT | (SHARED_BASE + self.to))
    }
}

/// The copies of a warp that nothing waited for, but for those that an mbarrier tracks.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pending: Vec<Copy>,
    /// How many groups each lane committed.
    committed: [u64; LANES],
}

impl Copies {
    pub(crate) fn reset(&mut self) {
        self.pending.clear();
        self.committed = [0; LANES];
    }

    /// `cp.async.commit_group`
    pub(crate) fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            self.committed[lane] += 1;
        }
    }
}

/// `cp.async`, all forms.
pub(crate) fn step(cx: &mut Context<'_>, warp: &mut Warp, op: &AsyncCopy, mask: u32) -> Run<()> {
    match op {
        AsyncCopy::Issue(copy) => issue(cx, warp, copy, mask),
        AsyncCopy::CommitGroup => {
            warp.copies.commit(mask);
            Ok(())
        }
        AsyncCopy::WaitGroup { keep } => wait(cx, warp, Some(*keep), mask),
        AsyncCopy::WaitAll => wait(cx, warp, None, mask),
        AsyncCopy::Arrive { barrier, noinc } => arrive(cx, warp, *barrier, *noinc, mask),
    }
}

/// `cp.async`.
fn issue(cx: &mut Context<'_>, warp: &mut Warp, op: &CpAsync, mask: u32) -> Run<()> {
    let launch = cx.launch;
    let to = addresses(warp, &op.to, mask)?;
    let from = addresses(warp, &op.from, mask)?;
    let mut read = [op.bytes; LANES];
    if let Some(slot) = op.source_bytes {
        let undefined = mask & !warp.regs.w_defined(slot);
        if undefined != 0 {
            let use_ = "is the number of bytes to read";
            return Err(super::uninitialised(warp, crate::code::Slot::W(slot), undefined, use_));
        }
        read = *warp.regs.w(slot);
    }
    if let Some(pred) = op.ignore {
        let undefined = mask & !warp.regs.p_defined(pred.slot);
        if undefined != 0 {
            let slot = crate::code::Slot::P(pred.slot);
            let use_ = "decides whether the source is read";
            return Err(super::uninitialised(warp, slot, undefined, use_));
        }
        let ignore = warp.regs.pred(pred);
        for lane in lanes(ignore) {
            read[lane] = 0;
        }
    }
    if let Some(lane) = lanes(mask).find(|&lane| read[lane] > op.bytes) {
        let detail = format!("{} bytes to read for a copy of {} bytes", read[lane], op.bytes);
        return Err(Trap::new(FaultKind::IllegalOperand, detail).lane(lane_number(lane)));
    }
    // The source must be there now, though it is read later.
    let mut reading = 0;
    for lane in lanes(mask) {
        reading |= u32::from(read[lane] > 0) << lane;
    }
    let source_place = op.from.place;
    let mut rest = reading;
    while rest != 0 {
        let (local, same) = global_lanes(source_place, &from, rest)?;
        let (memory, offsets, done) =
            place::allocation(cx.launch, &mut warp.guess, &local, op.bytes, same, Access::Load)?;
        // It may read at once, and as late as the wait, and nothing behind the bytes that it reads.
        let mut left = done;
        while left != 0 {
            let bytes = read[left.trailing_zeros() as usize];
            let mask = lanes(left).filter(|lane| read[*lane] == bytes).fold(0, |m, l| m | 1 << l);
            left &= !mask;
            let (bytes, access) = (bytes.next_multiple_of(4), Access::Load);
            let (offsets, addresses) = (&offsets, &local);
            let accessed = hazards::Accessed { offsets, addresses, bytes, mask, access };
            global::race(cx, warp, (warp.guess, memory), (&accessed, None), || false)?;
            place::global_passes(cx, (&local, bytes, mask), Through::Cache);
        }
        rest &= !done;
    }
    let mut rest = mask;
    while rest != 0 {
        let (block, offsets, done) = place::shared(cx, &to, op.bytes, rest, Access::Store)?;
        let accessed = hazards::Accessed {
            offsets: &offsets,
            addresses: &to,
            bytes: op.bytes,
            mask: done,
            access: Access::Store,
        };
        hazards::in_flight(cx, block, &accessed)?;
        // It may write at once, and as late as the wait.
        hazards::race(cx, warp, block, &accessed)?;
        if let Some(trace) = &mut cx.cluster.trace {
            trace.shared(block, (op.bytes, done), 0);
        }
        let memory = &mut cx.cluster.blocks[block].shared;
        for lane in lanes(done) {
            let offset = u32::try_from(offsets[lane]).expect("shared memory is small");
            memory.take_off(offset, op.bytes, (warp.index, warp.pc));
            let copy = Copy {
                lane: lane_number(lane),
                group: warp.copies.committed[lane],
                pc: warp.pc,
                block: u32::try_from(block).expect("clusters are small"),
                to: offset,
                from: from[lane],
                bytes: op.bytes,
                read: read[lane],
                data: source(launch, &mut warp.guess, from[lane], read[lane], lane_number(lane))?,
            };
            if launch.eager() {
                memory.write(offset, &copy.data[..op.bytes as usize]);
            }
            warp.copies.pending.push(copy);
        }
        rest &= !done;
    }
    Ok(())
}

/// The source of a copy must be global memory.
fn global_lanes(place: Place, from: &[u64; LANES], mask: u32) -> Run<([u64; LANES], u32)> {
    match place {
        Place::Global | Place::Const => Ok((*from, mask)),
        Place::Generic | Place::Local | Place::Shared | Place::Param => {
            let (real, same, local) = super::memory::resolve(from, mask);
            if real == Place::Global {
                return Ok((local, same));
            }
            let lane = mask.trailing_zeros();
            let detail = "the source of an asynchronous copy must be global memory";
            Err(Trap::new(FaultKind::WrongSpace, detail).lane(lane).address(from[lane as usize]))
        }
    }
}

/// `cp.async.wait_group`, which lets that many groups of each thread fly on, and `cp.async.wait_all`.
fn wait(cx: &mut Context<'_>, warp: &mut Warp, keep: Option<u32>, mask: u32) -> Run<()> {
    let committed = warp.copies.committed;
    let lands = |copy: &Copy| {
        mask >> copy.lane & 1 != 0
            && match keep {
                None => true,
                Some(keep) => copy.group + u64::from(keep) < committed[copy.lane as usize],
            }
    };
    let pending = std::mem::take(&mut warp.copies.pending);
    let mut flying = Vec::with_capacity(pending.len());
    for copy in pending {
        if lands(&copy) {
            land(cx, warp, &copy).map_err(|trap| trap.at(copy.pc))?;
        } else {
            flying.push(copy);
        }
    }
    warp.copies.pending = flying;
    let seat = warp.seat();
    let all = |tracked: &Tracked| tracked.seat == seat && tracked.copies.iter().all(lands);
    let mut over = Vec::new();
    for tracked in cx.cluster.tracked.iter().filter(|tracked| all(tracked)) {
        over.push((tracked.copies.first().map_or(0, |copy| copy.lane), tracked.epoch));
    }
    land_tracked(cx, |tracked| !tracked.copies.is_empty() && all(tracked))?;
    for (lane, epoch) in over {
        let mut landed = Clock::default();
        Races::arrived(epoch, &mut landed);
        cx.cluster.races.acquire(warp.threads(1 << lane), &landed);
    }
    Ok(())
}

/// Copies of a lane that an mbarrier tracks: it arrives when all of them have landed.
#[derive(Debug)]
pub(crate) struct Tracked {
    /// Block and warp that issued them.
    seat: (u32, u32),
    copies: Vec<Copy>,
    /// What the race detector knows them as.
    epoch: Epoch,
    /// The mbarrier: block and word.
    barrier: (usize, usize),
    /// What the thread knew and did before.
    released: Clock,
}

impl Tracked {
    /// Whether it is to arrive at that mbarrier.
    pub(crate) fn arrives_at(&self, at: (usize, usize)) -> bool {
        self.barrier == at
    }
}

/// `cp.async.mbarrier.arrive`: the mbarrier arrives once for each lane when every earlier copy of the lane has landed.
fn arrive(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    barrier: Address,
    noinc: bool,
    mask: u32,
) -> Run<()> {
    let places = super::barrier::track(cx, warp, barrier, noinc, mask)?;
    for lane in lanes(mask) {
        let at = places[lane];
        let mut released = Clock::default();
        cx.cluster.races.release(warp.threads(1 << lane), &mut released);
        let own = |copy: &Copy| copy.lane as usize == lane;
        let (copies, others) = std::mem::take(&mut warp.copies.pending).into_iter().partition(own);
        warp.copies.pending = others;
        let copies: Vec<Copy> = copies;
        let epoch = cx.cluster.races.depart(at, warp.pc);
        for copy in &copies {
            let (block, who) = (copy.block as usize, (warp.accessor(), lane));
            let races = &mut cx.cluster.races;
            let place = (block, copy.to, copy.bytes);
            races.overwrite(epoch, who, place).or_else(|conflict| {
                let address = copy.address();
                let detail = format!(
                    "an asynchronous copy of {} bytes to shared address {address:#x}",
                    copy.bytes
                );
                let trap = Trap::new(FaultKind::Race, detail).lane(copy.lane).address(address);
                let mut trap = trap.bytes(copy.bytes);
                trap.other = Some(conflict.earlier);
                cx.found(trap)
            })?;
            let mut offsets = [0; LANES];
            offsets[lane] = u64::from(copy.to);
            hazards::wrote(cx, warp, block, &offsets, copy.bytes, 1 << lane);
            let issuer = (warp.index, warp.pc);
            cx.cluster.blocks[block].shared.take_off(copy.to, copy.bytes, issuer);
        }
        let seat = warp.seat();
        cx.cluster.tracked.push(Tracked { seat, copies, epoch, barrier: at, released });
        if let Some(trace) = &mut cx.cluster.trace {
            trace.tracks(at);
        }
        // Who waits for the mbarrier looks again.
        cx.cluster.blocks[at.0].events += 1;
    }
    Ok(())
}

/// How many arrivals of tracked copies an mbarrier has still to get.
pub(crate) fn arrivals(cx: &Context<'_>, at: (usize, usize)) -> u32 {
    let to = cx.cluster.tracked.iter().filter(|tracked| tracked.barrier == at);
    u32::try_from(to.count()).expect("few copies are in flight")
}

/// Tracked copies that are meant land, and their mbarriers arrive, in the order of issue. Whether there were any.
pub(crate) fn land_tracked(cx: &mut Context<'_>, meant: impl Fn(&Tracked) -> bool) -> Run<bool> {
    let tracked = std::mem::take(&mut cx.cluster.tracked);
    let (landing, flying): (Vec<_>, Vec<_>) = tracked.into_iter().partition(meant);
    cx.cluster.tracked = flying;
    let any = !landing.is_empty();
    for Tracked { seat: (from, _), copies, epoch, barrier, mut released } in landing {
        for copy in &copies {
            put(cx, copy).map_err(|trap| trap.at(copy.pc))?;
        }
        Races::arrived(epoch, &mut released);
        if let Some(trace) = &mut cx.cluster.trace {
            trace.tracked(barrier);
        }
        super::barrier::arrive_once(cx, (from as usize, barrier), &released)?;
    }
    Ok(any)
}

/// The copies land that an mbarrier tracks.
pub(crate) fn awaited(cx: &mut Context<'_>, at: (usize, usize)) -> Run<()> {
    land_tracked(cx, |tracked| tracked.barrier == at).map(drop)
}

/// An mbarrier is initialised or made invalid: it may track no copy.
pub(crate) fn unused(cx: &Context<'_>, at: (usize, usize)) -> Run<()> {
    let Some(tracked) = cx.cluster.tracked.iter().find(|one| one.barrier == at) else {
        return Ok(());
    };
    let detail = "an mbarrier ends that tracks copies of `cp.async` in flight";
    let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
    trap.copy = tracked.copies.first().map(|copy| (tracked.seat.1, copy.pc));
    cx.found(trap)
}

/// A block leaves the kernel: its copies are gone with its shared memory.
pub(crate) fn leave(cx: &mut Context<'_>) {
    let block = u32::try_from(cx.block).expect("clusters are small");
    cx.cluster.tracked.retain(|tracked| tracked.seat.0 != block);
}

/// The bytes at a source that was checked; they must all have been written.
fn source(
    launch: &Launch<'_>,
    guess: &mut usize,
    from: u64,
    bytes: u32,
    lane: u32,
) -> Run<[u8; 16]> {
    let mut data = [0; 16];
    if bytes == 0 {
        return Ok(data);
    }
    let allocation = launch.allocation(from, guess).expect("checked when the copy was issued");
    let start = usize::try_from(from - allocation.base).expect("the host holds the allocation");
    let data_bytes = data.iter_mut().take(bytes as usize);
    for (offset, byte) in (start..).zip(data_bytes) {
        if allocation.written[offset / 8].load(Relaxed) >> (offset % 8) & 1 == 0 {
            let address = allocation.base + offset as u64;
            let detail = format!("an asynchronous copy of bytes never written, at {address:#x}");
            return Err(Trap::new(FaultKind::Uninitialised, detail).lane(lane).address(address));
        }
        let word = allocation.words[offset / 8].load(Relaxed);
        [*byte, ..] = (word >> (8 * (offset % 8))).to_le_bytes();
    }
    Ok(data)
}

fn land(cx: &mut Context<'_>, warp: &mut Warp, copy: &Copy) -> Run<()> {
    let block = copy.block as usize;
    let (mut offsets, mut addresses) = ([0; LANES], [0; LANES]);
    let lane = copy.lane as usize;
    (offsets[lane], addresses[lane]) = (u64::from(copy.to), copy.address());
    let accessed = hazards::Accessed {
        offsets: &offsets,
        addresses: &addresses,
        bytes: copy.bytes,
        mask: 1 << copy.lane,
        access: Access::Store,
    };
    hazards::race(cx, warp, block, &accessed)?;
    put(cx, copy)?;
    hazards::wrote(cx, warp, block, &offsets, copy.bytes, accessed.mask);
    Ok(())
}

/// A copy writes its destination.
fn put(cx: &mut Context<'_>, copy: &Copy) -> Run<()> {
    let now = source(cx.launch, &mut 0, copy.from, copy.read, copy.lane)?;
    if now != copy.data {
        let detail = format!(
            "the {} bytes at {:#x} were overwritten while an asynchronous copy of them was in flight",
            copy.read, copy.from
        );
        cx.found(Trap::new(FaultKind::AsyncInFlight, detail).lane(copy.lane).address(copy.from))?;
    }
    let shared = &mut cx.cluster.blocks[copy.block as usize].shared;
    if !cx.launch.eager() {
        shared.write(copy.to, &copy.data[..copy.bytes as usize]);
    }
    shared.land(copy.to, copy.bytes);
    Ok(())
}
