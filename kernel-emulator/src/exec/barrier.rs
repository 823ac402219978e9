//! `bar`, `barrier`, `barrier.cluster`, `mbarrier` (PTX ISA, "Parallel
//! Synchronization and Communication Instructions").

pub(crate) mod init;

use super::bulk::Spot;
use super::memory::{Access, addresses, hazards, place, resolve};
use crate::code::{
    Address, Bar, BarKind, Inst, LANES, Mbarrier, MbarrierKind, MemoryScope, Op, Order, Place,
    Slot, W,
};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Block, Cluster, Context, Flow, Handoff, State, Warp};
use crate::memory::access::WordMemory;
use crate::memory::race::{Clock, Epoch, Races, Threads};
use crate::memory::shared::SHARED_BASE;
use crate::trace::{Over, Waits};

/// The value of an operand that must be the same in every lane.
fn uniform(warp: &Warp, slot: W, mask: u32, what: &str) -> Run<u32> {
    let undefined = mask & !warp.regs.w_defined(slot);
    if undefined != 0 {
        let use_ = format!("is {what}");
        return Err(super::uninitialised(warp, Slot::W(slot), undefined, &use_));
    }
    let values = warp.regs.w(slot);
    let first = values[mask.trailing_zeros() as usize];
    match lanes(mask).find(|&lane| values[lane] != first) {
        None => Ok(first),
        Some(lane) => Err(Trap::new(
            FaultKind::IllegalOperand,
            format!("{what} differs between the lanes of a warp: {first} and {}", values[lane]),
        )
        .lane(lane_number(lane))),
    }
}

/// `bar.sync`, `bar.arrive`, `bar.red`, and `barrier` in their place.
pub(crate) fn bar(cx: &mut Context<'_>, warp: &mut Warp, op: &Bar, mask: u32) -> Run<Flow> {
    let id = uniform(warp, op.id, mask, "the barrier number")?;
    let all = cx.launch.warps() * 32;
    let required = match op.threads {
        None => all,
        Some(slot) => uniform(warp, slot, mask, "the number of threads of a barrier")?,
    };
    let illegal = |detail: String| Err(Trap::new(FaultKind::IllegalOperand, detail));
    if id >= 16 {
        return illegal(format!("barrier number {id}; there are 16"));
    }
    if required == 0 || !required.is_multiple_of(32) {
        return illegal(format!(
            "{required} threads at barrier {id}, which is not a multiple of 32"
        ));
    }
    if required > all {
        return illegal(format!("{required} threads at barrier {id}, in a block of {all}"));
    }
    if op.aligned && mask != warp.initial {
        let gone = warp.initial & !mask;
        return Err(Trap::new(
            FaultKind::BarrierDivergence,
            format!(
                "barrier {id} is reached by lanes {mask:#010x} of the warp, but lanes {gone:#010x} have left the kernel"
            ),
        )
        .lane(gone.trailing_zeros()));
    }
    let barrier = &mut cx.block().barriers[id as usize];
    if barrier.required == 0 {
        (barrier.required, barrier.arrived, barrier.popc) = (required, 0, 0);
        (barrier.all, barrier.any) = (true, false);
    } else if barrier.required != required {
        let other = barrier.required;
        return Err(Trap::new(
            FaultKind::BarrierDivergence,
            format!(
                "barrier {id} is reached here for {required} threads, while others wait at it for {other}"
            ),
        ));
    }
    let predicate = match op.kind {
        BarKind::Sync | BarKind::Arrive => None,
        BarKind::RedPopc { a, .. } | BarKind::RedAnd { a, .. } | BarKind::RedOr { a, .. } => {
            Some(a)
        }
    };
    if let Some(a) = predicate {
        let undefined = mask & !warp.regs.p_defined(a.slot);
        if undefined != 0 {
            let use_ = "is reduced over a barrier";
            return Err(super::uninitialised(warp, Slot::P(a.slot), undefined, use_));
        }
        let yes = warp.regs.pred(a) & mask;
        barrier.popc += yes.count_ones();
        barrier.all &= yes == mask;
        barrier.any |= yes != 0;
    }
    let Cluster { races, blocks, .. } = cx.cluster;
    let block = &mut blocks[cx.block];
    let barrier = &mut block.barriers[id as usize];
    races.release(warp.threads(mask), &mut barrier.gathered);
    // A whole warp counts as 32 threads, also where the block ends inside it.
    barrier.arrived += if mask == warp.initial { 32 } else { mask.count_ones() };
    if barrier.arrived > barrier.required {
        let (arrived, required) = (barrier.arrived, barrier.required);
        return Err(Trap::new(
            FaultKind::BarrierDivergence,
            format!("{arrived} threads arrived at barrier {id}, which is for {required}"),
        ));
    }
    let generation = barrier.generation;
    if let Some(trace) = &mut cx.cluster.trace {
        let waits = if matches!(op.kind, BarKind::Arrive) { Waits::No } else { Waits::Yes };
        trace.meets((cx.block, id), waits);
        if barrier.arrived == barrier.required {
            trace.met((cx.block, id));
        }
    }
    if barrier.arrived == barrier.required {
        barrier.generation += 1;
        barrier.required = 0;
        barrier.result = (barrier.popc, barrier.all, barrier.any);
        barrier.released.join(&barrier.gathered);
        races.acquire(warp.threads(mask), &barrier.released);
        results(warp, &op.kind, barrier.result, mask);
        block.events += 1;
        return Ok(Flow::Next);
    }
    if matches!(op.kind, BarKind::Arrive) {
        return Ok(Flow::Next);
    }
    let id = u8::try_from(id).expect("checked against 16");
    Ok(Flow::Wait(State::Barrier { id, generation }))
}

/// A fragment continues after a barrier: the results of a reduction.
pub(crate) fn finish(warp: &mut Warp, inst: &Inst, result: (u32, bool, bool), mask: u32) {
    if let Op::Bar(bar) = &inst.op {
        results(warp, &bar.kind, result, mask);
    }
}

fn results(warp: &mut Warp, kind: &BarKind, (popc, all, any): (u32, bool, bool), mask: u32) {
    let everywhere = |yes: bool| if yes { u32::MAX } else { 0 };
    match *kind {
        BarKind::Sync | BarKind::Arrive => {}
        BarKind::RedPopc { d, .. } => warp.regs.set_w(d, &[popc; LANES], mask, u32::MAX),
        BarKind::RedAnd { d, .. } => warp.regs.set_p(d, everywhere(all), mask, u32::MAX),
        BarKind::RedOr { d, .. } => warp.regs.set_p(d, everywhere(any), mask, u32::MAX),
    }
}

/// `barrier.cluster.arrive`; what comes before a relaxed one is not ordered by it.
pub(crate) fn cluster_arrive(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    relaxed: bool,
    mask: u32,
) -> Run<Flow> {
    let Cluster { races, barrier, .. } = cx.cluster;
    let again = mask & warp.cluster_arrived;
    if again != 0 {
        let detail = "a thread arrives twice at the cluster barrier without waiting between";
        return Err(Trap::new(FaultKind::BarrierDivergence, detail).lane(again.trailing_zeros()));
    }
    if let Some(trace) = &mut cx.cluster.trace {
        trace.arrives_at_cluster();
    }
    warp.cluster_arrived |= mask;
    warp.cluster_generation = barrier.generation;
    barrier.arrived += mask.count_ones();
    if races.enabled() {
        Races::started(cx.block, &mut barrier.handoff.gathered);
        if relaxed {
            // A fence before it hands on what comes before that fence.
            let within = barrier.within.entry(cx.block).or_default();
            races.hand_on_fenced(warp.threads(mask), MemoryScope::Cta, &mut within.gathered);
            let all = &mut barrier.handoff.gathered;
            races.hand_on_fenced(warp.threads(mask), MemoryScope::Cluster, all);
        } else {
            races.release(warp.threads(mask), &mut barrier.handoff.gathered);
        }
    }
    cluster_check(cx);
    Ok(Flow::Next)
}

/// Completes the cluster barrier if every thread that has not left arrived.
pub(crate) fn cluster_check(cx: &mut Context<'_>) {
    let threads = cx.cluster.threads;
    let barrier = &mut cx.cluster.barrier;
    if barrier.arrived > 0 && barrier.arrived >= threads {
        barrier.arrived = 0;
        if let Some(trace) = &mut cx.cluster.trace {
            trace.cluster_met();
        }
        barrier.generation += 1;
        barrier.handoff.complete();
        barrier.within.values_mut().for_each(Handoff::complete);
    }
}

/// `barrier.cluster.wait`
pub(crate) fn cluster_wait(cx: &mut Context<'_>, warp: &mut Warp, mask: u32) -> Run<Flow> {
    let early = mask & !warp.cluster_arrived;
    if early != 0 {
        let detail = "a thread waits at the cluster barrier without having arrived";
        return Err(Trap::new(FaultKind::BarrierDivergence, detail).lane(early.trailing_zeros()));
    }
    warp.cluster_arrived &= !mask;
    let generation = warp.cluster_generation;
    let over = if cx.cluster.barrier.generation == generation { Over::No } else { Over::Yes };
    if let Some(trace) = &mut cx.cluster.trace {
        trace.waits_for_cluster(over);
    }
    if over == Over::No {
        return Ok(Flow::Wait(State::Cluster { generation }));
    }
    cluster_met(cx, warp.threads(mask));
    Ok(Flow::Next)
}

/// Threads continue after the cluster barrier: they learn what was handed on at it.
pub(crate) fn cluster_met(cx: &mut Context<'_>, threads: Threads) {
    let Cluster { races, barrier, .. } = cx.cluster;
    races.acquire(threads, &barrier.handoff.released);
    if let Some(within) = barrier.within.get(&cx.block) {
        races.acquire(threads, &within.released);
    }
}

/// An mbarrier object, as it is in its 64 bits. The manual leaves the format open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    /// Arrivals that the current phase still waits for.
    pending: u32,
    /// Arrivals of the next phase.
    expected: u32,
    /// Bytes that the current phase still waits for; may be negative for a while.
    tx: i32,
    /// Parity of the current phase.
    phase: bool,
}

/// The largest count of arrivals and of bytes.
const LIMIT: u32 = (1 << 20) - 1;

impl Object {
    #[expect(clippy::cast_possible_truncation, reason = "fields are cut out of the word")]
    const fn decode(word: u64) -> Option<Object> {
        if word >> 63 == 0 {
            return None;
        }
        Some(Object {
            pending: word as u32 & LIMIT,
            expected: (word >> 20) as u32 & LIMIT,
            tx: ((word >> 40) as i32) << 10 >> 10,
            phase: word >> 62 & 1 != 0,
        })
    }

    fn encode(self) -> u64 {
        1 << 63
            | u64::from(self.phase) << 62
            | u64::from(self.tx.cast_unsigned() & 0x3F_FFFF) << 40
            | u64::from(self.expected) << 20
            | u64::from(self.pending)
    }

    /// Starts the next phase if nothing is pending.
    fn settle(&mut self) {
        if self.pending == 0 && self.tx == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
    }

    fn arrive(&mut self, count: u32) -> Run<()> {
        if count == 0 || count > self.pending {
            let detail = match self.pending {
                0 if count > 0 => "an arrival at an mbarrier whose phase has had all of its arrivals, and waits for the bytes of copies: is a wait for its end missing before?".to_owned(),
                pending => {
                    format!(
                        "{count} arrivals at an mbarrier whose phase waits for {pending} of {}: more arrive in one phase than it was made for",
                        self.expected
                    )
                }
            };
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        self.pending -= count;
        self.settle();
        Ok(())
    }

    fn add_bytes(&mut self, bytes: i64) -> Run<()> {
        let tx = i64::from(self.tx) + bytes;
        match i32::try_from(tx) {
            Ok(tx) if tx.unsigned_abs() <= LIMIT => {
                self.tx = tx;
                Ok(())
            }
            Ok(_) | Err(_) => Err(Trap::new(
                FaultKind::IllegalOperand,
                format!("the byte count of an mbarrier would become {tx}, beyond {LIMIT}"),
            )),
        }
    }
}

/// A lane's value of an operand, which must be defined.
fn operand(warp: &Warp, slot: Slot, lane: usize) -> Run<u64> {
    if warp.regs.defined(slot) >> lane & 1 == 0 {
        return Err(super::uninitialised(warp, slot, 1 << lane, "is an operand of an mbarrier"));
    }
    Ok(warp.regs.wide(slot)[lane])
}

fn operand_w(warp: &Warp, slot: Option<W>, lane: usize) -> Run<Option<u32>> {
    slot.map(|slot| operand(warp, Slot::W(slot), lane).map(|v| u32::try_from(v).expect("32 bits")))
        .transpose()
}

/// The block and word of each lane's mbarrier.
fn locate(
    cx: &mut Context<'_>,
    warp: &Warp,
    address: &Address,
    mask: u32,
) -> Run<[(usize, usize); LANES]> {
    let at = addresses(warp, address, mask)?;
    let mut out = [(0, 0); LANES];
    let mut rest = mask;
    while rest != 0 {
        let (place, same, local) = if address.place == Place::Generic {
            resolve(&at, rest)
        } else {
            (address.place, rest, at)
        };
        if place != Place::Shared {
            let lane = rest.trailing_zeros();
            let detail = "an mbarrier outside shared memory";
            return Err(Trap::new(FaultKind::WrongSpace, detail).lane(lane));
        }
        let (block, offsets, done) = place::shared(cx, &local, 8, same, Access::Atomic)?;
        for lane in lanes(done) {
            out[lane] =
                (block, usize::try_from(offsets[lane] / 8).expect("shared memory is small"));
        }
        rest &= !done;
    }
    Ok(out)
}

fn object(cx: &Context<'_>, (block, word): (usize, usize), lane: usize) -> Run<Object> {
    let (value, written) = cx.cluster.blocks[block].shared.word(word);
    let object = if written == 0xFF { Object::decode(value) } else { None };
    object.ok_or_else(|| {
        Trap::new(FaultKind::Uninitialised, "an mbarrier that was not initialised")
            .lane(lane_number(lane))
    })
}

fn put(cx: &mut Context<'_>, (block, word): (usize, usize), value: u64) {
    cx.cluster.changes += 1;
    let block = &mut cx.cluster.blocks[block];
    block.shared.put(word, value, 0xFF);
    block.events += 1;
}

/// Lanes with the same mbarrier: its block and word, and the lanes.
fn by_barrier(
    places: &[(usize, usize); LANES],
    mask: u32,
) -> impl Iterator<Item = ((usize, usize), u32)> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let first = *places.get(rest.trailing_zeros() as usize)?;
        let same = |lane: &usize| places[*lane] == first;
        let found = lanes(rest).filter(same).fold(0, |found, lane| found | 1 << lane);
        rest &= !found;
        Some((first, found))
    })
}

/// What threads did so far happens before threads that wait for this phase of their mbarriers continue; where they arrive relaxed, what
/// fences handed on.
fn hand_on(
    cx: &mut Context<'_>,
    warp: &Warp,
    places: &[(usize, usize); LANES],
    (mask, order): (u32, Order),
) {
    for ((block, word), same) in by_barrier(places, mask) {
        let Cluster { races, blocks, .. } = cx.cluster;
        let reach = if block == cx.block { MemoryScope::Cta } else { MemoryScope::Cluster };
        if races.enabled() && order.scope >= Some(reach) {
            let arrivals = blocks[block].mbarriers.entry(word).or_default();
            let gathered = arrivals.gathered((cx.block, block));
            if order.releases {
                races.release(warp.threads(same), gathered);
            } else {
                races.hand_on_fenced(warp.threads(same), reach, gathered);
            }
        }
        if races.enabled() && block != cx.block {
            blocks[block].mbarriers.entry(word).or_default().arrive_from_afar();
        }
    }
}

/// An mbarrier was `before` until an operation on it: if that ended a phase, who waits learns what was handed on.
fn settled(cx: &mut Context<'_>, (block, word): (usize, usize), before: u64) {
    let after = cx.cluster.blocks[block].shared.word(word).0;
    let over = parity_of(before) != parity_of(after);
    if let Some(trace) = &mut cx.cluster.trace
        && over
    {
        trace.completes((block, word));
    }
    let Cluster { races, blocks, .. } = cx.cluster;
    let mbarriers = &mut blocks[block].mbarriers;
    if races.enabled() && over {
        mbarriers.entry(word).or_default().complete();
    }
}

/// The parity of an mbarrier's current phase.
const fn parity_of(object: u64) -> bool {
    object >> 62 & 1 != 0
}

/// `mbarrier`, all forms.
pub(crate) fn mbarrier(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Mbarrier,
    mask: u32,
) -> Run<Flow> {
    if let MbarrierKind::PendingCount { d, state } = op.kind {
        let value = warp.regs.d(state).map(|state| state & u64::from(LIMIT));
        let defined = warp.regs.d_defined(state);
        warp.regs.set_wide(Slot::W(d), &value, mask, defined);
        return Ok(Flow::Next);
    }
    let places = locate(cx, warp, &op.address, mask)?;
    ordered(cx, warp, op.kind, &places, mask)?;
    if let MbarrierKind::Wait { .. } = op.kind {
        return wait(cx, warp, &places, op.kind, mask);
    }
    match op.kind {
        MbarrierKind::Arrive { order, .. } => hand_on(cx, warp, &places, (mask, order)),
        MbarrierKind::ExpectTx { .. } | MbarrierKind::CompleteTx { .. } => {
            let scope = Some(MemoryScope::Cluster);
            hand_on(cx, warp, &places, (mask, Order { scope, ..Order::WEAK }));
        }
        MbarrierKind::Init { .. }
        | MbarrierKind::Inval
        | MbarrierKind::Wait { .. }
        | MbarrierKind::PendingCount { .. } => {}
    }
    let mut states = [0; LANES];
    for lane in lanes(mask) {
        states[lane] = one(cx, warp, op.kind, places[lane], lane).map_err(|trap| {
            if trap.lane.is_some() { trap } else { trap.lane(lane_number(lane)) }
        })?;
    }
    if let MbarrierKind::Arrive { state: Some(state), .. } = op.kind {
        warp.regs.set_d(state, &states, mask, u32::MAX);
    }
    Ok(Flow::Next)
}

/// An mbarrier is made, and given back, in order with everything else that is done with it, by other blocks too; the rest is atomic.
/// Blocks wait for their own mbarriers only.
fn ordered(
    cx: &mut Context<'_>,
    warp: &Warp,
    kind: MbarrierKind,
    places: &[(usize, usize); LANES],
    mask: u32,
) -> Run<()> {
    let (mut offsets, mut addresses, mut own) = ([0; LANES], [0; LANES], 0);
    for lane in lanes(mask) {
        let (block, word) = places[lane];
        let offset = u32::try_from(8 * word).expect("shared memory is small");
        offsets[lane] = u64::from(offset);
        addresses[lane] = u64::from(Spot { block, offset }.address());
        own |= u32::from(block == cx.block) << lane;
    }
    let access = match kind {
        MbarrierKind::Init { .. } | MbarrierKind::Inval => Access::Store,
        MbarrierKind::Wait { .. } if own != mask => {
            let lane = (mask & !own).trailing_zeros();
            let address = addresses[lane as usize];
            let detail = format!(
                "a wait for the mbarrier at shared address {address:#x} of another block; only those of the own block can be waited for"
            );
            return Err(Trap::new(FaultKind::WrongSpace, detail).lane(lane).address(address));
        }
        MbarrierKind::Wait { .. }
        | MbarrierKind::Arrive { .. }
        | MbarrierKind::ExpectTx { .. }
        | MbarrierKind::CompleteTx { .. }
        | MbarrierKind::PendingCount { .. } => Access::Load,
    };
    let mut rest = mask;
    while rest != 0 {
        let (block, _) = places[rest.trailing_zeros() as usize];
        let there = lanes(rest).filter(|&lane| places[lane].0 == block);
        let mask = there.fold(0, |found, lane| found | 1 << lane);
        let (offsets, addresses) = (&offsets, &addresses);
        let accessed = hazards::Accessed { offsets, addresses, bytes: 8, mask, access };
        hazards::ordered(cx, warp, block, &accessed).or_else(|trap| cx.found(trap))?;
        rest &= !mask;
    }
    Ok(())
}

/// One lane's operation; the state before it.
fn one(
    cx: &mut Context<'_>,
    warp: &Warp,
    kind: MbarrierKind,
    at: (usize, usize),
    lane: usize,
) -> Run<u64> {
    if let MbarrierKind::Init { count } = kind {
        let count = operand_w(warp, Some(count), lane)?.expect("init has a count");
        if count == 0 || count > LIMIT {
            let detail = format!("an mbarrier for {count} arrivals; 1 to {LIMIT} are possible");
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        super::bulk::flight::unused(cx, at)?;
        let offset = u32::try_from(8 * at.1).expect("shared memory is small");
        let shared = &mut cx.cluster.blocks[at.0].shared;
        if shared.mbarrier_in(offset, 8).is_some() {
            let detail = "an mbarrier is initialised where one is valid: an `mbarrier.inval` of that one is missing before";
            return Err(Trap::new(FaultKind::IllegalOperand, detail));
        }
        shared.make_mbarrier(offset);
        let object = Object { pending: count, expected: count, tx: 0, phase: false };
        put(cx, at, object.encode());
        if let Some(trace) = &mut cx.cluster.trace {
            trace.made(at);
        }
        init::made(cx, warp, at, lane_number(lane));
        cx.cluster.races.initialised((warp.threads(1 << lane), warp.pc), (at.0, offset));
        return Ok(0);
    }
    let mut object = object(cx, at, lane)?;
    let before = object.encode();
    match kind {
        MbarrierKind::Init { .. }
        | MbarrierKind::Wait { .. }
        | MbarrierKind::PendingCount { .. } => {
            unreachable!("handled by the caller")
        }
        MbarrierKind::Inval => {
            super::bulk::flight::unused(cx, at)?;
            super::bulk::flight::abandon(cx, at);
            let offset = u32::try_from(8 * at.1).expect("shared memory is small");
            cx.cluster.blocks[at.0].shared.end_mbarrier(offset);
            put(cx, at, 0);
            return Ok(0);
        }
        MbarrierKind::Arrive { count, expect, drop, no_complete, .. } => {
            if let Some(bytes) = operand_w(warp, expect, lane)? {
                object.add_bytes(i64::from(bytes))?;
            }
            let count = operand_w(warp, count, lane)?.unwrap_or(1);
            if no_complete && count >= object.pending {
                let detail = "an arrival with .noComplete completes the phase of its mbarrier";
                return Err(Trap::new(FaultKind::IllegalOperand, detail));
            }
            if drop {
                object.expected = object.expected.saturating_sub(count);
            }
            object.arrive(count)?;
        }
        MbarrierKind::ExpectTx { bytes } => {
            let bytes = operand(warp, Slot::W(bytes), lane)?.cast_signed();
            object.add_bytes(bytes)?;
        }
        MbarrierKind::CompleteTx { bytes } => {
            let bytes = operand(warp, Slot::W(bytes), lane)?.cast_signed();
            object.add_bytes(-bytes)?;
            object.settle();
        }
    }
    if let Some(trace) = &mut cx.cluster.trace {
        trace.arrives(at);
    }
    put(cx, at, object.encode());
    settled(cx, at, before);
    Ok(before)
}

/// Of the current phase of an mbarrier: the arrivals and the bytes that it still waits for.
pub(crate) fn transactions(cx: &Context<'_>, at: (usize, usize)) -> Run<(u32, i64)> {
    let (value, written) = cx.cluster.blocks[at.0].shared.word(at.1);
    let object = if written == 0xFF { Object::decode(value) } else { None };
    match object {
        Some(object) => Ok((object.pending, object.tx.into())),
        None => Err(Trap::new(FaultKind::Uninitialised, "an mbarrier that was not initialised")),
    }
}

/// Bytes of an asynchronous copy that a block issued, of that epoch, see `memory/race.rs`, arrive at an mbarrier.
pub(crate) fn complete_bytes(
    cx: &mut Context<'_>,
    (from, at): (usize, (usize, usize)),
    (bytes, epoch): (u32, Epoch),
) -> Run<()> {
    let mut object = object(cx, at, 0)?;
    let before = object.phase;
    object.add_bytes(-i64::from(bytes))?;
    object.settle();
    put(cx, at, object.encode());
    if let Some(trace) = &mut cx.cluster.trace {
        trace.landed(at);
        if before != object.phase {
            trace.completes(at);
        }
    }
    let Cluster { races, blocks, .. } = cx.cluster;
    if races.enabled() {
        let arrivals = blocks[at.0].mbarriers.entry(at.1).or_default();
        Races::arrived(epoch, arrivals.gathered((from, at.0)));
        if before != object.phase {
            arrivals.complete();
        }
    }
    Ok(())
}

/// An asynchronous operation that a block issued arrives at an mbarrier: who waits for it learns what is `known`.
pub(crate) fn arrive_once(
    cx: &mut Context<'_>,
    (from, at): (usize, (usize, usize)),
    known: &Clock,
) -> Run<()> {
    let mut object = object(cx, at, 0)?;
    let before = object.phase;
    object.arrive(1)?;
    put(cx, at, object.encode());
    if let Some(trace) = &mut cx.cluster.trace
        && before != object.phase
    {
        trace.completes(at);
    }
    let Cluster { races, blocks, .. } = cx.cluster;
    if races.enabled() {
        let arrivals = blocks[at.0].mbarriers.entry(at.1).or_default();
        arrivals.gathered((from, at.0)).join(known);
        if before != object.phase {
            arrivals.complete();
        }
    }
    Ok(())
}

/// `test_wait`, `try_wait`. Where no lane's phase is over, `try_wait` waits for something to happen.
fn wait(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    places: &[(usize, usize); LANES],
    kind: MbarrierKind,
    mask: u32,
) -> Run<Flow> {
    let MbarrierKind::Wait { d, phase, parity, blocking, order } = kind else {
        unreachable!("the caller has asked")
    };
    let mut done = 0;
    let mut asked = Vec::new();
    for lane in lanes(mask) {
        let waited = operand(warp, phase, lane)?;
        let waited = if parity { waited & 1 != 0 } else { parity_of(waited) };
        let mut current = object(cx, places[lane], lane)?.phase;
        if current == waited && !warp.asked.contains(&(places[lane], waited)) {
            // Either instruction may say that the phase is not over, and the first time it does: a kernel looks again.
            if !asked.contains(&(places[lane], waited)) {
                asked.push((places[lane], waited));
            }
        } else if current == waited {
            // Who waits for another phase, by mistake perhaps, does not make this one's copies land.
            super::bulk::flight::awaited(cx, places[lane])?;
            current = object(cx, places[lane], lane)?.phase;
        }
        done |= u32::from(current != waited) << lane;
    }
    let first = !asked.is_empty();
    warp.asked.retain(|(barrier, _)| lanes(done).all(|lane| places[lane] != *barrier));
    warp.asked.append(&mut asked);
    if done == 0 && blocking && !first && !warp.timeout {
        let lane = mask.trailing_zeros() as usize;
        let (_, word) = places[lane];
        let waited = operand(warp, phase, lane)?;
        let parity = if parity { waited & 1 != 0 } else { waited >> 62 & 1 != 0 };
        let word = u32::try_from(word).expect("shared memory is small");
        return Ok(Flow::Retry(State::Mbarrier { seen: cx.block().events, word, parity }));
    }
    if done == 0 && blocking && warp.timeout {
        warp.time_out();
    }
    if let Some(trace) = &mut cx.cluster.trace {
        match by_barrier(places, done).next() {
            Some((at, _)) => trace.passes(at),
            None => trace.looks(),
        }
    }
    for ((block, word), same) in by_barrier(places, done) {
        let Cluster { races, blocks, .. } = cx.cluster;
        let Some(arrivals) = blocks[block].mbarriers.get_mut(&word) else { continue };
        arrivals.waited();
        let (own, others) = (&arrivals.own.released, &arrivals.others.released);
        if order.acquires {
            races.acquire(warp.threads(same), own);
            if order.scope >= Some(MemoryScope::Cluster) {
                races.acquire(warp.threads(same), others);
            }
        } else {
            races.see(warp.threads(same), order, (own, others));
        }
    }
    if done != 0 {
        let lane = done.trailing_zeros() as usize;
        let waited = operand(warp, phase, lane)?;
        let parity = if parity { waited & 1 != 0 } else { parity_of(waited) };
        warp.pass(places[lane], parity);
    }
    warp.regs.set_p(d, done, mask, u32::MAX);
    Ok(if done == 0 { Flow::Yield } else { Flow::Next })
}

/// The parity of the current phase of an mbarrier, where there is one.
pub(crate) fn parity(cluster: &Cluster, (block, word): (usize, usize)) -> Option<bool> {
    Object::decode(cluster.blocks[block].shared.word(word).0).map(|object| object.phase)
}

/// What a phase of an mbarrier waits for, in words. So many warps arrive for what its author calls an arrival.
pub(crate) fn pending(block: &Block, (word, parity): (u32, bool), warps: u32) -> String {
    let address = 8 * word + SHARED_BASE;
    let name =
        format!("phase parity {} of the mbarrier at shared address {address:#x}", u8::from(parity));
    let Some(object) = Object::decode(block.shared.word(word as usize).0) else {
        return format!("{name}, which is no mbarrier any more");
    };
    let Object { pending, expected, tx, .. } = object;
    let bytes = if tx > 0 { format!(" and {tx} bytes") } else { String::new() };
    // All issued copies have landed by the time that no warp can continue.
    let cause = match (pending, tx) {
        (0, 1..) => ": more are expected than the copies bring that were issued".to_owned(),
        (_, ..0) => format!(", and {} bytes have come that no arrival expects", -tx),
        (_, 0) if pending == expected => ": nothing has come in this phase".to_owned(),
        (_, 0..) => String::new(),
    };
    let [pending, expected] = [pending, expected].map(|count| count.div_ceil(warps.max(1)));
    format!("{name}: {pending} of {expected} arrivals{bytes} are missing{cause}")
}

/// `cp.async.mbarrier.arrive`: mbarriers get an arrival to come for each lane, which they wait for one more of unless it counts already. Where they
/// are.
pub(crate) fn track(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    barrier: Address,
    noinc: bool,
    mask: u32,
) -> Run<[(usize, usize); LANES]> {
    let places = locate(cx, warp, &barrier, mask)?;
    for lane in lanes(mask) {
        let mut object = object(cx, places[lane], lane)?;
        if !noinc {
            object.pending += 1;
            put(cx, places[lane], object.encode());
        }
    }
    Ok(places)
}
