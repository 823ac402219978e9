//! Copies from shared to global memory, in bulk groups of their thread.

use super::{Piece, Row, global};
use crate::code::{AtomOp, LANES};
use crate::exec::memory::{
    self,
    atomic::{self, Subnormals},
    hazards,
};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::lanes;
use crate::machine::{Context, Launch, Warp};
use crate::memory::race::Epoch;

/// A copy in flight.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) lane: u32,
    pub(crate) pc: u32,
    /// The source, in the block's own shared memory.
    pub(crate) source: Vec<Piece>,
    pub(crate) rows: Vec<Row>,
    /// What the source held when the copy was issued.
    pub(crate) data: Vec<u8>,
    /// What is done to each element of the destination; it is replaced without.
    pub(crate) op: Option<AtomOp>,
}

/// The copies of a warp's threads that are not complete.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pending: Vec<Pending>,
    /// How many groups each lane committed.
    committed: [u64; LANES],
}

#[derive(Debug)]
struct Pending {
    store: Store,
    /// The group of its thread that it belongs to.
    group: u64,
    /// What the race detector knows it as.
    epoch: Epoch,
    /// Whether it has still to read its source.
    reading: bool,
}

impl Groups {
    pub(crate) fn reset(&mut self) {
        self.pending.clear();
        self.committed = [0; LANES];
    }

    /// `cp.async.bulk.commit_group`
    pub(crate) fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            self.committed[lane] += 1;
        }
    }
}

/// The group that a copy of a lane belongs to.
fn current(warp: &Warp, lane: u32) -> u64 {
    warp.bulk.committed[lane as usize]
}

/// Issues a copy; its source was checked.
///
/// # Errors
/// Somebody else accesses the destination with nothing that orders the two.
pub(crate) fn issue(cx: &mut Context<'_>, warp: &mut Warp, store: Store) -> Run<()> {
    let lane = store.lane as usize;
    let epoch = cx.cluster.races.store_departs(warp.accessor(), lane, store.op.is_some());
    for row in &store.rows {
        memory::global::overwrite(cx, warp, (epoch, lane), (row.address, row.bytes as u64))?;
    }
    for &Piece { offset, bytes } in &store.source {
        cx.block().shared.hold(offset, bytes, (warp.index, store.pc));
    }
    if let Some(trace) = &mut cx.cluster.trace {
        let rows = store.rows.iter().map(|row| (row.address, row.bytes));
        trace.stores(cx.launch, rows);
    }
    let group = current(warp, store.lane);
    warp.bulk.pending.push(Pending { store, group, epoch, reading: true });
    Ok(())
}

/// `cp.async.bulk.wait_group`, which lets that many groups of each thread go on; with `reads_only` the others
/// need only have read their source.
pub(crate) fn wait(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    (keep, reads_only): (u32, bool),
    mask: u32,
) -> Run<()> {
    let mut flying = Vec::new();
    for mut pending in std::mem::take(&mut warp.bulk.pending) {
        let lane = pending.store.lane as usize;
        let over =
            mask >> lane & 1 != 0 && pending.group + u64::from(keep) < warp.bulk.committed[lane];
        if over && pending.reading {
            pending.reading = false;
            cx.cluster.races.advance(warp.seat());
            for &Piece { offset, bytes } in &pending.store.source {
                cx.block().shared.let_go(offset, bytes);
                // From here on it counts as the thread's own reading: a thread that overwrites the source has
                // to synchronise with the thread.
                hazards::async_read(cx, (warp, lane), cx.block, offset, bytes)?;
            }
        }
        if over && !reads_only {
            land(cx.launch, warp, &pending.store)?;
            cx.cluster.races.store_landed(warp.threads(1 << lane), pending.epoch);
        } else {
            flying.push(pending);
        }
    }
    warp.bulk.pending = flying;
    Ok(())
}

/// Writes global memory.
fn land(launch: &Launch<'_>, warp: &mut Warp, store: &Store) -> Run<()> {
    for row in &store.rows {
        let span = (row.address, row.bytes as u64);
        let (memory, offset) = global(launch, &mut warp.guess, span, "an asynchronous copy")?;
        let data = &store.data[row.start..row.start + row.bytes];
        let Some(op) = store.op else {
            memory.write(offset, data);
            continue;
        };
        let size = op.bytes() as usize;
        for (element, at) in data.chunks_exact(size).zip((offset..).step_by(size)) {
            let mut operand = [0; 8];
            operand[..size].copy_from_slice(element);
            let (_, written) = atomic::global(
                memory,
                at,
                (op, Subnormals::Kept),
                (u64::from_le_bytes(operand), 0),
            );
            if !written {
                let address = memory.base + at;
                let detail = format!(
                    "an asynchronous reduction into global memory at {address:#x}, which was never written"
                );
                let trap = Trap::new(FaultKind::Uninitialised, detail).at(store.pc);
                return Err(trap.lane(store.lane).address(address));
            }
        }
    }
    Ok(())
}

/// The warp's block is about to be gone: what was read lands, and nothing may be left to read.
pub(crate) fn leave(cx: &mut Context<'_>, warp: &mut Warp) -> Run<()> {
    for pending in std::mem::take(&mut warp.bulk.pending) {
        if pending.reading {
            let detail = "the block leaves the kernel while an asynchronous copy has still to read its shared memory: the thread that issued it has to wait (`cp.async.bulk.commit_group`, `cp.async.bulk.wait_group.read 0`)";
            let trap = Trap::new(FaultKind::AsyncInFlight, detail);
            cx.found(trap.at(pending.store.pc).lane(pending.store.lane))?;
        }
        land(cx.launch, warp, &pending.store)?;
    }
    Ok(())
}
