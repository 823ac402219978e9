//! What an operation does to memory and barriers, and who may go on.

use super::{
    Blocked, Finding, Reason,
    barriers::Arrived,
    clock::{Clock, Half, Of},
    code::Applied,
    machine::{Machine, State, Stop, Waiting},
    memory::{Access, Conflict, Cores, Until},
    values::{Barrier, Datum, Thing, Window, coordinate},
};
use crate::{
    ir::{
        self, Announcement, Blocks, By, ClusterOp, Does, Done, Effects, Memory, Named, Op,
        ProductOp, SyncOp, Tcgen05, Value, Wait,
    },
    layouts::tma::completed_bytes,
    loc::Loc,
};

impl Machine<'_> {
    /// Runs an operation with effects; whether it takes place.
    pub(super) fn act(
        &mut self,
        crew: usize,
        applied: Applied<'_>,
        effects: &Effects,
        at: Loc,
    ) -> Result<bool, Stop> {
        let [block, _] = self.crews[crew].who;
        let by_pairs = matches!(applied.op, Op::Product(ProductOp::Tcgen05(_))) && self.pairs;
        let asks = matches!(applied.op, Op::Sync(SyncOp::Cluster(ClusterOp::TryCancel)));
        if by_pairs && block % 2 == 1 || asks && block != 0 {
            return Ok(false);
        }
        if let Some(condition) = condition(applied, effects)
            && self.number(crew, condition, at)? == 0
        {
            return Ok(false);
        }
        self.accesses(crew, applied, effects, at)?;
        self.told = effects.tells_threads() && !effects.meets_crew();
        if let Some(announcement) = effects.announces {
            self.told |= matches!(announcement, Announcement::Commit { .. });
            self.announce(crew, applied, announcement, at)?;
        }
        if let Op::Sync(SyncOp::Cluster(op)) = applied.op {
            self.answer(crew, *op, applied);
        }
        for &wait in &effects.waits {
            self.wait(crew, applied, wait, at)?;
        }
        Ok(true)
    }

    fn accesses(
        &mut self,
        crew: usize,
        applied: Applied<'_>,
        effects: &Effects,
        at: Loc,
    ) -> Result<(), Stop> {
        let started = effects.accesses.iter().map(|access| access.by);
        if started.clone().any(|by| by == By::TensorCores) {
            let one = &mut self.crews[crew];
            if matches!(applied.op, Op::Product(ProductOp::Wgmma { .. })) {
                one.products += 1;
            } else {
                one.on_cores += 1;
            }
        }
        if effects.accesses.iter().any(|access| access.done == Done::BulkGroup) {
            self.crews[crew].stores += 1;
        }
        let sent = effects.writes().find_map(|access| match access.memory {
            Memory::Shared(window) => self.get(crew, window).window(),
            Memory::Tensor(_)
            | Memory::Address(_)
            | Memory::TensorMemory(_)
            | Memory::Registers(_) => None,
        });
        let cores = if let Op::Product(ProductOp::Tcgen05(op)) = applied.op {
            match op {
                Tcgen05::Mma { .. } => self.get(crew, applied.args[2]).window().map(Cores::Product),
                Tcgen05::Copy { .. } => Some(Cores::Copy),
                Tcgen05::Commit { .. } | Tcgen05::FenceBefore | Tcgen05::FenceAfter => None,
            }
        } else {
            None
        };
        for (number, access) in effects.accesses.iter().enumerate() {
            let window = match access.memory {
                Memory::Shared(window) | Memory::TensorMemory(window) => window,
                Memory::Tensor(_) | Memory::Address(_) | Memory::Registers(_) => continue,
            };
            let datum = self.get(crew, window);
            self.decides(at, datum);
            let Some(place) = datum.window() else {
                return Err(Stop::Unknown(at, Reason::Window));
            };
            let left = matches!(applied.op, Op::Product(ProductOp::Wgmma { .. })) && number == 0;
            let barrier = match access.done {
                Done::Barrier(barrier) => {
                    let named = self.barrier(crew, barrier, at)?;
                    let [own, _] = self.crews[crew].who;
                    // What goes to another block, that block counts, at the barrier that it has at the same place.
                    let to = sent.map_or(own, |window| window.block);
                    Some(if named.block == own { Barrier { block: to, ..named } } else { named })
                }
                Done::AtOnce
                | Done::CpAsyncGroup
                | Done::BulkGroup
                | Done::WgmmaGroup
                | Done::Commit
                | Done::Pipeline => None,
            };
            for block in self.blocks_of(crew, (access.blocks, access.by), place.block, at)? {
                let exact = place.exact && !access.at_indices;
                let place = Window { block, exact, ..place };
                let barrier = barrier.map(|barrier| match access.blocks {
                    Blocks::One => barrier,
                    Blocks::Masked(_) | Blocks::All => Barrier { block, ..barrier },
                });
                self.access(crew, (access, place, left, cores), barrier, at)?;
                if let Some(barrier) = barrier.filter(|_| access.does == Does::Writes) {
                    let ty = self.kernel.ty(window).shared();
                    let bytes = ty.map_or(0, |ty| completed_bytes(self.kernel, ty, effects));
                    self.note_answer(applied, place);
                    let began = self.crews[crew].clocks[0].clone();
                    let arrived = self.barriers.at_mut(barrier).deliver(bytes, &began);
                    let who = self.crews[crew].who;
                    self.step_clock(crew, who, Half::Issuer);
                    self.arrived(barrier, &arrived, at)?;
                }
            }
        }
        Ok(())
    }

    /// The blocks of the cluster whose memory an access is to.
    fn blocks_of(
        &mut self,
        crew: usize,
        (blocks, by): (Blocks, By),
        own: u32,
        at: Loc,
    ) -> Result<Vec<u32>, Stop> {
        Ok(match blocks {
            // The tensor cores of both blocks work on what each of them has at this place.
            Blocks::One if self.pairs && by == By::TensorCores => vec![own, own ^ 1],
            Blocks::One => vec![own],
            Blocks::All => (0..self.blocks).collect(),
            Blocks::Masked(mask) => {
                let mask = self.number(crew, mask, at)?;
                (0..self.blocks).filter(|block| mask >> block & 1 == 1).collect()
            }
        })
    }

    /// Notes one access, and what it is in conflict with.
    fn access(
        &mut self,
        crew: usize,
        (access, window, left, cores): (&ir::Access, Window, bool, Option<Cores>),
        barrier: Option<Barrier>,
        at: Loc,
    ) -> Result<(), Stop> {
        let one = &self.crews[crew];
        let until = |of, count| Until { component: self.components.part(one.who, of), count };
        let threads = |half: Half| {
            let component = self.components.part(one.who, Of::Threads(half));
            let clock = &one.clocks[usize::from(half == Half::Others)];
            Until { component, count: clock.get(component) }
        };
        let until = match access.done {
            Done::AtOnce | Done::Pipeline => Half::BOTH.map(threads),
            Done::CpAsyncGroup => Half::BOTH.map(|half| until(Of::CpAsync(half), one.copies + 1)),
            Done::WgmmaGroup => Half::BOTH.map(|half| until(Of::Wgmma(half), one.products)),
            Done::BulkGroup => [until(Of::Stores, one.stores); 2],
            Done::Commit => [until(Of::Tcgen05, one.on_cores); 2],
            Done::Barrier(_) => {
                let Some(barrier) = barrier else { return Ok(()) };
                let component = self.barriers.component(barrier);
                [Until { component, count: self.barriers.at(barrier).phases + 1 }; 2]
            }
        };
        let spread = match access.by {
            By::Threads | By::CpAsync => true,
            By::TensorCores => left,
            By::AsyncCopy => false,
        };
        let by_one_thread = match access.by {
            By::Threads | By::CpAsync => false,
            By::TensorCores => access.done == Done::Commit,
            By::AsyncCopy => true,
        };
        let ir::Access { does, by, atomic, .. } = *access;
        let who = one.who;
        let noted = Access { at, does, by, who, window, until, spread, on: barrier, cores, atomic };
        let [issuer, others] = &one.clocks;
        let clocks = if by_one_thread { [issuer, issuer] } else { [issuer, others] };
        match self.memory.access(noted, clocks) {
            None => Ok(()),
            Some(Conflict::Race(first)) => self.found(Finding::Race { first, second: noted }),
            Some(Conflict::Elements) => {
                self.doubt(at, Reason::Elements);
                Ok(())
            }
            Some(Conflict::Unannounced) => {
                self.doubt(at, Reason::Unannounced);
                Ok(())
            }
            Some(Conflict::Place) => {
                self.doubt(at, Reason::Window);
                Ok(())
            }
        }
    }

    pub(super) fn found(&mut self, finding: Finding) -> Result<(), Stop> {
        self.seen.finding = Some(finding);
        Err(Stop::Found)
    }

    fn barrier(&mut self, crew: usize, barrier: Value, at: Loc) -> Result<Barrier, Stop> {
        let datum = self.get(crew, barrier);
        self.decides(at, datum);
        datum.barrier().ok_or(Stop::Unknown(at, Reason::Barrier))
    }

    fn announce(
        &mut self,
        crew: usize,
        applied: Applied<'_>,
        announcement: Announcement,
        at: Loc,
    ) -> Result<(), Stop> {
        let clocks = self.crews[crew].clocks.clone();
        let [issuer, others] = &clocks;
        let who = self.crews[crew].who;
        match announcement {
            Announcement::Crew | Announcement::NextGrid => Ok(()),
            Announcement::CpAsyncGroup => {
                self.crews[crew].copies += 1;
                Ok(())
            }
            Announcement::Named(named) => {
                let number = self.named(who[0], named);
                let warps = self.crews[crew].warps;
                let meeting = &mut self.barriers.named[number];
                let met = meeting.met;
                let in_order = meeting.arrive(warps, [issuer, others]);
                meeting.meet(self.kernel.named[named].warps);
                if !in_order {
                    self.doubt(at, Reason::Early);
                }
                self.step_clocks(crew);
                if matches!(applied.op, Op::Sync(SyncOp::Named(ir::NamedOp::Sync, _))) {
                    let waiting = Waiting::Named { number, met };
                    self.crews[crew].state = State::Waits(at, waiting);
                }
                Ok(())
            }
            Announcement::Cluster => {
                self.crews[crew].cluster = Some(self.barriers.cluster.met);
                self.barriers.cluster.arrive(1, [issuer, others]);
                self.step_clocks(crew);
                Ok(())
            }
            Announcement::Arrive(barrier) => {
                let barrier = self.barrier(crew, barrier, at)?;
                let arrived = self.barriers.at_mut(barrier).arrive(at, &[issuer, others]);
                self.step_clocks(crew);
                // Of several warps each arrives for itself, and knows nothing of the others.
                if self.crews[crew].warps == 1 {
                    self.know_end(crew, barrier, &arrived);
                }
                self.arrived(barrier, &arrived, at)
            }
            Announcement::Expect(barrier) => {
                let barrier = self.barrier(crew, barrier, at)?;
                let bytes = self.number(crew, applied.args[1], at)?;
                let mbarrier = self.barriers.at_mut(barrier);
                mbarrier.expect(bytes);
                let arrived = mbarrier.arrive(at, &[issuer]);
                self.step_clock(crew, who, Half::Issuer);
                self.know_end(crew, barrier, &arrived);
                self.arrived(barrier, &arrived, at)
            }
            Announcement::Commit { barrier, blocks } => {
                let barrier = self.barrier(crew, barrier, at)?;
                let done = self.components.part(who, Of::Tcgen05);
                let one = &self.crews[crew];
                // It is issued, and so arrives, after what the thread has done and waited for.
                let mut known = issuer.only_happened();
                known.raise(done, one.on_cores);
                for block in self.blocks_of(crew, (blocks, By::Threads), barrier.block, at)? {
                    let barrier = Barrier { block, ..barrier };
                    let arrived = self.barriers.at_mut(barrier).arrive(at, &[&known]);
                    self.arrived(barrier, &arrived, at)?;
                }
                self.step_clock(crew, who, Half::Issuer);
                Ok(())
            }
        }
    }

    /// Threads whose arrival alone ends a phase know that it is over.
    fn know_end(&mut self, crew: usize, barrier: Barrier, arrived: &Arrived) {
        if let Arrived::Ended = arrived {
            let (component, phases) =
                (self.barriers.component(barrier), self.barriers.at(barrier).phases);
            self.crews[crew].clocks[0].raise(component, phases);
        }
    }

    fn arrived(&mut self, barrier: Barrier, arrived: &Arrived, at: Loc) -> Result<(), Stop> {
        match *arrived {
            Arrived::InOrder | Arrived::Ended => {}
            Arrived::TooOften => return self.found(Finding::TooOften { barrier, at }),
            Arrived::Early => self.doubt(at, Reason::Early),
            Arrived::Unseen(wait) => self.doubt(wait, Reason::Unseen),
        }
        Ok(())
    }

    fn named(&self, block: u32, named: Named) -> usize {
        block as usize * self.kernel.named.len() + named.into_raw().into_u32() as usize
    }

    fn wait(&mut self, crew: usize, applied: Applied<'_>, wait: Wait, at: Loc) -> Result<(), Stop> {
        let who = self.crews[crew].who;
        match wait {
            Wait::Crew => self.meet(crew),
            Wait::Grids | Wait::Named(_) => {}
            Wait::Cluster => {
                let met = self.crews[crew].cluster.take().unwrap_or(0);
                self.crews[crew].state = State::Waits(at, Waiting::Cluster { met });
            }
            Wait::Barrier(barrier) | Wait::BarrierTest(barrier) => {
                let barrier = self.barrier(crew, barrier, at)?;
                let parity = self.number(crew, applied.args[1], at)?;
                let waiting = Waiting::Phase { barrier, parity, result: applied.result };
                self.crews[crew].state = State::Waits(at, waiting);
                if applied.result.is_some() {
                    self.doubt(at, Reason::Polled);
                }
            }
            Wait::CpAsync { pending } => {
                let done = self.crews[crew].copies.saturating_sub(pending);
                self.raise(crew, Of::CpAsync, done);
            }
            Wait::CpAsyncAll => {
                self.crews[crew].copies += 1;
                self.raise(crew, Of::CpAsync, self.crews[crew].copies);
            }
            Wait::Wgmma { pending } => {
                let done = self.crews[crew].products.saturating_sub(pending);
                self.raise(crew, Of::Wgmma, done);
            }
            Wait::Bulk { pending, until: _ } => {
                let done = self.crews[crew].stores.saturating_sub(pending);
                let component = self.components.part(who, Of::Stores);
                self.crews[crew].clocks[0].raise(component, done);
            }
        }
        Ok(())
    }

    /// Each half of the threads knows that so many of its own are over.
    fn raise(&mut self, crew: usize, of: fn(Half) -> Of, done: u32) {
        let who = self.crews[crew].who;
        for (half, clock) in Half::BOTH.into_iter().zip(&mut self.crews[crew].clocks) {
            clock.raise(self.components.part(who, of(half)), done);
        }
    }

    /// Whether a part that waits can go on.
    pub(super) fn leaves(&mut self, crew: usize, at: Loc, waiting: Waiting) -> bool {
        match waiting {
            Waiting::Phase { barrier, parity, result } => {
                if !self.barriers.at(barrier).is_over(parity) {
                    return false;
                }
                let mbarrier = self.barriers.at(barrier);
                let component = self.barriers.component(barrier);
                // Who does not know that the phase before is over may find the barrier two phases back.
                let earlier = |clock: &Clock| clock.happened(component) + 1 < mbarrier.phases;
                let may_be_earlier = earlier(&self.crews[crew].clocks[0]);
                let known = mbarrier.released.clone();
                if may_be_earlier {
                    self.doubt(at, Reason::Earlier);
                }
                self.learn(crew, &known);
                let left = self.done_so_far(crew);
                self.barriers.at_mut(barrier).leave(at, left);
                if let Some(result) = result {
                    let datum = Datum { thing: Thing::Number(1), ..Datum::UNKNOWN };
                    self.set(crew, result, datum);
                    if self.crews[crew].warps > 1 {
                        self.meet(crew);
                    }
                }
                true
            }
            Waiting::Named { number, met } => {
                let meeting = &self.barriers.named[number];
                if meeting.met <= met {
                    return false;
                }
                let known = meeting.known().clone();
                self.learn(crew, &known);
                true
            }
            Waiting::Cluster { met } => {
                let ended = self
                    .crews
                    .iter()
                    .filter(|one| one.who[1] == 0 && matches!(one.state, State::Ended));
                let all = self.blocks.saturating_sub(u32::try_from(ended.count()).unwrap_or(0));
                self.barriers.cluster.meet(all);
                if self.barriers.cluster.met <= met {
                    return false;
                }
                let known = self.barriers.cluster.known().clone();
                self.learn(crew, &known);
                true
            }
            Waiting::Parts => {
                let [block, _] = self.crews[crew].who;
                let parts = self.parts as usize;
                let others = crew + 1..crew + parts;
                debug_assert_eq!(crew, block as usize * parts, "the default part is the first");
                if !self.crews[others.clone()].iter().all(|one| matches!(one.state, State::Ended)) {
                    return false;
                }
                for other in others {
                    for clock in self.crews[other].clocks.clone() {
                        self.learn(crew, &clock);
                    }
                }
                self.meet(crew);
                true
            }
        }
    }

    fn learn(&mut self, crew: usize, known: &Clock) {
        self.crews[crew].clocks.iter_mut().for_each(|clock| clock.join(known));
    }

    /// Notes which answer a request is, for who reads it.
    fn note_answer(&mut self, applied: Applied<'_>, window: Window) {
        if let Op::Sync(SyncOp::Cluster(ClusterOp::TryCancel)) = applied.op {
            if window.block == 0 {
                self.asked += 1;
            }
            self.answers.insert((window.block, window.root, window.from), self.asked);
        }
    }

    /// What an answer says: that a cluster was taken over, as often as the launch has it, and which one. That is any of the grid's.
    fn answer(&mut self, crew: usize, op: ClusterOp, Applied { args, result, .. }: Applied<'_>) {
        let Some(result) = result else { return };
        let number = match op {
            ClusterOp::IsCanceled => {
                let window = self.get(crew, args[0]).window();
                let answer =
                    window.and_then(|one| self.answers.get(&(one.block, one.root, one.from)));
                answer.map(|&answer| i128::from(answer <= self.launch.answers))
            }
            ClusterOp::CanceledBlockId(axis) => {
                Some(coordinate(self.kernel, self.crews[crew].who[0], axis))
            }
            ClusterOp::Rank
            | ClusterOp::BlockId(_)
            | ClusterOp::Id(_)
            | ClusterOp::Sync
            | ClusterOp::Arrive
            | ClusterOp::Wait
            | ClusterOp::TryCancel => return,
        };
        let datum = number.map_or(Datum::UNKNOWN, |number| Datum {
            thing: Thing::Number(number),
            ..Datum::UNKNOWN
        });
        self.set(crew, result, datum);
    }

    /// No part can go on.
    pub(super) fn stuck(&mut self) -> Result<(), Stop> {
        let waits = self.crews.iter().filter_map(|one| match one.state {
            State::Waits(at, waiting) => Some(Blocked { who: one.who, at, waiting }),
            State::Idle | State::Runs | State::Ended => None,
        });
        let waits: Vec<Blocked> = waits.collect();
        let polled = waits.iter().find_map(|wait| match wait.waiting {
            Waiting::Phase { result: Some(_), .. } => Some(wait.at),
            Waiting::Phase { .. }
            | Waiting::Named { .. }
            | Waiting::Cluster { .. }
            | Waiting::Parts => None,
        });
        if let Some(at) = polled {
            return Err(Stop::Unknown(at, Reason::Polled));
        }
        self.found(Finding::stuck(self, waits))
    }

    /// All parts have ended: nothing that a block's memory is still needed for may be in flight.
    pub(super) fn ended(&mut self) -> Result<(), Stop> {
        for block in 0..self.blocks {
            let mut known = self.components.start();
            for crew in self.crews.iter().filter(|crew| crew.who[0] == block) {
                crew.clocks.iter().for_each(|clock| known.join(clock));
            }
            if let Some(access) = self.memory.open(block, &known) {
                return self.found(Finding::Open { access });
            }
        }
        Ok(())
    }
}

/// Whether an operation takes place, if an operand says so.
fn condition(applied: Applied<'_>, effects: &Effects) -> Option<Value> {
    if let Op::Product(ProductOp::Tcgen05(op)) = applied.op {
        return op.condition(applied.args);
    }
    effects.accesses.iter().find_map(|access| access.condition)
}
