//! When each step happens: a model of the multiprocessors of one cluster, on which copies of the traced cluster run.
//!
//! A warp issues its steps in order, each as soon as the registers that it reads are there, its scheduler has a slot, and the unit
//! is free. Shared memory, the second-level cache, main memory, the copy engine and the tensor cores are queues: each serves one request
//! after the other at its rate, and a result is there a latency after it was served. What waits for a phase continues when the last
//! contribution to it is there.
//!
//! Of all warps that can issue, the one comes first that could issue first; of several, the one of the oldest block with the lowest number.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Kind;
use super::cost::{self, Cost, Device, SCHEDULERS, Unit};
use super::drawing::{Drawing, LaneKey, Piece, Place};
use super::facts::{Action, Facts};
use super::record::{Barrier, Deed, PhaseId, Recorder, Step};
use flight::{Batch, Groups};

mod flight;

/// A wait for registers, or for a unit, that is drawn at least, in cycles.
const DRAWN_WAIT: f64 = 8.0;

/// Bytes of memory that are fetched together.
const SECTOR: f64 = 32.0;

/// What the model needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    pub(super) device: &'a Device,
    pub(super) facts: &'a [Facts],
    pub(super) registers: usize,
    /// Bytes of main memory a cycle that a multiprocessor has.
    pub(super) main_bytes: f64,
    /// The parts of what is read and written that main memory sees.
    pub(super) main_share: (f64, f64),
    /// Clusters on the same multiprocessors at once, and one after the other in all.
    pub(super) resident: usize,
    pub(super) clusters: usize,
}

/// Cycles in which each part of a multiprocessor was busy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) issue: f64,
    pub(super) tensor: f64,
    pub(super) shared: f64,
    pub(super) cache: f64,
    pub(super) main: f64,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) drawing: Drawing,
    /// When each cluster ended, in order.
    pub(super) ends: Vec<f64>,
    /// When memory had everything.
    pub(super) drained: f64,
    /// Of the first multiprocessor.
    pub(super) usage: Usage,
    /// When the drawn cluster ended, and the first warps of it that never ended: index, since when, instruction, phase.
    pub(super) end: f64,
    pub(super) stuck: Vec<(usize, f64, u32, PhaseId)>,
    /// When each warp of the drawn cluster issued last.
    pub(super) last: Vec<f64>,
}

/// When a register is there, and who writes it.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    at: f64,
    pc: u32,
}

#[derive(Clone, Debug, Default)]
struct WarpState {
    next: usize,
    ready: f64,
    registers: Vec<Ready>,
    copies: Groups,
    bulk: Groups,
    bulk_reads: Groups,
    products: Groups,
    tensor_memory: f64,
    tensor: f64,
    batch: Option<Batch>,
    /// When its stores are done: until then it occupies its place.
    stored: f64,
}

/// A wait that is not over.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    warp: usize,
    since: f64,
    pc: u32,
}

#[derive(Clone, Debug, Default)]
struct PhaseState {
    left: u32,
    done: f64,
    /// Who contributed last, and when the first one did.
    by: Option<(Place, f64)>,
    first: Option<f64>,
    waiters: Vec<Waiter>,
}

/// A cluster that runs.
#[derive(Debug)]
struct Instance {
    warps: Vec<WarpState>,
    phases: Vec<PhaseState>,
    left: usize,
    end: f64,
}

/// A multiprocessor.
#[derive(Clone, Debug, Default)]
struct Multiprocessor {
    issue: [f64; SCHEDULERS],
    units: [[f64; 6]; SCHEDULERS],
    /// Loads and stores, the tensor cores of `tcgen05`.
    memory: f64,
    tensor: f64,
    /// The tag stage of the first-level cache, and its data stage, which is shared memory's.
    tags: f64,
    shared: f64,
    cache: f64,
    main: f64,
    engine: f64,
    /// Bytes that came from main memory and make no whole sector yet.
    missed: f64,
    /// When all that it asked of memory is done.
    flushed: f64,
    usage: Usage,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Time) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Runs the model.
pub(super) fn run(setting: Setting<'_>, recorder: &Recorder) -> Timed {
    let blocks = recorder.steps.len() / recorder.warps.max(1);
    let mut model = Model {
        setting,
        recorder,
        multiprocessors: vec![Multiprocessor::default(); blocks],
        instances: Vec::new(),
        queue: BinaryHeap::new(),
        drawing: Drawing::default(),
        ends: Vec::new(),
    };
    for _ in 0..setting.resident.min(setting.clusters) {
        model.start(0.0);
    }
    while let Some(Reverse((Time(at), instance, warp))) = model.queue.pop() {
        model.turn(at, instance, warp);
    }
    model.finish()
}

struct Model<'a> {
    setting: Setting<'a>,
    recorder: &'a Recorder,
    multiprocessors: Vec<Multiprocessor>,
    instances: Vec<Instance>,
    /// Warps that can issue, by the time from which on they can.
    queue: BinaryHeap<Reverse<(Time, usize, usize)>>,
    /// Of the first instance.
    drawing: Drawing,
    ends: Vec<f64>,
}

/// One step that is issued.
#[derive(Clone, Copy)]
struct Issue<'a> {
    instance: usize,
    warp: usize,
    block: usize,
    at: f64,
    pc: u32,
    facts: &'a Facts,
}

impl<'a> Model<'a> {
    /// A cluster starts.
    fn start(&mut self, at: f64) {
        let registers = vec![Ready { at, pc: 0 }; self.setting.registers];
        let state = WarpState { ready: at, registers, ..WarpState::default() };
        let phases = self.recorder.phases.iter();
        let phases = phases.map(|p| PhaseState { left: p.contributions, ..PhaseState::default() });
        let index = self.instances.len();
        let count = self.recorder.steps.len();
        let instance =
            Instance { warps: vec![state; count], phases: phases.collect(), left: count, end: at };
        self.instances.push(instance);
        for warp in 0..count {
            self.queue.push(Reverse((Time(at), index, warp)));
        }
    }

    fn scheduler(&self, instance: usize, warp: usize) -> usize {
        (instance * self.recorder.warps + warp % self.recorder.warps) % SCHEDULERS
    }

    /// A warp issues its next step, if it can by now.
    fn turn(&mut self, at: f64, instance: usize, warp: usize) {
        let Some(step) = self.recorder.steps[warp].get(self.instances[instance].warps[warp].next)
        else {
            self.warp_ends(instance, warp);
            return;
        };
        let step = *step;
        let facts: &'a Facts = &self.setting.facts[step.pc as usize];
        let (earliest, limit) = self.earliest(instance, warp, facts);
        if earliest > at {
            self.queue.push(Reverse((Time(earliest), instance, warp)));
            return;
        }
        let block = warp / self.recorder.warps;
        let issue = Issue { instance, warp, block, at, pc: step.pc, facts };
        if instance == 0 {
            self.draw_stall(issue, limit);
        }
        self.issue(issue, &step);
    }

    /// When a warp can issue, and what it waits for until then.
    fn earliest(&self, instance: usize, warp: usize, facts: &Facts) -> (f64, Limit) {
        let state = &self.instances[instance].warps[warp];
        let multiprocessor = &self.multiprocessors[warp / self.recorder.warps];
        let (mut at, mut limit) = (state.ready, Limit::None);
        for register in &facts.uses {
            let ready = state.registers[*register as usize];
            if ready.at > at {
                (at, limit) = (ready.at, Limit::Register(ready.pc));
            }
        }
        if facts.cost.slots == 0.0 {
            return (at, limit);
        }
        let scheduler = self.scheduler(instance, warp);
        at = at.max(multiprocessor.issue[scheduler]);
        let free = match facts.cost.unit {
            Unit::None => 0.0,
            Unit::Memory => multiprocessor.memory,
            // A product waits in the queue of the tensor cores.
            Unit::Tensor if facts.action == Action::Wgmma => 0.0,
            unit @ (Unit::Float | Unit::Integer | Unit::Special | Unit::Double | Unit::Tensor) => {
                multiprocessor.units[scheduler][index(unit)]
            }
        };
        if free > at { (free, Limit::Unit(facts.cost.unit)) } else { (at, limit) }
    }

    fn draw_stall(&mut self, issue: Issue<'_>, limit: Limit) {
        let since = self.instances[0].warps[issue.warp].ready;
        if issue.at - since < DRAWN_WAIT {
            return;
        }
        let name = match limit {
            Limit::Register(pc) => {
                let writer = &self.setting.facts[pc as usize];
                format!("waits for {} of line {}", writer.name, writer.line)
            }
            Limit::Unit(Unit::Tensor) => "waits for the tensor cores".to_owned(),
            Limit::Unit(Unit::Memory) => "waits for the load and store unit".to_owned(),
            Limit::Unit(
                Unit::None | Unit::Float | Unit::Integer | Unit::Special | Unit::Double,
            )
            | Limit::None => "waits for its turn".to_owned(),
        };
        let piece = Piece::new(Kind::Stall, (since, issue.at), (issue.pc, name));
        self.drawing.step(self.lane(issue.warp), piece);
    }

    fn lane(&self, warp: usize) -> LaneKey {
        LaneKey::Warp(warp / self.recorder.warps, warp % self.recorder.warps)
    }

    fn issue(&mut self, issue: Issue<'_>, step: &Step) {
        let Issue { instance, warp, block, at, facts, .. } = issue;
        let cost = facts.cost;
        let scheduler = self.scheduler(instance, warp);
        let multiprocessor = &mut self.multiprocessors[block];
        multiprocessor.issue[scheduler] = at + cost.slots;
        multiprocessor.usage.issue += cost.slots / cost::PARTS;
        let state = &mut self.instances[instance].warps[warp];
        state.next += 1;
        state.ready = at + cost.slots;
        if instance == 0 && cost.slots > 0.0 {
            let end = at + cost.slots;
            let piece = Piece::new(cost.kind, (at, end), (issue.pc, facts.name.clone()));
            let lane = self.lane(warp);
            self.drawing.step(lane, piece);
        }
        if step.lanes == 0 {
            self.queue.push(Reverse((Time(at + cost.slots), instance, warp)));
            return;
        }
        let mut done = self.unit(issue, scheduler) + cost.latency;
        if facts.spilled > 0.0 {
            self.spill(issue, done);
        }
        let recorder = self.recorder;
        let mut parked = false;
        let mut landed = None;
        for deed in recorder.deeds(step) {
            match *deed {
                Deed::Global { lines, bytes, missed_bytes } => {
                    done = self.global(issue, (lines, bytes, missed_bytes));
                }
                Deed::Shared { passes, remote } => {
                    done = self.shared(issue, done, (passes, remote));
                }
                Deed::Load { bytes, global_bytes, rows, phase } => {
                    let end = match landed {
                        // The other blocks of a multicast get it at the same time.
                        Some(end) if rows > 0 && global_bytes == 0 => end,
                        Some(_) | None => self.copy(issue, (bytes, global_bytes, rows)),
                    };
                    landed = Some(end);
                    if let Some(phase) = phase {
                        self.contribute(instance, phase, (Place::copy(block, end), end));
                    }
                }
                Deed::Store { bytes, rows } => self.bulk_store(issue, (bytes, rows)),
                Deed::Product { kind, rows, columns } => {
                    let busy = self.setting.device.tcgen05(kind, (rows, columns));
                    self.product(issue, busy);
                }
                Deed::Later { phase: Some(phase) } => self.contribute_later(issue, phase),
                Deed::Later { phase: None } | Deed::Look => {}
                Deed::Arrive { phase } => {
                    let away = self.away(block, phase);
                    self.contribute(instance, phase, (Place::of(self.lane(warp), at), at + away));
                }
                Deed::Wait { phase } => parked |= self.wait(issue, phase),
            }
        }
        self.act(issue, done);
        let state = &mut self.instances[instance].warps[warp];
        for register in &facts.results {
            state.registers[*register as usize] = Ready { at: done, pc: issue.pc };
        }
        if !parked {
            self.queue.push(Reverse((Time(state.ready), instance, warp)));
        }
    }

    /// An instruction takes its unit: when that has served it.
    fn unit(&mut self, issue: Issue<'_>, scheduler: usize) -> f64 {
        let Issue { instance, warp, block, at, facts, .. } = issue;
        let Cost { unit, busy, operand_bytes, .. } = facts.cost;
        let multiprocessor = &mut self.multiprocessors[block];
        match unit {
            Unit::None => at,
            Unit::Memory => {
                multiprocessor.memory = at + busy;
                at
            }
            Unit::Float | Unit::Integer | Unit::Special | Unit::Double => {
                multiprocessor.units[scheduler][index(unit)] = at + busy;
                at
            }
            Unit::Tensor => {
                let free = &mut multiprocessor.units[scheduler][index(unit)];
                let start = free.max(at);
                *free = start + busy;
                multiprocessor.usage.tensor += busy / cost::PARTS;
                if operand_bytes > 0.0 {
                    // Each of the four warps has a quarter of the reads of the product.
                    let passes = operand_bytes / cost::SHARED_BYTES / cost::PARTS;
                    multiprocessor.shared = multiprocessor.shared.max(at) + passes;
                    multiprocessor.usage.shared += passes;
                }
                if instance == 0 {
                    let name = format!("{} of warp {}", facts.name, warp % self.recorder.warps);
                    let piece = Piece::new(Kind::Tensor, (start, start + busy), (issue.pc, name));
                    self.drawing.merged(LaneKey::Tensor(block), scheduler, piece);
                }
                if facts.action == Action::Wgmma { start + busy } else { start }
            }
        }
    }

    /// Values go to local memory and come back, through the first-level cache. The sums of a `wgmma` in flight are in registers, so it ends
    /// before they go.
    fn spill(&mut self, issue: Issue<'_>, done: f64) {
        let multiprocessor = &mut self.multiprocessors[issue.block];
        let passes = issue.facts.spilled * cost::SHARED_PASS;
        multiprocessor.shared = multiprocessor.shared.max(issue.at) + passes;
        multiprocessor.usage.shared += passes;
        let state = &mut self.instances[issue.instance].warps[issue.warp];
        let from = if issue.facts.action == Action::Wgmma { done } else { state.ready };
        state.ready = from.max(multiprocessor.shared) + self.setting.device.first;
    }

    /// Shared memory is accessed so many times: when the result is there. What a `cp.async` writes comes `from` later on, and takes its
    /// turn with what is issued now, so that nothing waits for what is not there.
    fn shared(&mut self, issue: Issue<'_>, from: f64, (passes, remote): (u32, bool)) -> f64 {
        let multiprocessor = &mut self.multiprocessors[issue.block];
        let passes = f64::from(passes) * cost::SHARED_PASS;
        let start = multiprocessor.shared.max(issue.at);
        multiprocessor.shared = start + passes;
        multiprocessor.usage.shared += passes;
        if issue.facts.action == Action::Copy {
            return from.max(start) + passes;
        }
        let device = self.setting.device;
        let latency = if remote { device.remote } else { device.shared };
        start + passes - 1.0 + latency
    }

    /// Global memory is accessed: when the result is there.
    fn global(&mut self, issue: Issue<'_>, (lines, bytes, missed): (u32, u32, u32)) -> f64 {
        let multiprocessor = &mut self.multiprocessors[issue.block];
        multiprocessor.tags = multiprocessor.tags.max(issue.at) + f64::from(lines) / cost::TAGS;
        let mut served = multiprocessor.tags;
        // The bytes of `cp.async` go through the data stage once, when they are written to shared memory.
        if issue.facts.action != Action::Copy {
            let passes = f64::from(bytes) / cost::SHARED_BYTES;
            multiprocessor.shared = multiprocessor.shared.max(issue.at) + passes;
            multiprocessor.usage.shared += passes;
            served = served.max(multiprocessor.shared);
        }
        if missed == 0 {
            return served - 1.0 + self.setting.device.first;
        }
        let (of_reads, of_writes) = self.setting.main_share;
        let share = if issue.facts.cost.kind == Kind::GlobalStore { of_writes } else { of_reads };
        self.fetch(issue, served, (f64::from(missed), share))
    }

    /// Bytes come from, or go to, the second-level cache, and a share of them main memory: when they are there. Requests queue in the order
    /// of issue; `served` is when whoever asks is done with its own part.
    fn fetch(&mut self, issue: Issue<'_>, served: f64, (bytes, share): (f64, f64)) -> f64 {
        let device = self.setting.device;
        let multiprocessor = &mut self.multiprocessors[issue.block];
        let (cache, main) = (bytes / device.cache_bytes, bytes * share / self.setting.main_bytes);
        multiprocessor.cache = multiprocessor.cache.max(issue.at) + cache;
        multiprocessor.main = multiprocessor.main.max(issue.at) + main;
        multiprocessor.usage.cache += cache;
        multiprocessor.usage.main += main;
        let served = served.max(multiprocessor.cache).max(multiprocessor.main);
        // Who waits for several sectors waits for the slowest one: one that comes from main memory, if any does.
        multiprocessor.missed += bytes * share;
        let from_main = multiprocessor.missed >= SECTOR;
        multiprocessor.missed %= SECTOR;
        if matches!(issue.facts.cost.kind, Kind::GlobalStore) {
            // The second-level cache takes it.
            let done = served + device.second;
            multiprocessor.flushed = multiprocessor.flushed.max(done);
            let state = &mut self.instances[issue.instance].warps[issue.warp];
            state.stored = state.stored.max(done);
            return done;
        }
        let done = served + if from_main { device.main } else { device.second };
        multiprocessor.flushed = multiprocessor.flushed.max(done);
        done
    }

    /// A bulk or TMA copy into shared memory: when it has landed.
    fn copy(&mut self, issue: Issue<'_>, (bytes, global, rows): (u32, u32, u32)) -> f64 {
        let multiprocessor = &mut self.multiprocessors[issue.block];
        let device = self.setting.device;
        // `st.async` needs no engine.
        let (start, served) = if bytes <= 16 && rows == 0 {
            (issue.at, issue.at + 1.0)
        } else {
            let start = multiprocessor.engine.max(issue.at);
            multiprocessor.engine =
                start + cost::TMA_LEAST.max(f64::from(bytes) / device.cache_bytes);
            (start, multiprocessor.engine)
        };
        let end = if global == 0 && rows == 0 {
            served + device.remote
        } else {
            let there = self.fetch(issue, served, (f64::from(global), self.setting.main_share.0));
            there.max(served + device.second) + cost::TMA
        };
        if issue.instance == 0 {
            let name = format!("{}, {bytes} bytes", issue.facts.name);
            let piece = Piece::new(Kind::Copy, (start, end), (issue.pc, name));
            self.drawing.beside(LaneKey::Copies(issue.block), piece);
        }
        end
    }

    /// A bulk or TMA copy to global memory.
    fn bulk_store(&mut self, issue: Issue<'_>, (bytes, _rows): (u32, u32)) {
        let multiprocessor = &mut self.multiprocessors[issue.block];
        let start = multiprocessor.engine.max(issue.at);
        let read = start + cost::TMA_LEAST.max(f64::from(bytes) / self.setting.device.cache_bytes);
        multiprocessor.engine = read;
        let share = self.setting.main_share.1;
        let end = self.fetch(issue, read, (f64::from(bytes), share)) + cost::TMA;
        let state = &mut self.instances[issue.instance].warps[issue.warp];
        state.bulk.add(end);
        state.bulk_reads.add(read + self.setting.device.shared);
        if issue.instance == 0 {
            let name = format!("{}, {bytes} bytes", issue.facts.name);
            let piece = Piece::new(Kind::Copy, (start, end), (issue.pc, name));
            self.drawing.beside(LaneKey::Copies(issue.block), piece);
        }
    }

    /// `tcgen05.mma`
    fn product(&mut self, issue: Issue<'_>, busy: f64) {
        let multiprocessor = &mut self.multiprocessors[issue.block];
        let start = multiprocessor.tensor.max(issue.at);
        multiprocessor.tensor = start + busy;
        multiprocessor.usage.tensor += busy;
        let state = &mut self.instances[issue.instance].warps[issue.warp];
        state.tensor = start + busy + cost::PRODUCT_END;
        if issue.instance == 0 {
            let name = issue.facts.name.clone();
            let piece = Piece::new(Kind::Tensor, (start, start + busy), (issue.pc, name));
            self.drawing.merged(LaneKey::Tensor(issue.block), 0, piece);
        }
    }

    /// How long an arrival at a barrier takes to get there.
    fn away(&self, block: usize, phase: PhaseId) -> f64 {
        match self.recorder.phases[phase as usize].barrier {
            Barrier::Mbarrier((owner, _)) if owner != block => self.setting.device.remote,
            Barrier::Mbarrier(_) | Barrier::Named(..) | Barrier::Cluster => 0.0,
        }
    }

    /// A contribution to a phase, from where and when.
    fn contribute(&mut self, instance: usize, phase: PhaseId, (by, at): (Place, f64)) {
        let state = &mut self.instances[instance].phases[phase as usize];
        state.left = state.left.saturating_sub(1);
        state.first = Some(state.first.map_or(at, |first| first.min(at)));
        if at >= state.done {
            (state.done, state.by) = (at, Some((by, at)));
        }
        let Some(since) = state.first.filter(|_| state.left == 0) else { return };
        let recorded = self.recorder.phases[phase as usize];
        if !recorded.complete {
            return;
        }
        let (done, waiters) = (state.done, std::mem::take(&mut state.waiters));
        if instance == 0
            && let Barrier::Mbarrier((block, word)) = recorded.barrier
        {
            let bytes = match recorded.bytes {
                0 => String::new(),
                bytes => format!(", {bytes} bytes"),
            };
            let name = format!(
                "phase {}: {} contributions{bytes}",
                recorded.number, recorded.contributions
            );
            let piece = Piece::unplaced(Kind::Phase, (since, done), name);
            self.drawing.beside(LaneKey::Mbarrier(block, word), piece);
        }
        for waiter in waiters {
            self.resume(instance, phase, waiter);
        }
    }

    /// `tcgen05.commit` or `cp.async.mbarrier.arrive` contributes to a phase once what it commits is done, or at once if that is done.
    fn contribute_later(&mut self, issue: Issue<'_>, phase: PhaseId) {
        let Issue { instance, warp, block, at, facts, .. } = issue;
        let state = &self.instances[instance].warps[warp];
        let (lane, done, last) = if facts.action == Action::CommitTensor {
            (LaneKey::Tensor(block), state.tensor, state.tensor - cost::PRODUCT_END)
        } else {
            (LaneKey::Async(block), state.copies.open, state.copies.open)
        };
        let place = if done > at { Place::of(lane, last) } else { Place::of(self.lane(warp), at) };
        self.contribute(instance, phase, (place, done.max(at)));
    }

    /// A warp waits for a phase. Whether it does not know until when.
    fn wait(&mut self, issue: Issue<'_>, phase: PhaseId) -> bool {
        let Issue { instance, warp, at, pc, facts, .. } = issue;
        let state = &mut self.instances[instance].phases[phase as usize];
        let waiter = Waiter { warp, since: at + facts.cost.slots, pc };
        let complete = self.recorder.phases[phase as usize].complete;
        if state.left > 0 || !complete {
            state.waiters.push(waiter);
            return true;
        }
        self.resume(instance, phase, waiter);
        // It is in the queue by now.
        true
    }

    /// A warp continues that waited for a phase.
    fn resume(&mut self, instance: usize, phase: PhaseId, waiter: Waiter) {
        let latency = match self.recorder.phases[phase as usize].barrier {
            Barrier::Mbarrier(_) => self.setting.device.shared,
            Barrier::Named(..) => cost::BARRIER,
            Barrier::Cluster => cost::CLUSTER,
        };
        let phase_state = &self.instances[instance].phases[phase as usize];
        let (done, by) = (phase_state.done, phase_state.by);
        let until = (done + latency).max(waiter.since);
        if instance == 0 && until > waiter.since {
            let lane = self.lane(waiter.warp);
            let name = self.awaited(phase);
            let piece = Piece::new(Kind::Wait, (waiter.since, until), (waiter.pc, name));
            self.drawing.step(lane, piece);
            if let Some((place, at)) = by
                && done > waiter.since
                && place.lane != Some(lane)
            {
                self.drawing.arrow((place, at), (Place::of(lane, until), until));
            }
        }
        let state = &mut self.instances[instance].warps[waiter.warp];
        state.ready = state.ready.max(until);
        self.queue.push(Reverse((Time(state.ready), instance, waiter.warp)));
    }

    /// What is waited for, in words.
    fn awaited(&self, phase: PhaseId) -> String {
        let phase = self.recorder.phases[phase as usize];
        match phase.barrier {
            Barrier::Mbarrier(at) => {
                format!("waits for phase {} of {}", phase.number, super::drawing::mbarrier(at))
            }
            Barrier::Named(_, id) => format!("waits at barrier {id}"),
            Barrier::Cluster => "waits at the barrier of the cluster".to_owned(),
        }
    }

    fn warp_ends(&mut self, instance: usize, warp: usize) {
        let state = &mut self.instances[instance];
        let at = state.warps[warp].ready.max(state.warps[warp].stored);
        state.end = state.end.max(at);
        state.left -= 1;
        if state.left > 0 {
            return;
        }
        let end = state.end;
        // Nothing of it is needed any more, but for what is drawn.
        if instance > 0 {
            (state.warps, state.phases) = (Vec::new(), Vec::new());
        }
        self.ends.push(end);
        if self.instances.len() < self.setting.clusters {
            self.start(end + cost::BLOCK_START);
        }
    }

    fn finish(mut self) -> Timed {
        let mut stuck = Vec::new();
        for (phase, state) in (0..).zip(&self.instances[0].phases) {
            let waiters = state.waiters.iter();
            stuck.extend(waiters.map(|waiter| (waiter.warp, waiter.since, waiter.pc, phase)));
        }
        stuck.sort_by_key(|(warp, ..)| *warp);
        let last = self.instances[0].warps.iter().map(|warp| warp.ready).collect::<Vec<f64>>();
        let end = last.iter().copied().fold(self.drawing.end(), f64::max);
        for warp in 0..last.len() {
            self.draw_batch(0, warp);
        }
        let first = &self.multiprocessors[0];
        let drained = first.flushed.max(first.engine);
        let usage = first.usage;
        Timed { drawing: self.drawing, ends: self.ends, drained, usage, end, stuck, last }
    }
}

/// What a warp waits for before it issues.
#[derive(Clone, Copy, Debug)]
enum Limit {
    None,
    /// A register, which the instruction writes.
    Register(u32),
    Unit(Unit),
}

fn index(unit: Unit) -> usize {
    match unit {
        Unit::None => 0,
        Unit::Float => 1,
        Unit::Integer => 2,
        Unit::Special => 3,
        Unit::Double => 4,
        Unit::Memory | Unit::Tensor => 5,
    }
}
