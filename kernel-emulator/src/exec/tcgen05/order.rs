//! In which order tensor memory is accessed (PTX ISA, "`tcgen05` Memory Consistency Model").
//!
//! A unit of tensor memory ([`Unit`](crate::memory::tensor::Unit)) remembers who wrote it last and two who read it. An
//! access conflicts with such an earlier one if one of the two writes and
//!
//! - the earlier one is still in flight, unless the tensor core executes both in order of issue for one thread: a
//!   product after a copy, after a shift, or after a product of the same kind and shape into the same D; a shift
//!   after a product; a copy after a copy, a shift or a product (the manual lists copy and product as a pair that is
//!   pipelined, and Gluon's tutorial of `tcgen05_copy` copies over what the product before reads);
//! - or it is over, but nothing orders that before the later one: who accesses has neither waited itself nor
//!   synchronised with who has. That is asked where races are looked for;
//! - or, where the launch asks for it, `tcgen05.fence` does not stand on both sides of where two warps synchronise. A commit
//!   fences what comes before it, and who waits for its mbarrier needs the other fence even in the thread that committed
//!   ("Non-pipelined instructions, same thread"). Between fences a relaxed operation synchronises as well as a release does: all that the
//!   fences compose with orders execution, and the tensor core needs no more.
//!
//! `tcgen05.alloc` and `tcgen05.dealloc` are synchronous. So the first access of another warp to columns needs the fence that follows the
//! synchronisation only, and giving columns back needs the one before it only. A pair allocates and gives back together: each
//! block answers for its own columns.

use super::Place;
use super::flight::{Signature, Work};
use crate::fault::{self, Earlier, FaultKind, Run, Trap};
use crate::machine::{Cluster, Context, Warp};
use crate::memory::race;
use crate::memory::tensor::{By, Mark, Region, Unit};

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

    fn text(&self, cx: &Context<'_>, access: Access) -> String {
        let does = match access {
            Access::Read => "reads",
            Access::Write => "writes",
        };
        let who = match (self, access) {
            (Actor::Warp { .. }, Access::Read) => "`tcgen05.ld`",
            (Actor::Warp { .. }, Access::Write) => "`tcgen05.st`",
            (Actor::Operation { signature, .. }, _) => {
                cx.cluster.tensor.signature(*signature).work.text()
            }
        };
        format!("{who} {does}")
    }
}

/// What stands against an access.
enum Conflict {
    /// The earlier one is in flight.
    UnderWay,
    /// It is over, and the later one does not know.
    Unordered,
    /// It is over, and the threads have synchronised without this fence.
    Unfenced(&'static str),
}

const BEFORE: &str = "tcgen05.fence::before_thread_sync";
const AFTER: &str = "tcgen05.fence::after_thread_sync";

/// What a thread knows of an earlier access that is over.
struct Heard {
    /// The fences around a synchronisation have told it.
    fenced: bool,
    /// Some synchronisation has told it.
    ordered: bool,
    /// The fence that is missing if the synchronisation has told and the fences have not.
    missing: &'static str,
}

impl Heard {
    /// What stands against the next access of who heard so much.
    fn conflict(&self, asked: bool) -> Option<Conflict> {
        match (self.fenced, self.ordered) {
            (true, _) => None,
            (false, false) => Some(Conflict::Unordered),
            (false, true) => asked.then_some(Conflict::Unfenced(self.missing)),
        }
    }
}

/// `tcgen05.fence::after_thread_sync`
pub(super) fn fence_after(cx: &mut Context<'_>, (warp, mask): (&Warp, u32)) {
    let known = cx.cluster.races.fence_tensor_after(warp.threads(mask));
    cx.block().tensor.warps[warp.index as usize].after = known;
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
        | (Work::Product { .. }, Work::Copy | Work::Shift) => true,
        (Work::Copy | Work::Shift, Work::Shift) => false,
    }
}

fn conflict(
    cx: &Context<'_>,
    (block, mark): (usize, &Mark),
    wrote: bool,
    actor: Option<&Actor>,
    (warp, access): (u32, Access),
) -> Option<Conflict> {
    let Cluster { races, blocks, .. } = &*cx.cluster;
    let seat = |block: usize| u32::try_from(block).expect("clusters are small");
    let here = (seat(cx.block), warp);
    let known = &blocks[cx.block].tensor.warps[warp as usize].after;
    let asked = cx.launch.check_tensor_fences && races.enabled();
    match mark.by {
        By::Nobody => None,
        By::Allocation { index, time } => {
            let other = (seat(block), index);
            // Of a pair, the block has allocated together with the other one.
            if block != cx.block || other == here {
                return None;
            }
            let who = race::warp(other.0, other.1);
            let heard = Heard {
                fenced: known.reaches(who, time),
                ordered: races.knows(here, other, time),
                missing: AFTER,
            };
            heard.conflict(asked && actor.is_some())
        }
        By::Warp { index, time } => {
            let accesses = &blocks[block].tensor.warps[index as usize];
            let done = if wrote { accesses.stores.waited } else { accesses.loads.waited };
            if mark.number > done {
                return Some(Conflict::UnderWay);
            }
            let other = (seat(block), index);
            if other == here {
                return None;
            }
            let who = race::warp(other.0, other.1);
            let before = races.clock(here, u32::MAX).knows_fence(who, time);
            let heard = Heard {
                fenced: known.knows_fence(who, time) || actor.is_none() && before,
                ordered: races.knows(here, other, time),
                missing: if before { AFTER } else { BEFORE },
            };
            heard.conflict(asked)
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
            // A commit fences what comes before.
            let heard = Heard {
                fenced: known.knows_completed(earlier.agent, mark.number),
                ordered: races.knows_completed(here, earlier.agent, mark.number),
                missing: AFTER,
            };
            heard.conflict(asked && actor.is_some())
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
            let own = u32::try_from(block).expect("clusters are small");
            let time = cx.cluster.races.time((own, index), u32::MAX);
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

/// Notes that a warp of the executing block has allocated columns.
pub(super) fn allocated(cx: &mut Context<'_>, warp: &Warp, region: Region) {
    let time = cx.cluster.races.time(warp.seat(), u32::MAX);
    let by = By::Allocation { index: warp.index, time };
    let mark = Mark { by, number: 0, pc: warp.pc };
    for index in region.units() {
        *cx.block().tensor.unit_mut(index) = Unit { write: mark, reads: [Mark::default(); 2] };
    }
}

fn same_reader(a: &Mark, b: &Mark) -> bool {
    match (a.by, b.by) {
        (By::Warp { index: a, .. }, By::Warp { index: b, .. })
        | (By::Operation { signature: a }, By::Operation { signature: b }) => a == b,
        (By::Nobody, _) => true,
        (By::Warp { .. } | By::Operation { .. } | By::Allocation { .. }, _) => false,
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
                    let gives_back = || "`tcgen05.dealloc` gives back".to_owned();
                    let what = actor.map_or_else(gives_back, |actor| actor.text(cx, access));
                    return cx.found(fault(cx, (block, mark), wrote, (&what, place), &conflict));
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
    let operation = match mark.by {
        By::Operation { signature } => cx.cluster.tensor.signature(signature).work.text(),
        By::Warp { .. } | By::Allocation { .. } | By::Nobody => "`tcgen05` operation",
    };
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
        (_, Conflict::Unfenced(fence)) => {
            let who = match mark.by {
                By::Warp { index, .. } => format!("warp {index} {did}"),
                By::Allocation { index, .. } => format!("warp {index} allocated"),
                By::Operation { .. } | By::Nobody => format!("a {operation} {did}"),
            };
            let by = if *fence == BEFORE {
                "that warp, before it synchronises"
            } else {
                "this warp, after it has synchronised"
            };
            let detail = format!("{what} {cells}, which {who}: a `{fence}` of {by}, is missing");
            let mut trap = Trap::new(FaultKind::TensorFence, detail);
            trap.product = Some(mark.pc);
            trap
        }
        (By::Warp { index, .. }, Conflict::Unordered) => {
            let mut trap = Trap::new(FaultKind::Race, format!("{what} {cells}"));
            trap.other = Some(Earlier { pc: mark.pc, by: fault::By::Warp(index), wrote });
            trap
        }
        (By::Allocation { index, .. }, Conflict::Unordered | Conflict::UnderWay) => {
            let detail = format!(
                "{what} {cells}, which warp {index} allocated, and nothing orders the two: a barrier is missing between"
            );
            let mut trap = Trap::new(FaultKind::Race, detail);
            trap.product = Some(mark.pc);
            trap
        }
        (By::Operation { .. } | By::Nobody, Conflict::UnderWay) => {
            let missing = cx.cluster.tensor.missing(mark.number);
            let detail = format!("{what} {cells}, which a {operation} {still}: {missing}");
            let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
            trap.product = Some(mark.pc);
            trap
        }
        (By::Operation { .. } | By::Nobody, Conflict::Unordered) => {
            let detail = format!(
                "{what} {cells}, which a {operation} {did}, and this warp neither waited for the mbarrier of its `tcgen05.commit` nor synchronised with who did"
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

/// Checks that nothing of some columns of the executing block is in flight.
pub(super) fn released(cx: &Context<'_>, warp: &Warp, region: Region) -> Run<()> {
    check(cx, None, (cx.block, region), (warp.index, Access::Write))
}

/// The loads, or the stores, of a warp are over: they took until here.
pub(super) fn waited(cx: &mut Context<'_>, warp: &Warp, access: Access) {
    let now = cx.cluster.races.time(warp.seat(), u32::MAX);
    let block = cx.block();
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
