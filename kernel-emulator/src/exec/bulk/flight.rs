//! Copies into shared memory, whose bytes an mbarrier counts.

use super::{Issuer, Piece, Row, Spot, ranges, read_rows};
use crate::code::AtomOp;
use crate::exec::{
    async_copy, barrier,
    memory::atomic::{self, Subnormals},
    tcgen05,
};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Block, Cluster, Context};
use crate::memory::race::{Accessor, Epoch};
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE};

/// What a copy carries to shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Cargo {
    pub(crate) issuer: Issuer,
    /// What the source held when the copy was issued, in the order of the pieces; the mbarrier counts its
    /// bytes.
    pub(crate) data: Vec<u8>,
    /// The places in `data` of bytes that were never written.
    pub(crate) missing: Vec<usize>,
    /// What is done to each element of the destination; it is replaced without.
    pub(crate) op: Option<AtomOp>,
    /// Where in global memory the data comes from.
    pub(crate) rows: Vec<Row>,
    /// Where in the issuing block's shared memory it comes from.
    pub(crate) held: Option<Piece>,
}

impl Cargo {
    /// Written bytes, from nowhere in memory, that replace what is there.
    pub(crate) const fn of(issuer: Issuer, data: Vec<u8>) -> Cargo {
        Cargo { issuer, data, missing: Vec::new(), op: None, rows: Vec::new(), held: None }
    }

    /// Bytes that the mbarrier counts.
    fn bytes(&self) -> u32 {
        u32::try_from(self.data.len()).expect("shared memory is small")
    }
}

/// A copy in flight.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) cargo: Cargo,
    /// The mbarrier: block and word of its shared memory.
    pub(crate) barrier: (usize, usize),
    /// The block that it lands in.
    pub(crate) block: usize,
    pub(crate) pieces: Vec<Piece>,
}

/// The copies into the shared memory of a cluster that no thread waited for.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    /// Each with its epoch in the destination's race detector, in the order of issue.
    pending: Vec<(Flight, Epoch)>,
}

impl Flights {
    pub(crate) fn reset(&mut self) {
        self.pending.clear();
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

/// Issues a copy. The pieces are in the block's shared memory, and are multiples of 4.
pub(crate) fn depart(cx: &mut Context<'_>, flight: Flight) -> Run<()> {
    let Issuer { warp, pc, lane, .. } = flight.cargo.issuer;
    let block = flight.block;
    if cx.cluster.blocks[block].left {
        let detail = format!(
            "an asynchronous copy into the shared memory of block {block} of the cluster, which has left the kernel"
        );
        cx.found(Trap::new(FaultKind::AsyncInFlight, detail).lane(lane))?;
    }
    barrier::transactions(cx, flight.barrier).map_err(|trap| trap.lane(lane))?;
    barrier::init::seen(cx, flight.barrier, "an asynchronous copy")
        .map_err(|trap| trap.lane(lane))?;
    let ranges = ranges(&flight.pieces);
    for range in &ranges {
        check(cx, &flight, *range).or_else(|trap| cx.found(trap.lane(lane)))?;
    }
    let from = u32::try_from(flight.cargo.issuer.block).expect("clusters are small");
    let issuer = (Accessor { block: from, warp, pc }, lane as usize);
    let epoch = cx.cluster.races.depart(flight.barrier, pc);
    if let Some(Piece { offset, bytes }) = flight.cargo.held {
        let units = offset / 16..(offset + bytes) / 16;
        cx.cluster.races.read_by(epoch, issuer.0, (cx.block, units));
    }
    for Piece { offset, bytes } in ranges {
        let races = &mut cx.cluster.races;
        if flight.cargo.op.is_some() {
            races.forget_copies(block, offset, bytes);
        }
        races.overwrite(epoch, issuer, (block, offset, bytes)).or_else(|conflict| {
            let address = Spot { block, offset }.address();
            let detail =
                format!("an asynchronous copy of {bytes} bytes to shared address {address:#x}");
            let mut trap = Trap::new(FaultKind::Race, detail).lane(lane).address(address.into());
            (trap.bytes, trap.other) = (Some(bytes), Some(conflict.earlier));
            trap.barrier = Some(flight.barrier);
            cx.found(trap)
        })?;
        let Block { shared, proxies, .. } = &mut cx.cluster.blocks[block];
        shared.take_off(offset, bytes, (warp, pc));
        proxies.forget(offset, bytes);
    }
    if cx.launch.eager() {
        write(cx, &flight)?;
    }
    if let Some(trace) = &mut cx.cluster.trace {
        let rows = flight.cargo.rows.iter().map(|row| (row.address, row.bytes));
        trace.departs(cx.launch, (flight.barrier, flight.cargo.bytes()), rows);
    }
    // Who waits for the mbarrier looks again.
    cx.cluster.blocks[flight.barrier.0].events += 1;
    cx.cluster.flights.pending.push((flight, epoch));
    Ok(())
}

/// The destination must not be in flight already, except that reductions may meet, nor be read by another copy
/// or by `wgmma`.
fn check(cx: &Context<'_>, flight: &Flight, range: Piece) -> Run<()> {
    let Piece { offset, bytes } = range;
    let memory = &cx.cluster.blocks[flight.block].shared;
    let address = Spot { block: flight.block, offset }.address();
    let fault = |what: &str, copy| {
        let detail = format!(
            "an asynchronous copy of {bytes} bytes to shared address {address:#x}, which another asynchronous operation has still to {what}"
        );
        let mut trap = Trap::new(FaultKind::AsyncInFlight, detail).address(address.into());
        trap.copy = copy;
        Err(trap)
    };
    if memory.mbarrier_in(offset, bytes).is_some() {
        let detail = format!(
            "an asynchronous copy of {bytes} bytes to shared address {address:#x}, where a valid mbarrier is: an `mbarrier.inval` is missing before"
        );
        return Err(Trap::new(FaultKind::IllegalOperand, detail).address(address.into()));
    }
    if let Some(reader) = memory.held(offset, bytes) {
        return fault("read", Some(reader));
    }
    if memory.any_in_flight() && memory.in_flight(offset, bytes) {
        let meets =
            |piece: &Piece| piece.offset < offset + bytes && offset < piece.offset + piece.bytes;
        let pending = cx.cluster.flights.pending.iter();
        let mut others = pending
            .filter(|(other, _)| other.block == flight.block && other.pieces.iter().any(meets))
            .peekable();
        let reductions = flight.cargo.op.is_some()
            && others.peek().is_some()
            && others.all(|(other, _)| other.cargo.op.is_some());
        if !reductions {
            return fault("write", memory.in_flight_from(offset, bytes));
        }
    }
    Ok(())
}

/// Somebody waits for an mbarrier: if the copies in flight and the commits that have still to arrive complete its phase,
/// they do.
#[inline]
pub(crate) fn awaited(cx: &mut Context<'_>, at: (usize, usize)) -> Run<()> {
    let Cluster { flights, tensor, tracked, .. } = &*cx.cluster;
    if flights.is_empty() && !tensor.any_commits() && tracked.is_empty() {
        return Ok(());
    }
    let (bytes, commits) = (under_way(cx, at), tcgen05::flight::arrivals(cx, at));
    let tracked = async_copy::arrivals(cx, at);
    if bytes == 0 && commits == 0 && tracked == 0 {
        return Ok(());
    }
    let (pending, expected) = barrier::transactions(cx, at)?;
    if pending > commits + tracked || expected != bytes {
        return Ok(());
    }
    land_all(cx, |flight| flight.barrier == at)?;
    async_copy::awaited(cx, at)?;
    tcgen05::flight::arrive(cx, at, pending.saturating_sub(tracked))
}

/// The bytes in flight that an mbarrier is to count.
fn under_way(cx: &Context<'_>, at: (usize, usize)) -> i64 {
    let to = cx.cluster.flights.pending.iter().filter(|(flight, _)| flight.barrier == at);
    to.map(|(flight, _)| i64::from(flight.cargo.bytes())).sum()
}

/// Nothing else can run: everything lands. Whether anything did.
///
/// # Errors
/// More bytes than the phase of an mbarrier expects, beside what landing finds.
pub(crate) fn stuck(cx: &mut Context<'_>) -> Run<bool> {
    let mut index = 0;
    while let Some((flight, _)) = cx.cluster.flights.pending.get(index) {
        let (at, issuer) = (flight.barrier, flight.cargo.issuer);
        let bytes = under_way(cx, at);
        let (pending, expected) = barrier::transactions(cx, at)?;
        if pending == 0 && expected < bytes {
            let address = barrier_address(at);
            let detail = format!(
                "{bytes} bytes are on the way to the mbarrier at shared address {address:#x}, whose phase waits for {expected}: it does not complete"
            );
            let trap = Trap::new(FaultKind::Deadlock, detail);
            return Err(trap.at(issuer.pc).lane(issuer.lane).address(address.into()));
        }
        index += 1;
    }
    let any = index > 0;
    land_all(cx, |_| true)?;
    let tracked = async_copy::land_tracked(cx, |_| true)?;
    Ok(tcgen05::flight::stuck(cx)? || tracked || any)
}

fn barrier_address((block, word): (usize, usize)) -> u32 {
    let rank = u32::try_from(block).expect("clusters are small");
    rank << RANK_SHIFT | (SHARED_BASE + 8 * u32::try_from(word).expect("shared memory is small"))
}

/// The block whose warp issued copies by an instruction, where `block` issued none of them.
pub(crate) fn issued_elsewhere(
    cluster: &Cluster,
    block: usize,
    issuer: (u32, u32),
) -> Option<usize> {
    let issuers = cluster.flights.pending.iter().map(|(flight, _)| flight.cargo.issuer);
    let mut blocks = issuers.filter(|one| (one.warp, one.pc) == issuer).map(|one| one.block);
    let first = blocks.next()?;
    (first != block && blocks.all(|other| other != block)).then_some(first)
}

/// The mbarrier of the copies into a block that an instruction of a warp issued, where they have but one.
pub(crate) fn barrier_of(
    cluster: &Cluster,
    block: usize,
    issuer: (u32, u32),
) -> Option<(usize, usize)> {
    let of_issuer = |flight: &&Flight| {
        flight.block == block && (flight.cargo.issuer.warp, flight.cargo.issuer.pc) == issuer
    };
    let flights = cluster.flights.pending.iter().map(|(flight, _)| flight).filter(of_issuer);
    let mut barriers = flights.map(|flight| flight.barrier);
    let first = barriers.next()?;
    barriers.all(|other| other == first).then_some(first)
}

/// Lets the copies land that are meant, in the order of issue.
fn land_all(cx: &mut Context<'_>, meant: impl Fn(&Flight) -> bool) -> Run<()> {
    let pending = std::mem::take(&mut cx.cluster.flights.pending);
    let (landing, flying): (Vec<_>, Vec<_>) =
        pending.into_iter().partition(|(flight, _)| meant(flight));
    cx.cluster.flights.pending = flying;
    for (flight, epoch) in landing {
        let Issuer { pc, lane, .. } = flight.cargo.issuer;
        land(cx, &flight, epoch).map_err(|trap| trap.at(pc).lane(lane))?;
    }
    Ok(())
}

fn land(cx: &mut Context<'_>, flight: &Flight, epoch: Epoch) -> Run<()> {
    if !flight.cargo.rows.is_empty() {
        unchanged(cx, flight)?;
    }
    if !cx.launch.eager() {
        write(cx, flight)?;
    }
    if let Some(Piece { offset, bytes }) = flight.cargo.held {
        cx.cluster.blocks[flight.cargo.issuer.block].shared.let_go(offset, bytes);
    }
    for &Piece { offset, bytes } in &flight.pieces {
        cx.cluster.blocks[flight.block].shared.land(offset, bytes);
    }
    if flight.cargo.op.is_some() {
        // Other reductions of the same bytes are still in flight.
        for (other, _) in &cx.cluster.flights.pending {
            if other.block == flight.block && other.cargo.op.is_some() {
                let issuer = (other.cargo.issuer.warp, other.cargo.issuer.pc);
                for &Piece { offset, bytes } in &other.pieces {
                    cx.cluster.blocks[flight.block].shared.take_off(offset, bytes, issuer);
                }
            }
        }
    }
    let from = flight.cargo.issuer.block;
    barrier::complete_bytes(cx, (from, flight.barrier), (flight.cargo.bytes(), epoch))
}

/// A copy writes its destination.
fn write(cx: &mut Context<'_>, flight: &Flight) -> Run<()> {
    let mut start = 0;
    for &Piece { offset, bytes } in &flight.pieces {
        let end = start + bytes as usize;
        let shared = &mut cx.cluster.blocks[flight.block].shared;
        match flight.cargo.op {
            None => {
                shared.write(offset, &flight.cargo.data[start..end]);
                for place in
                    flight.cargo.missing.iter().filter(|place| (start..end).contains(place))
                {
                    let within = u32::try_from(place - start).expect("within the piece");
                    shared.forget(offset + within, 1);
                }
            }
            Some(op) => {
                let mut data = flight.cargo.data[start..end].to_vec();
                let mut old = vec![0; data.len()];
                let unwritten = shared.read(offset, &mut old);
                if let Some(at) = unwritten {
                    let address = Spot { block: flight.block, offset: at }.address();
                    let detail = format!(
                        "an asynchronous reduction into shared address {address:#x}, which was never written"
                    );
                    let trap = Trap::new(FaultKind::Uninitialised, detail);
                    return Err(trap.address(address.into()));
                }
                reduce(op, &mut data, &old);
                shared.write(offset, &data);
            }
        }
        start = end;
    }
    Ok(())
}

/// An mbarrier is initialised or made invalid: no copy may be in flight that it is to count the bytes of.
pub(crate) fn unused(cx: &Context<'_>, at: (usize, usize)) -> Run<()> {
    tcgen05::flight::unused(cx, at)?;
    async_copy::unused(cx, at)?;
    let mut pending = cx.cluster.flights.pending.iter();
    let Some((flight, _)) = pending.find(|(flight, _)| flight.barrier == at) else {
        return Ok(());
    };
    let address = barrier_address(at);
    let detail = format!(
        "the mbarrier at shared address {address:#x} ends, and an asynchronous copy has still to arrive at it"
    );
    let mut trap = Trap::new(FaultKind::AsyncInFlight, detail).address(address.into());
    trap.copy = Some((flight.cargo.issuer.warp, flight.cargo.issuer.pc));
    cx.found(trap)
}

/// What has still to arrive at an mbarrier does not: it ends, which was found.
pub(crate) fn abandon(cx: &mut Context<'_>, at: (usize, usize)) {
    tcgen05::flight::abandon(cx, at);
    cx.cluster.tracked.retain(|tracked| !tracked.arrives_at(at));
    let Cluster { flights, blocks, .. } = &mut *cx.cluster;
    flights.pending.retain(|(flight, _)| {
        let goes_on = flight.barrier != at;
        if !goes_on {
            for &Piece { offset, bytes } in &flight.pieces {
                blocks[flight.block].shared.land(offset, bytes);
            }
        }
        goes_on
    });
}

/// The global source must still hold what it held when the copy was issued: the copy may read it at any time.
fn unchanged(cx: &Context<'_>, flight: &Flight) -> Run<()> {
    let mut now = flight.cargo.data.clone();
    read_rows(cx.launch, &mut 0, &flight.cargo.rows, &mut now)?;
    if now == flight.cargo.data {
        return Ok(());
    }
    let place = (0..now.len()).find(|&i| now[i] != flight.cargo.data[i]).expect("the two differ");
    let row =
        flight.cargo.rows.iter().find(|row| (row.start..row.start + row.bytes).contains(&place));
    let address = row.map_or(0, |row| row.address + (place - row.start) as u64);
    let detail = format!(
        "the global memory at {address:#x} was overwritten while an asynchronous copy of it was in flight"
    );
    let Issuer { pc, lane, .. } = flight.cargo.issuer;
    cx.found(Trap::new(FaultKind::AsyncInFlight, detail).at(pc).lane(lane).address(address))
}

/// Reduces old elements into the operands of `data`.
fn reduce(op: AtomOp, data: &mut [u8], old: &[u8]) {
    let size = op.bytes() as usize;
    let value = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    for (operand, old) in data.chunks_exact_mut(size).zip(old.chunks_exact(size)) {
        let new = atomic::apply(op, Subnormals::Kept, value(old), value(operand), 0);
        operand.copy_from_slice(&new.to_le_bytes()[..size]);
    }
}

/// The executing block is about to be gone: no copy may read or write its shared memory any more.
pub(crate) fn leave(cx: &Context<'_>) -> Run<()> {
    let block = cx.block;
    for (flight, _) in &cx.cluster.flights.pending {
        let Issuer { block: from, pc, lane, .. } = flight.cargo.issuer;
        let what = if flight.block == block {
            "write"
        } else if flight.cargo.held.is_some() && from == block {
            "read"
        } else {
            continue;
        };
        let at = barrier_address(flight.barrier);
        let cause = if flight.barrier.0 == block {
            format!("nobody waited for the mbarrier at shared address {at:#x}")
        } else {
            format!(
                "it stays until a wait for the mbarrier of the other block, at shared address {at:#x}, is over: is a `barrier.cluster.arrive` and `.wait` missing at its end?"
            )
        };
        let detail = format!(
            "the block leaves the kernel while an asynchronous copy has still to {what} its shared memory: {cause}"
        );
        cx.found(Trap::new(FaultKind::AsyncInFlight, detail).at(pc).lane(lane))?;
    }
    Ok(())
}
