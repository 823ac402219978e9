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
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE};

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

/// The copies of a warp that nothing waited for.
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
        // It may read at once, and as late as the wait.
        let (offsets, addresses, access) = (&offsets, &local, Access::Load);
        let accessed =
            hazards::Accessed { offsets, addresses, bytes: op.bytes, mask: done, access };
        global::race(cx, warp, (warp.guess, memory), (&accessed, None), || false)?;
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
    Ok(())
}

/// `cp.async.mbarrier.arrive`: every earlier copy of each lane lands, then the lane arrives.
fn arrive(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    barrier: Address,
    noinc: bool,
    mask: u32,
) -> Run<()> {
    wait(cx, warp, None, mask)?;
    super::barrier::copy_arrive(cx, warp, barrier, noinc, mask)
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
    let now = source(cx.launch, &mut warp.guess, copy.from, copy.read, copy.lane)?;
    if now != copy.data {
        let detail = format!(
            "the {} bytes at {:#x} were overwritten while an asynchronous copy of them was in flight",
            copy.read, copy.from
        );
        cx.found(Trap::new(FaultKind::AsyncInFlight, detail).lane(copy.lane).address(copy.from))?;
    }
    let data = &copy.data[..copy.bytes as usize];
    let block = copy.block as usize;
    let (mut offsets, mut addresses) = ([0; LANES], [0; LANES]);
    let lane = copy.lane as usize;
    offsets[lane] = u64::from(copy.to);
    addresses[lane] = u64::from(copy.block << RANK_SHIFT | (SHARED_BASE + copy.to));
    let accessed = hazards::Accessed {
        offsets: &offsets,
        addresses: &addresses,
        bytes: copy.bytes,
        mask: 1 << copy.lane,
        access: Access::Store,
    };
    hazards::race(cx, warp, block, &accessed)?;
    let shared = &mut cx.cluster.blocks[block].shared;
    if !cx.launch.eager() {
        shared.write(copy.to, data);
    }
    shared.land(copy.to, copy.bytes);
    hazards::wrote(cx, warp, block, &offsets, copy.bytes, accessed.mask);
    Ok(())
}
