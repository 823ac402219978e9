//! In which order tensor memory is accessed (PTX ISA, "`tcgen05` Memory Consistency Model").
//!
//! A unit of tensor memory ([`Unit`](crate::memory::tensor::Unit)) remembers who wrote it last and two who read it. An
//! access conflicts with such an earlier one if one of the two writes and
//!
//! - the earlier one is still under way, unless the tensor core executes both in order of issue for one thread: a
//!   product behind a copy, behind a shift, or behind a product of the same kind and shape into the same D; a shift
//!   behind a product; a copy behind a copy or a shift;
//! - or it is over, but nothing orders that before the later one: who accesses has neither waited itself nor
//!   synchronised with who has. That is asked where races are looked for, and within one block.

use super::Place;
use super::flight::{Signature, Work};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Warp};
use crate::memory::tensor::{By, Mark, Region};

/// What is done to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Who accesses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Actor {
    /// A warp of the executing block: its number, instruction, and the number of its load or store.
    Warp { index: u32, pc: u32, number: u32 },
    /// An operation of the tensor core: its number, and the index of its signature.
    Operation { number: u32, pc: u32, signature: u32, warp: u32 },
}

impl Actor {
    fn warp(&self) -> u32 {
        match self {
            Actor::Warp { index, .. } => *index,
            Actor::Operation { warp, .. } => *warp,
        }
    }

    const fn text(&self, access: Access) -> &'static str {
        match (self, access) {
            (Actor::Warp { .. }, Access::Read) => "`tcgen05.ld` reads",
            (Actor::Warp { .. }, Access::Write) => "`tcgen05.st` writes",
            (Actor::Operation { .. }, Access::Read) => "the operation reads",
            (Actor::Operation { .. }, Access::Write) => "the operation writes",
        }
    }
}

/// What stands against an access.
enum Conflict {
    /// The earlier one is under way.
    UnderWay,
    /// It is over, and the later one does not know.
    Unordered,
}

/// Whether an operation is executed after an earlier one of the same thread without anybody waiting.
fn pipelined(earlier: &Signature, later: &Signature, wrote: bool, access: Access) -> bool {
    if earlier.thread != later.thread {
        return false;
    }
    match (earlier.work, later.work) {
        (Work::Product { .. }, Work::Product { .. }) => {
            // D of the one and D of the other; or what one reads, and the other would write, is not.
            wrote && access == Access::Write && earlier.work == later.work
        }
        (Work::Copy | Work::Shift, Work::Product { .. } | Work::Copy)
        | (Work::Product { .. }, Work::Shift) => true,
        (Work::Product { .. }, Work::Copy) | (Work::Copy | Work::Shift, Work::Shift) => false,
    }
}

fn conflict(
    cx: &Context<'_>,
    (block, mark): (usize, &Mark),
    wrote: bool,
    actor: Option<&Actor>,
    (warp, access): (u32, Access),
) -> Option<Conflict> {
    let here = &cx.cluster.blocks[block];
    match mark.by {
        By::Nobody => None,
        By::Warp { index, time } => {
            let accesses = &here.tensor.warps[index as usize];
            let done = if wrote { accesses.stores.waited } else { accesses.loads.waited };
            if mark.number > done {
                return Some(Conflict::UnderWay);
            }
            let ordered = block != cx.block || here.races.knows(warp, index, time);
            (!ordered).then_some(Conflict::Unordered)
        }
        By::Operation { signature } => {
            let operations = &cx.cluster.tensor;
            let earlier = operations.signature(signature);
            if let Some(Actor::Operation { signature: later, .. }) = actor
                && pipelined(earlier, operations.signature(*later), wrote, access)
            {
                return None;
            }
            if operations.under_way(mark.number).is_some() {
                return Some(Conflict::UnderWay);
            }
            let ordered = block != cx.block
                || earlier.thread.block != block
                || here.races.knows_completed(warp, earlier.agent, mark.number);
            (!ordered).then_some(Conflict::Unordered)
        }
    }
}

/// Checks and notes an access to units of a block of the cluster.
pub(super) fn access(
    cx: &mut Context<'_>,
    actor: &Actor,
    (block, region): (usize, Region),
    access: Access,
) -> Run<()> {
    check(cx, Some(actor), (block, region), (actor.warp(), access))?;
    let mark = match *actor {
        Actor::Warp { index, pc, number } => {
            let time = cx.cluster.blocks[block].races.time(index);
            Mark { by: By::Warp { index, time }, number, pc }
        }
        Actor::Operation { number, pc, signature, .. } => {
            Mark { by: By::Operation { signature }, number, pc }
        }
    };
    let tensor = &mut cx.cluster.blocks[block].tensor;
    for index in region.units() {
        let unit = tensor.unit_mut(index);
        match access {
            Access::Write => {
                unit.write = mark;
                unit.reads = [Mark::default(); 2];
            }
            Access::Read if same_reader(&unit.reads[0], &mark) => unit.reads[0] = mark,
            Access::Read => unit.reads = [mark, unit.reads[0]],
        }
    }
    Ok(())
}

fn same_reader(a: &Mark, b: &Mark) -> bool {
    match (a.by, b.by) {
        (By::Warp { index: a, .. }, By::Warp { index: b, .. })
        | (By::Operation { signature: a }, By::Operation { signature: b }) => a == b,
        (By::Nobody, _) => true,
        (By::Warp { .. }, By::Operation { .. } | By::Nobody)
        | (By::Operation { .. }, By::Warp { .. } | By::Nobody) => false,
    }
}

/// Checks an access; without an actor, of a warp that gives the columns back.
fn check(
    cx: &Context<'_>,
    actor: Option<&Actor>,
    (block, region): (usize, Region),
    (warp, access): (u32, Access),
) -> Run<()> {
    // Neighbours mostly have the same history, which need not be judged again.
    let mut fine = [Mark::default(); 2];
    for index in region.units() {
        let unit = cx.cluster.blocks[block].tensor.unit(index);
        let reads: &[Mark] = if access == Access::Write { &unit.reads } else { &[] };
        for (mark, wrote) in
            std::iter::once((&unit.write, true)).chain(reads.iter().map(|mark| (mark, false)))
        {
            if mark.by == By::Nobody || fine[usize::from(wrote)] == *mark {
                continue;
            }
            match conflict(cx, (block, mark), wrote, actor, (warp, access)) {
                None => fine[usize::from(wrote)] = *mark,
                Some(conflict) => {
                    let place = Place {
                        lane: u32::try_from(index % 8 * 16).expect("small"),
                        column: u32::try_from(index / 8).expect("small"),
                    };
                    let what = actor.map_or("`tcgen05.dealloc` gives back", |a| a.text(access));
                    return Err(fault(cx, (block, mark), wrote, (what, place), &conflict));
                }
            }
        }
    }
    Ok(())
}

#[cold]
fn fault(
    cx: &Context<'_>,
    (block, mark): (usize, &Mark),
    wrote: bool,
    (what, place): (&str, Place),
    conflict: &Conflict,
) -> Trap {
    let Place { lane, column } = place;
    let end = lane + 15;
    let cells = format!("lanes {lane} to {end} of column {column} of tensor memory");
    let (did, still) =
        if wrote { ("wrote", "has still to write") } else { ("read", "has still to read") };
    let mut trap = match (mark.by, conflict) {
        (By::Warp { index, .. }, Conflict::UnderWay) => {
            let (op, wait) = if wrote { ("st", "wait::st") } else { ("ld", "wait::ld") };
            let detail = format!(
                "{what} {cells}, which a `tcgen05.{op}` of warp {index} {still}: its `tcgen05.{wait}` is missing before"
            );
            let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
            trap.product = Some(mark.pc);
            trap
        }
        (By::Warp { index, .. }, Conflict::Unordered) => {
            let mut trap = Trap::new(FaultKind::Race, format!("{what} {cells}"));
            trap.other = Some((mark.pc, index, wrote));
            trap
        }
        (By::Operation { .. } | By::Nobody, Conflict::UnderWay) => {
            let missing = cx.cluster.tensor.missing(mark.number);
            let detail =
                format!("{what} {cells}, which an operation of the tensor core {still}: {missing}");
            let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
            trap.product = Some(mark.pc);
            trap
        }
        (By::Operation { .. } | By::Nobody, Conflict::Unordered) => {
            let detail = format!(
                "{what} {cells}, which an operation of the tensor core {did}, and this warp neither waited for the mbarrier of its `tcgen05.commit` nor synchronised with who did"
            );
            let mut trap = Trap::new(FaultKind::Race, detail);
            trap.product = Some(mark.pc);
            trap
        }
    };
    trap.address = Some(u64::from(place.address()));
    if block != cx.block {
        trap.detail.push_str(", in the other block of the pair");
    }
    trap
}

/// Checks that nothing of some columns of the executing block is under way.
pub(super) fn released(cx: &Context<'_>, warp: &Warp, region: Region) -> Run<()> {
    check(cx, None, (cx.block, region), (warp.index, Access::Write))
}

/// The loads, or the stores, of a warp are over: they took until here.
pub(super) fn waited(cx: &mut Context<'_>, warp: &Warp, access: Access) {
    let block = cx.block();
    let now = block.races.time(warp.index);
    let accesses = &mut block.tensor.warps[warp.index as usize];
    let issued = match access {
        Access::Read => &mut accesses.loads,
        Access::Write => &mut accesses.stores,
    };
    issued.waited = issued.count;
    let open = std::mem::take(&mut issued.open);
    let update = |mark: &mut Mark| {
        if let By::Warp { index, time } = &mut mark.by
            && *index == warp.index
        {
            *time = now;
        }
    };
    for index in open.into_iter().flat_map(Region::units) {
        let unit = block.tensor.unit_mut(index);
        match access {
            Access::Read => unit.reads.iter_mut().for_each(update),
            Access::Write => update(&mut unit.write),
        }
    }
}
