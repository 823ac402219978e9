//! Running a grid: clusters on host threads, warps in turn.
//!
//! A cluster is the unit of work: its blocks and warps run on one host thread, so shared memory needs
//! no locks. A cluster that runs for long goes to the back of a queue, so that blocks which wait for
//! one another make progress whatever the number of host threads. The fault of the lowest block is the
//! one reported, so that it does not depend on that number either.

mod crew;
mod livelock;
pub(crate) mod locate;
mod stuck;
mod traced;
mod words;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Scope;

use self::crew::Crew;
use self::locate::locate;
use crate::code::Place;
use crate::exec::memory::hazards;
use crate::exec::{barrier, bulk};
use crate::fault::{By, Earlier, Fault, FaultKind, Passed, Trap};
use crate::machine::multiprocessor::{Outlook, Wanted};
use crate::machine::{Block, Cluster, Context, Counters, Launch, State, Warp, preset};
use crate::memory::tensor::TensorMemory;

/// Instructions of a warp before the next one's turn.
const WARP_TURN: u64 = 4096;
/// Turns of each other warp after a fault, see [`Unit::later_write`].
const LOOK_AHEAD: usize = 16;
/// Instructions of a cluster before it goes to the back of the queue.
const CLUSTER_TURN: u64 = 1 << 20;
/// Clusters that may be in flight at once: what a large device holds.
const RESIDENT: usize = 2048;
/// Bytes that clusters in flight may take.
const RESIDENT_BYTES: usize = 1 << 30;

/// One cluster in flight.
#[derive(Debug, Default)]
struct Unit {
    index: u64,
    cluster: Cluster,
    /// The warps of each block.
    warps: Vec<Vec<Warp>>,
    /// How often in a row nothing could run but waits that time out, and what had happened by then.
    stalls: u32,
    stalled_events: u64,
    /// Where nothing can change any more but by another cluster: the grid's count of changes then.
    idle_since: Option<u64>,
    /// Whether lanes and waits that give way to others no longer do so.
    stirred: bool,
}

/// What happened to a cluster in its turn.
enum Turn {
    Done,
    Preempted,
    /// Nothing can change before another cluster changes something.
    Idle,
}

impl Unit {
    /// Makes it the cluster `index` of the grid, at its start.
    fn reset(&mut self, launch: &Launch<'_>, index: u64) {
        self.index = index;
        self.cluster.index = index;
        (self.stalls, self.stalled_events) = (0, 0);
        (self.idle_since, self.stirred) = (None, false);
        (self.cluster.changes, self.cluster.repeats) = (1, 0);
        let blocks = launch.cluster_blocks() as usize;
        let warps = launch.warps();
        self.cluster.blocks.resize_with(blocks, Block::default);
        self.cluster.barrier = crate::machine::ClusterBarrier::default();
        let bytes = launch.shared_bytes();
        let size = (launch.cluster_blocks(), warps, bytes);
        self.cluster.races.reset(index, size, launch.check_races);
        self.cluster.flights.reset();
        self.cluster.tensor.reset();
        self.cluster.tracked.clear();
        self.cluster.found.get_mut().clear();
        self.cluster.trace = launch.tracer.and_then(|tracer| tracer.recorder(launch, index));
        self.cluster.threads = launch.threads() * launch.cluster_blocks();
        self.warps.resize_with(blocks, Vec::new);
        for (rank, block) in (0u32..).zip(&mut self.cluster.blocks) {
            block.id = launch.block_id(index, rank);
            block.rank = rank;
            block.multiprocessor = launch.multiprocessors.seat(index, rank).multiprocessor;
            block.shared.reset(launch.shared_bytes());
            let followed = if launch.code.needs_proxy_fences { launch.shared_bytes() } else { 0 };
            block.proxies.reset(warps as usize, followed);
            block.mbarriers.clear();
            block.unseen.reset();
            block.barriers = Default::default();
            block.warpgroups.clear();
            block.tensor.reset(warps as usize);
            if let Some(registers) = launch.code.registers {
                block.registers.reset(warps, registers);
            }
            block.output.clear();
            block.events = 0;
            block.left = false;
        }
        let blocks = (0u32..).zip(&self.cluster.blocks);
        for ((index, block), block_warps) in blocks.zip(&mut self.warps) {
            block_warps.resize_with(warps as usize, Warp::default);
            for (i, warp) in (0u32..).zip(block_warps) {
                warp.reset((index, i), launch.threads());
                warp.regs.reset(launch.code);
                warp.local.reset(launch.code.local_bytes);
                let watched = !launch.code.watched.is_empty();
                let watched = if watched { launch.code.words as usize } else { 0 };
                warp.products.reset(watched);
                warp.loads.reset(watched);
                preset(warp, launch, block);
            }
        }
    }

    /// Runs until every thread left, or the cluster's turn is over.
    fn run(&mut self, launch: &Launch<'_>, counters: &mut Counters) -> Result<Turn, Box<Fault>> {
        let mut spent = 0;
        // What lanes saw of other clusters' memory in an earlier turn may have changed.
        self.cluster.changes += 1;
        loop {
            let mut ran = 0;
            let mut alive = false;
            for block in 0..self.warps.len() {
                for index in 0..self.warps[block].len() {
                    let warp = &mut self.warps[block][index];
                    if warp.done() {
                        continue;
                    }
                    alive = true;
                    let mut cx = Context { launch, cluster: &mut self.cluster, block, counters };
                    match warp.run(&mut cx, WARP_TURN) {
                        Ok(count) => ran += count,
                        Err(trap) => {
                            counters.findings.note(launch, (&self.cluster, block), warp);
                            return Err(Box::new(self.fault(launch, trap, (block, index))));
                        }
                    }
                    warp.timeout = false;
                    if self.warps[block].iter().all(Warp::done) {
                        self.leave(launch, (block, index), counters)?;
                    }
                }
            }
            if !alive {
                return Ok(Turn::Done);
            }
            if ran == 0 {
                match self.unstick(launch)? {
                    Outlook::Now => continue,
                    Outlook::Later => return Ok(Turn::Idle),
                    Outlook::Never => return Err(Box::new(self.stuck(launch))),
                }
            }
            spent += ran;
            if let Err(trap) = launch.spend(ran) {
                // What is over has not run for too long.
                let Some((block, warp)) = self.somebody() else { return Ok(Turn::Done) };
                return Err(Box::new(locate(launch, &trap, block, warp)));
            }
            if self.idles(launch, counters) {
                let helped = if self.stirred {
                    self.unstick(launch)? == Outlook::Now
                } else {
                    self.land_copies(launch)?
                };
                if !helped {
                    return Ok(Turn::Idle);
                }
            }
            if spent > CLUSTER_TURN {
                return Ok(Turn::Preempted);
            }
        }
    }

    /// Whether every warp waits, or repeats itself as long as nothing changes.
    fn idles(&mut self, launch: &Launch<'_>, counters: &mut Counters) -> bool {
        if self.cluster.repeats != self.cluster.changes {
            return false;
        }
        self.warps.iter().enumerate().all(|(block, warps)| {
            let cx = Context { launch, cluster: &mut self.cluster, block, counters };
            warps.iter().all(|warp| warp.idles(&cx))
        })
    }

    /// The last warp of a block left.
    fn leave(
        &mut self,
        launch: &Launch<'_>,
        (block, index): (usize, usize),
        counters: &mut Counters,
    ) -> Result<(), Box<Fault>> {
        self.cluster.changes += 1;
        let mut cx = Context { launch, cluster: &mut self.cluster, block, counters };
        let left =
            bulk::leave(&mut cx, &mut self.warps[block]).and_then(|()| hazards::leave(&mut cx));
        let warp = &self.warps[block][index];
        counters.findings.note(launch, (&self.cluster, block), warp);
        left.map_err(|trap| Box::new(locate(launch, &trap, self.cluster.blocks[block].id, warp)))
    }

    /// Nothing can run: lets the asynchronous copies of the cluster land. Whether there were any.
    fn land_copies(&mut self, launch: &Launch<'_>) -> Result<bool, Box<Fault>> {
        let mut counters = Counters::default();
        let cluster = &mut self.cluster;
        let mut cx = Context { launch, cluster, block: 0, counters: &mut counters };
        let landed = bulk::flight::stuck(&mut cx).map_err(|trap| {
            let (id, warp) = self.somebody().expect("nothing can run, so somebody waits");
            Box::new(locate(launch, &trap, id, warp))
        })?;
        self.cluster.changes += u64::from(landed);
        Ok(landed)
    }

    /// The fault of a warp's trap.
    fn fault(
        &mut self,
        launch: &Launch<'_>,
        mut trap: Trap,
        (block, index): (usize, usize),
    ) -> Fault {
        if trap.unwritten.is_some_and(|load| load.place == Place::Shared) {
            // What happens after the fault is not part of the trace.
            let trace = self.cluster.trace.take();
            trap.later = self.later_write(launch, (block, index));
            self.cluster.trace = trace;
        }
        locate::name_block(&mut trap, &self.cluster, block);
        trap.passed = self.last_wait(&trap, (block, index));
        locate(launch, &trap, self.cluster.blocks[block].id, &self.warps[block][index])
    }

    /// The wait that a copy's mbarrier let a warp pass which comes too early for the copy: the last one of the warp that
    /// touches bytes in flight, or of one that reads what a copy overwrites, if that let it pass twice.
    fn last_wait(&self, trap: &Trap, (block, index): (usize, usize)) -> Option<Passed> {
        let last = |index: usize, barrier| {
            let mut passed = self.warps[block].get(index)?.passed.iter().copied();
            passed.find(|passed: &Passed| passed.barrier == barrier)
        };
        match (trap.copy, trap.other) {
            (Some(issuer), _) => {
                let barrier = bulk::flight::barrier_of(&self.cluster, block, issuer)?;
                let current = barrier::parity(&self.cluster, barrier)?;
                last(index, barrier).filter(|passed| passed.parity != current)
            }
            (None, Some(Earlier { by: By::Lane { warp: reader, .. }, wrote: false, .. })) => {
                last(reader as usize, trap.barrier?).filter(|passed| passed.again)
            }
            (None, Some(_) | None) => None,
        }
    }

    /// The launch is lost; lets the other warps of the block go on a little, to see whether one of
    /// them writes shared memory that a warp had read before, with no barrier between: instruction, warp.
    fn later_write(
        &mut self,
        launch: &Launch<'_>,
        (block, reader): (usize, usize),
    ) -> Option<(u32, u32)> {
        let mut counters = Counters::default();
        let reader = self.warps[block][reader].index;
        for warp in self.warps[block].iter_mut().filter(|warp| warp.index != reader) {
            for _ in 0..LOOK_AHEAD {
                let (cluster, counters) = (&mut self.cluster, &mut counters);
                match warp.run(&mut Context { launch, cluster, block, counters }, WARP_TURN) {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(trap) => match trap.other {
                        Some(Earlier {
                            by: By::Lane { warp: other, .. }, wrote: false, ..
                        }) if other == reader => {
                            return Some((trap.pc.unwrap_or(warp.pc), warp.index));
                        }
                        _ => break,
                    },
                }
            }
        }
        None
    }

    /// A block and warp that has not left, if there is one.
    fn somebody(&self) -> Option<([u32; 3], &Warp)> {
        let blocks = self.cluster.blocks.iter().zip(&self.warps);
        let mut all = blocks.flat_map(|(block, warps)| warps.iter().map(|warp| (block.id, warp)));
        all.find(|(_, warp)| !warp.done())
    }

    /// Nothing can run: lets lanes that wait for others at a join go on, then waits time out; then only other clusters can help.
    fn unstick(&mut self, launch: &Launch<'_>) -> Result<Outlook, Box<Fault>> {
        let mut released = false;
        let mut counters = Counters::default();
        for (block, warps) in self.warps.iter_mut().enumerate() {
            let (cluster, counters) = (&mut self.cluster, &mut counters);
            let cx = Context { launch, cluster, block, counters };
            for warp in warps {
                released |= warp.release_joins(&cx);
            }
        }
        if released || self.land_copies(launch)? {
            return Ok(Outlook::Now);
        }
        let events = self.cluster.blocks.iter().map(|block| block.events).sum();
        if self.stalled_events != events {
            (self.stalled_events, self.stalls) = (events, 0);
        }
        self.stalls += 1;
        if self.stalls <= 2 {
            let mut waits = false;
            for warp in self.warps.iter_mut().flatten() {
                let waiting = |s: State| matches!(s, State::Mbarrier { .. });
                warp.timeout = warp.fragments.iter().any(|f| waiting(f.state));
                waits |= warp.timeout;
            }
            if waits {
                return Ok(Outlook::Now);
            }
        }
        let wanted = self.wanted(launch);
        if wanted.is_empty() {
            return Ok(Outlook::Never);
        }
        Ok(launch.multiprocessors.outlook(self.index, wanted))
    }

    /// The columns of tensor memory for which blocks of the cluster wait.
    fn wanted(&self, launch: &Launch<'_>) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for (block, warps) in self.cluster.blocks.iter().zip(&self.warps) {
            for fragment in warps.iter().flat_map(|warp| &warp.fragments) {
                if let State::Columns { count } = fragment.state {
                    wanted.push((launch.multiprocessors.together(self.index, block.rank), count));
                }
            }
        }
        wanted
    }
}

/// What the workers share.
#[derive(Default)]
struct Queue {
    parked: VecDeque<Unit>,
    free: Vec<Unit>,
    /// Clusters that a worker runs right now.
    running: usize,
    /// Turns in which a cluster changed what others may see.
    changes: u64,
    /// The fault of the lowest cluster.
    fault: Option<(u64, Box<Fault>)>,
    output: Vec<(u64, String)>,
    counters: Counters,
}

impl Queue {
    /// A parked cluster in which something may change: its own doing, or what another one changed since.
    fn unpark(&mut self, lowest_fault: u64) -> Option<Unit> {
        let changes = self.changes;
        let moves = |unit: &Unit| unit.idle_since != Some(changes) || unit.index > lowest_fault;
        let at = self.parked.iter().position(moves)?;
        let mut unit = self.parked.remove(at)?;
        (unit.idle_since, unit.stirred) = (None, false);
        Some(unit)
    }

    /// No cluster runs, and all that are parked wait for others. A cluster whose lanes and waits can give up giving way; where there is
    /// none, the launch is over.
    fn stir(&mut self, launch: &Launch<'_>, total: u64) -> Option<Unit> {
        if let Some(at) = self.parked.iter().position(|unit| !unit.stirred) {
            let mut unit = self.parked.remove(at)?;
            (unit.idle_since, unit.stirred) = (None, true);
            return Some(unit);
        }
        let mut parked = Vec::from(std::mem::take(&mut self.parked));
        if self.fault.is_none() && !parked.is_empty() {
            parked.sort_by_key(|unit| unit.index);
            let waiting = total.saturating_sub(launch.started.load(Relaxed));
            let fault = livelock::fault(launch, &mut parked, waiting);
            for unit in &mut parked {
                unit.hand_over(launch, Some(&fault));
            }
            self.fault = Some((parked[0].index, Box::new(fault)));
        }
        // None starts any more.
        launch.started.fetch_max(total, Relaxed);
        None
    }
}

/// A grid in flight, as its workers see it.
struct Grid<'a> {
    launch: &'a Launch<'a>,
    /// Clusters.
    total: u64,
    /// How many of them may be in flight at once.
    resident: usize,
    queue: Mutex<Queue>,
    changed: Condvar,
    lowest_fault: AtomicU64,
    crew: Crew,
}

/// What a grid did.
pub(crate) struct Finished {
    pub(crate) counters: Counters,
    pub(crate) output: String,
}

/// Runs every cluster of the grid.
pub(crate) fn run(launch: &Launch<'_>, threads: Option<usize>) -> Result<Finished, Box<Fault>> {
    let total: u64 = launch.clusters().iter().map(|&n| u64::from(n)).product();
    let queue = Mutex::new(Queue::default());
    let changed = Condvar::new();
    let lowest_fault = AtomicU64::new(u64::MAX);
    let resident = residents(launch);
    let crew = Crew::new(threads, total);
    let grid = Grid { launch, total, resident, queue, changed, lowest_fault, crew };
    std::thread::scope(|scope| worker(&grid, scope));
    let Grid { queue, .. } = grid;
    let mut queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, mut fault)) = queue.fault {
        fault.findings = queue.counters.findings.into_list();
        return Err(fault);
    }
    queue.output.sort_by_key(|(index, _)| *index);
    let output = queue.output.into_iter().map(|(_, text)| text).collect();
    Ok(Finished { counters: queue.counters, output })
}

/// How many clusters may be in flight at once.
fn residents(launch: &Launch<'_>) -> usize {
    let code = launch.code;
    let registers = (code.words as usize + code.word_presets.len()) * 128
        + (code.doubles as usize + code.double_presets.len()) * 256
        + code.quads as usize * 512;
    let warp = registers + code.local_bytes as usize * 36;
    let tensor = if code.tensor_group.is_some() { TensorMemory::BYTES } else { 0 };
    let block = warp * launch.warps() as usize + launch.shared_bytes() as usize * 2 + tensor;
    let cluster = (block * launch.cluster_blocks() as usize).max(1);
    (RESIDENT_BYTES / cluster).clamp(16, RESIDENT)
}

/// Takes one cluster after the other, and a helper into the crew where others are left for it.
fn worker<'scope>(grid: &'scope Grid<'_>, scope: &'scope Scope<'scope, '_>) {
    let Grid { launch, total, resident, queue, changed, lowest_fault, crew } = grid;
    let (launch, total, resident) = (*launch, *total, *resident);
    let mut counters = Counters::default();
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let mut state = lock();
    loop {
        let under_way = state.running + state.parked.len();
        let limit = lowest_fault.load(Relaxed).min(total);
        // New clusters start before parked ones go on, so that every resident one gets its turn.
        let next = |index: u64| (index < limit && under_way < resident).then_some(index + 1);
        let unit = if let Ok(index) = launch.started.fetch_update(Relaxed, Relaxed, next) {
            let unit = state.free.pop().unwrap_or_default();
            Some((unit, Some(index)))
        } else if let Some(unit) = state.unpark(lowest_fault.load(Relaxed)) {
            Some((unit, None))
        } else if state.running > 0 {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        } else if launch.is_alone() {
            state.stir(launch, total).map(|unit| (unit, None))
        } else {
            // Another launch may change what these wait for.
            state.changes += 1;
            drop(state);
            std::thread::yield_now();
            state = lock();
            if state.parked.is_empty() { None } else { continue }
        };
        let Some((mut unit, start)) = unit else { break };
        state.running += 1;
        let since = state.changes;
        let left = !state.parked.is_empty()
            || launch.started.load(Relaxed) < lowest_fault.load(Relaxed).min(total);
        drop(state);
        if left {
            crew.enlarge(scope, || worker(grid, scope));
        }
        if let Some(index) = start {
            unit.reset(launch, index);
        }
        let changes = unit.cluster.changes + 1;
        let left_out = launch.tracer.is_some_and(|tracer| tracer.leaves_out(unit.index));
        let result = if left_out || unit.index > lowest_fault.load(Relaxed) {
            Ok(Turn::Done)
        } else {
            unit.run(launch, &mut counters)
        };
        state = lock();
        state.running -= 1;
        let changed_something = unit.cluster.changes != changes;
        state.changes += u64::from(changed_something);
        match result {
            Ok(Turn::Preempted) => state.parked.push_back(unit),
            Ok(Turn::Idle) => {
                unit.idle_since = Some(since + u64::from(changed_something));
                state.parked.push_back(unit);
            }
            Ok(Turn::Done) => {
                unit.hand_over(launch, None);
                for (rank, block) in (0u64..).zip(&mut unit.cluster.blocks) {
                    if !block.output.is_empty() {
                        let order = unit.index * u64::from(launch.cluster_blocks()) + rank;
                        state.output.push((order, std::mem::take(&mut block.output)));
                    }
                }
                state.free.push(unit);
            }
            Err(fault) => {
                unit.hand_over(launch, Some(&fault));
                lowest_fault.fetch_min(unit.index, Relaxed);
                if state.fault.as_ref().is_none_or(|(index, _)| unit.index < *index) {
                    state.fault = Some((unit.index, fault));
                }
            }
        }
        changed.notify_all();
    }
    state.counters.warp_instructions += counters.warp_instructions;
    state.counters.lane_instructions += counters.lane_instructions;
    state.counters.shared_bank_conflicts += counters.shared_bank_conflicts;
    state.counters.findings.join(counters.findings);
    drop(state);
    changed.notify_all();
}

/// Runs fallible preparation of a launch: its error becomes a fault without a place.
pub(crate) fn refuse(entry: &str, detail: impl Into<String>) -> Fault {
    Fault {
        kind: FaultKind::Launch,
        entry: entry.to_owned(),
        source: None,
        ptx_line: 0,
        ptx: String::new(),
        block: [0; 3],
        warp: 0,
        lane: None,
        address: None,
        bytes: None,
        other: None,
        missing: None,
        detail: detail.into(),
        findings: Vec::new(),
    }
}
