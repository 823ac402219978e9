//! What a traced cluster does, as the engine tells it while it runs.
//!
//! Each warp has a list of steps, an instruction each. What an instruction does that its text does not say (which sectors of memory it
//! touches, at which mbarrier it arrives, for which phase it waits) stands beside it as deeds. The engine's order of warps is not kept: a
//! wait names the phase that it waits for, and `time.rs` orders the steps of different warps by these phases alone.
//!
//! A phase is what is waited for: one phase of an mbarrier, one use of a named barrier or of the barrier of the cluster. It counts its
//! contributions (arrivals, and copies that land), so that whoever contributes last in modelled time completes it.

use std::collections::{BTreeMap, VecDeque};

use super::memory::{Footprint, Sectors};
use crate::code::{Doubles, tcgen05::Kind as Element};
use crate::machine::Launch;

/// Steps of one cluster that are recorded at most: about as many as a product of 8192 x 8192 x 8192 has in a block.
pub(super) const MOST_STEPS: usize = 1 << 22;
/// Steps between two looks at an mbarrier that count as one wait at most.
const LOOP_STEPS: usize = 32;

/// An mbarrier: the block in its cluster, and the word of its shared memory.
pub(crate) type Word = (usize, usize);
/// The index of a phase.
pub(super) type PhaseId = u32;

/// One instruction of one warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) pc: u32,
    /// The first of its deeds, and how many it has.
    first: u32,
    count: u16,
    /// Lanes that execute it; none where the guard is false in all.
    pub(super) lanes: u8,
}

/// What an instruction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Global memory, by way of the first-level cache.
    Global { lines: u32, bytes: u32, missed_bytes: u32 },
    /// Shared memory: how many times it is accessed, and whether it is another block's.
    Shared { passes: u32, remote: bool },
    /// An arrival at a barrier.
    Arrive { phase: PhaseId },
    /// A wait that is over.
    Wait { phase: PhaseId },
    /// A look at a phase that is not over.
    Look,
    /// A bulk or TMA copy into shared memory, and the phase that it contributes to once it has landed.
    Load { bytes: u32, global_bytes: u32, rows: u32, phase: Option<PhaseId> },
    /// A bulk or TMA copy to global memory.
    Store { bytes: u32, rows: u32 },
    /// Whoever waits for this phase waits for the earlier `cp.async` of the thread, or for its `tcgen05` operations.
    Later { phase: Option<PhaseId> },
    /// `tcgen05.mma`.
    Product { kind: Element, rows: u32, columns: u32 },
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Barrier {
    Mbarrier(Word),
    /// The block, and the number of the barrier.
    Named(usize, u32),
    Cluster,
}

/// One phase of a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    pub(super) barrier: Barrier,
    pub(super) number: u32,
    /// Contributions that were recorded.
    pub(super) contributions: u32,
    /// Bytes of copies among them.
    pub(super) bytes: u64,
    /// Whether it completed in the engine.
    pub(super) complete: bool,
}

/// An operation that will arrive at an mbarrier.
#[derive(Clone, Copy, Debug)]
struct Expected {
    at: Word,
    deed: u32,
}

/// A warp that can run no more, when the launch ended with a fault.
#[derive(Clone, Debug)]
pub(super) struct Stopped {
    /// The index of the warp in the cluster.
    pub(super) warp: usize,
    pub(super) pc: u32,
    pub(super) why: String,
}

/// The record of one cluster.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Its number in the grid.
    pub(super) cluster: u64,
    /// Warps of a block.
    pub(super) warps: usize,
    /// By warp of the cluster.
    pub(super) steps: Vec<Vec<Step>>,
    deeds: Vec<Deed>,
    pub(super) phases: Vec<Phase>,
    /// The phase of each barrier that is not over.
    current: BTreeMap<Barrier, PhaseId>,
    flights: VecDeque<Expected>,
    tracked: VecDeque<Expected>,
    commits: VecDeque<Expected>,
    /// By block.
    sectors: Vec<Sectors>,
    pub(super) footprint: Footprint,
    /// Steps that may still be recorded.
    left: usize,
    /// Whether there were more.
    pub(super) cut: bool,
    /// The warp whose step is the last one.
    open: usize,
    pub(super) stopped: Vec<Stopped>,
}

impl Recorder {
    /// For a cluster of that many blocks of so many warps, of which each has `cache_bytes` of first-level cache.
    pub(super) fn new(cluster: u64, (blocks, warps): (usize, usize), cache_bytes: u32) -> Recorder {
        Recorder {
            cluster,
            warps,
            steps: vec![Vec::new(); blocks * warps],
            deeds: Vec::new(),
            phases: Vec::new(),
            current: BTreeMap::new(),
            flights: VecDeque::new(),
            tracked: VecDeque::new(),
            commits: VecDeque::new(),
            sectors: (0..blocks).map(|_| Sectors::new(cache_bytes)).collect(),
            footprint: Footprint::default(),
            left: MOST_STEPS,
            cut: false,
            open: 0,
            stopped: Vec::new(),
        }
    }

    /// The deeds of a step.
    pub(super) fn deeds(&self, step: &Step) -> &[Deed] {
        &self.deeds[step.first as usize..][..usize::from(step.count)]
    }

    fn seat(&self, (block, warp): (u32, u32)) -> usize {
        block as usize * self.warps + warp as usize
    }

    /// A warp begins an instruction.
    #[inline]
    pub(crate) fn begin(&mut self, seat: (u32, u32), pc: u32, active: u32) {
        self.open = self.seat(seat);
        let Some(left) = self.left.checked_sub(1) else {
            self.cut = true;
            return;
        };
        self.left = left;
        let lanes = u8::try_from(active.count_ones()).expect("a warp has 32 lanes");
        let first = u32::try_from(self.deeds.len()).expect("a step has few deeds");
        self.steps[self.open].push(Step { pc, first, count: 0, lanes });
    }

    /// The instruction that the warp began waits, and is executed again.
    pub(crate) fn undo(&mut self, seat: (u32, u32)) {
        if self.cut {
            return;
        }
        let seat = self.seat(seat);
        if let Some(step) = self.steps[seat].pop() {
            self.deeds.truncate(step.first as usize);
            self.left += 1;
        }
    }

    /// Adds a deed to the open step.
    fn push(&mut self, deed: Deed) -> Option<u32> {
        let step = self.steps[self.open].last_mut().filter(|_| !self.cut)?;
        step.count = step.count.checked_add(1)?;
        self.deeds.push(deed);
        u32::try_from(self.deeds.len() - 1).ok()
    }

    /// The last deed of the open step.
    fn last(&mut self) -> Option<&mut Deed> {
        let step = self.steps[self.open].last().filter(|step| !self.cut && step.count > 0)?;
        self.deeds.get_mut(step.first as usize + usize::from(step.count) - 1)
    }

    /// Lanes access shared memory, with so many conflicts of banks.
    pub(crate) fn shared(&mut self, owner: usize, (bytes, mask): (u32, u32), conflicts: u64) {
        let remote = owner != self.open / self.warps.max(1);
        // Eight bytes go by half warps, sixteen by quarters.
        let group = match bytes {
            ..=4 => 32,
            5..=8 => 16,
            _ => 8,
        };
        let groups = (0..32 / group).filter(|i| mask >> (i * group) & low_bits(group) != 0);
        let conflicts = u32::try_from(conflicts).unwrap_or(u32::MAX);
        let more = u32::try_from(groups.count()).expect("four at most").saturating_add(conflicts);
        match self.last() {
            Some(Deed::Shared { passes, remote: before }) if *before == remote => *passes += more,
            Some(_) | None => drop(self.push(Deed::Shared { passes: more, remote })),
        }
    }

    /// Lanes access global memory.
    pub(crate) fn global(
        &mut self,
        launch: &Launch<'_>,
        (addresses, bytes, mask): (&Doubles, u32, u32),
        how: Through,
    ) {
        let block = self.open / self.warps.max(1);
        let access = self.sectors[block].access((addresses, bytes, mask), how);
        for line in &access.lines {
            self.footprint.touch(launch, (*line, how));
        }
        match how {
            Through::Cache | Through::Bypass => self.footprint.read_bytes += access.missed_bytes,
            Through::Write => self.footprint.written_bytes += access.missed_bytes,
        }
        let lines = u32::try_from(access.lines.len()).expect("few lines");
        let missed_bytes = u32::try_from(access.missed_bytes).expect("few sectors");
        let bytes = bytes * mask.count_ones();
        if let Some(Deed::Global { lines: l, bytes: b, missed_bytes: m }) = self.last() {
            (*l, *b, *m) = (*l + lines, *b + bytes, *m + missed_bytes);
            return;
        }
        self.push(Deed::Global { lines, bytes, missed_bytes });
    }

    /// Rows of global memory that a copy reads or writes.
    fn rows(
        &mut self,
        launch: &Launch<'_>,
        rows: impl Iterator<Item = (u64, usize)>,
        how: Through,
    ) -> (u32, u32) {
        let (mut bytes, mut count) = (0, 0);
        for (address, size) in rows {
            count += 1;
            let end = address + size as u64;
            for line in address / 128..end.div_ceil(128) {
                let (from, to) = (address.max(line * 128), end.min((line + 1) * 128));
                let mut mask = 0u8;
                for sector in from / 32..to.div_ceil(32) {
                    mask |= 1 << (sector % 4);
                }
                bytes += 32 * mask.count_ones();
                self.footprint.touch(launch, ((line, mask), how));
            }
        }
        match how {
            Through::Cache | Through::Bypass => self.footprint.read_bytes += u64::from(bytes),
            Through::Write => self.footprint.written_bytes += u64::from(bytes),
        }
        (bytes, count)
    }

    /// A bulk or TMA copy into shared memory departs.
    pub(crate) fn departs(
        &mut self,
        launch: &Launch<'_>,
        (at, bytes): (Word, u32),
        rows: impl Iterator<Item = (u64, usize)>,
    ) {
        let (mut global_bytes, count) = self.rows(launch, rows, Through::Bypass);
        if let Some(Deed::Load { global_bytes: 1.., .. }) = self.last() {
            // A multicast reads its source once.
            self.footprint.read_bytes -= u64::from(global_bytes);
            global_bytes = 0;
        }
        let deed = Deed::Load { bytes, global_bytes, rows: count, phase: None };
        if let Some(deed) = self.push(deed) {
            self.flights.push_back(Expected { at, deed });
        }
    }

    /// A bulk or TMA copy to global memory departs.
    pub(crate) fn stores(&mut self, launch: &Launch<'_>, rows: impl Iterator<Item = (u64, usize)>) {
        let (bytes, rows) = self.rows(launch, rows, Through::Write);
        self.push(Deed::Store { bytes, rows });
    }

    /// The oldest copy on its way to an mbarrier lands.
    pub(crate) fn landed(&mut self, at: Word) {
        let Some(deed) = next(&mut self.flights, at) else { return };
        let id = self.phase(Barrier::Mbarrier(at));
        if let Deed::Load { phase, bytes, .. } = &mut self.deeds[deed as usize] {
            *phase = Some(id);
            self.phases[id as usize].contributions += 1;
            self.phases[id as usize].bytes += u64::from(*bytes);
        }
    }

    /// A thread executes `cp.async.mbarrier.arrive`.
    pub(crate) fn tracks(&mut self, at: Word) {
        if let Some(deed) = self.push(Deed::Later { phase: None }) {
            self.tracked.push_back(Expected { at, deed });
        }
    }

    /// A thread executes `tcgen05.commit`.
    pub(crate) fn commits(&mut self, at: Word) {
        if let Some(deed) = self.push(Deed::Later { phase: None }) {
            self.commits.push_back(Expected { at, deed });
        }
    }

    /// The copies of a `cp.async.mbarrier.arrive` have landed.
    pub(crate) fn tracked(&mut self, at: Word) {
        let deed = next(&mut self.tracked, at);
        self.later(at, deed);
    }

    /// A `tcgen05.commit` arrives.
    pub(crate) fn committed(&mut self, at: Word) {
        let deed = next(&mut self.commits, at);
        self.later(at, deed);
    }

    fn later(&mut self, at: Word, deed: Option<u32>) {
        let Some(deed) = deed else { return };
        let id = self.phase(Barrier::Mbarrier(at));
        if let Deed::Later { phase } = &mut self.deeds[deed as usize] {
            *phase = Some(id);
            self.phases[id as usize].contributions += 1;
        }
    }

    /// `tcgen05.mma`.
    pub(crate) fn product(&mut self, kind: Element, (rows, columns): (u32, u32)) {
        self.push(Deed::Product { kind, rows, columns });
    }

    /// The phase of a barrier that is not over.
    fn phase(&mut self, barrier: Barrier) -> PhaseId {
        if let Some(id) = self.current.get(&barrier) {
            return *id;
        }
        self.open_phase(barrier, 0)
    }

    fn open_phase(&mut self, barrier: Barrier, number: u32) -> PhaseId {
        let id = u32::try_from(self.phases.len()).expect("each phase has a step of its own");
        let (contributions, bytes, complete) = (0, 0, false);
        self.phases.push(Phase { barrier, number, contributions, bytes, complete });
        self.current.insert(barrier, id);
        id
    }

    /// A phase is over, and the next one begins.
    fn close(&mut self, barrier: Barrier) {
        let id = self.phase(barrier);
        let phase = &mut self.phases[id as usize];
        phase.complete = true;
        let number = phase.number + 1;
        self.open_phase(barrier, number);
    }

    fn arrive_at(&mut self, barrier: Barrier) -> PhaseId {
        let phase = self.phase(barrier);
        // The lanes of a warp that arrive together are one arrival.
        if self.last().is_none_or(|last| *last != Deed::Arrive { phase })
            && self.push(Deed::Arrive { phase }).is_some()
        {
            self.phases[phase as usize].contributions += 1;
        }
        phase
    }

    /// An mbarrier is made.
    pub(crate) fn made(&mut self, at: Word) {
        self.open_phase(Barrier::Mbarrier(at), 0);
    }

    /// A lane arrives at an mbarrier, or says how many bytes it expects.
    pub(crate) fn arrives(&mut self, at: Word) {
        self.arrive_at(Barrier::Mbarrier(at));
    }

    /// A phase of an mbarrier is over.
    pub(crate) fn completes(&mut self, at: Word) {
        self.close(Barrier::Mbarrier(at));
    }

    /// A wait for an mbarrier succeeds: its last phase is over. Without one it was made in the phase after.
    pub(crate) fn passes(&mut self, at: Word) {
        let barrier = Barrier::Mbarrier(at);
        let id = self.phase(barrier);
        let before = |phase: &Phase, number| phase.barrier == barrier && phase.number == number;
        if let Some(number) = self.phases[id as usize].number.checked_sub(1) {
            let earlier = self.phases[..id as usize].iter().rposition(|p| before(p, number));
            if let Some(phase) = earlier.and_then(|at| u32::try_from(at).ok())
                && self.last().is_none_or(|last| *last != Deed::Wait { phase })
            {
                self.push(Deed::Wait { phase });
            }
        }
        self.fold_looks();
    }

    /// A wait for an mbarrier finds that the phase is not over.
    pub(crate) fn looks(&mut self) {
        self.push(Deed::Look);
        self.fold_looks();
    }

    /// Looks at an mbarrier until its phase is over are one wait: the earlier looks of the loop go.
    fn fold_looks(&mut self) {
        let deeds = &self.deeds;
        let steps = &mut self.steps[self.open];
        let Some((now, before)) = steps.split_last() else { return };
        let looked =
            |step: &Step| step.count == 1 && deeds.get(step.first as usize) == Some(&Deed::Look);
        let mut recent = before.iter().rev().take(LOOP_STEPS).enumerate();
        let found = recent.find(|(_, step)| step.count > 0);
        if let Some((back, step)) = found
            && step.pc == now.pc
            && looked(step)
        {
            let (now, length) = (*now, before.len());
            steps.truncate(length - 1 - back);
            steps.push(now);
        }
    }

    /// A warp arrives at a named barrier; `waits` says whether it waits there too.
    pub(crate) fn meets(&mut self, (block, id): (usize, u32), waits: Waits) {
        let phase = self.arrive_at(Barrier::Named(block, id));
        match waits {
            Waits::Yes => drop(self.push(Deed::Wait { phase })),
            Waits::No => {}
        }
    }

    /// A named barrier is over.
    pub(crate) fn met(&mut self, (block, id): (usize, u32)) {
        self.close(Barrier::Named(block, id));
    }

    /// A warp arrives at the barrier of the cluster.
    pub(crate) fn arrives_at_cluster(&mut self) {
        self.arrive_at(Barrier::Cluster);
    }

    /// A warp waits at the barrier of the cluster for what it arrived at; `over` says whether that is over.
    pub(crate) fn waits_for_cluster(&mut self, over: Over) {
        let id = self.phase(Barrier::Cluster);
        let phase = match over {
            Over::No => Some(id),
            Over::Yes => {
                let mut earlier = self.phases[..id as usize].iter();
                let at = earlier.rposition(|p| p.barrier == Barrier::Cluster);
                at.and_then(|at| u32::try_from(at).ok())
            }
        };
        if let Some(phase) = phase {
            self.push(Deed::Wait { phase });
        }
    }

    /// The barrier of the cluster is over.
    pub(crate) fn cluster_met(&mut self) {
        self.close(Barrier::Cluster);
    }

    /// The launch ended with a fault, and a warp was at an instruction.
    pub(crate) fn stops(&mut self, seat: (u32, u32), pc: u32, why: String) {
        let warp = self.seat(seat);
        self.stopped.push(Stopped { warp, pc, why });
    }
}

/// Whether a warp waits at the barrier that it arrives at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Yes,
    No,
}

/// Whether what a warp waits for is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Yes,
    No,
}

/// How an access to global memory goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Through {
    /// A load, by way of the first-level cache.
    Cache,
    /// A read past the first-level cache.
    Bypass,
    Write,
}

const fn low_bits(count: u32) -> u32 {
    u32::MAX >> (32 - count)
}

/// Takes the oldest operation that is on its way to an mbarrier.
fn next(queue: &mut VecDeque<Expected>, at: Word) -> Option<u32> {
    let index = queue.iter().position(|expected| expected.at == at)?;
    queue.remove(index).map(|expected| expected.deed)
}
