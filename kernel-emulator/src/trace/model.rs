//! From records to a timeline, and to the time of the whole launch.

use std::sync::PoisonError;

use kernel_ptx::{
    Directive,
    occupancy::{self, Block},
};

use super::cost::{self, Device};
use super::drawing::{Drawing, LaneKey, Place};
use super::facts::{Facts, facts};
use super::pressure;
use super::record::Recorder;
use super::time::{self, Setting, Timed, Usage};
use super::{Arrow, End, Kind, Lane, Mark, Outcome, Span, Timeline, Traced, Tracer};
use crate::fault::{Fault, SourceLine};
use crate::program::LaunchConfig;

/// Steps that the model gives a time to at most, for the copies of a cluster together.
const MOST_STEPS: usize = 1 << 24;
/// Clusters one after the other on a multiprocessor that are modelled, for each that is resident; of more the last ones are taken to go on
/// so.
const ROUNDS: usize = 3;
/// How far a wait that never ended is drawn beyond everything else, as a part of that.
const BEYOND: f64 = 0.08;

/// How long a launch takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Cycles of the launch, from the start of the first block to the end of the last.
    pub cycles: f64,
    /// The same as time.
    pub microseconds: f64,
    /// Cycles of the traced block, or cluster, beside those that share its multiprocessor.
    pub block_cycles: f64,
    /// Blocks of the grid, and multiprocessors of the device.
    pub blocks: u64,
    /// See [`blocks`](Self::blocks).
    pub multiprocessors: u32,
    /// Blocks that are on one multiprocessor at once.
    pub resident_blocks: u32,
    /// Registers of a thread, estimated unless the PTX says.
    pub registers: u32,
    /// How often all multiprocessors are filled.
    pub waves: f64,
    /// The parts of the time in which issue slots, tensor cores, shared memory, the second-level cache's port and the share of main memory
    /// are busy.
    pub busy: [(&'static str, f64); 5],
}

/// Bytes of first-level cache that shared memory leaves a block, if as many blocks as fit are on its multiprocessor.
pub(super) fn first_level(traced: &Traced<'_>) -> u32 {
    let device = device(traced);
    let shared = traced.entry.static_shared_bytes + traced.config.dynamic_shared_bytes;
    let (mut facts, words) = facts(traced.module, &traced.entry.name, traced.code, &device);
    let registers = registers_of(traced, &mut facts, &words);
    let blocks = u32::try_from(resident(traced, &device, registers)).expect("at most 32");
    // The system keeps 1 KiB for each block; some lines are there always.
    (device.first_bytes / blocks).saturating_sub(shared + 1024).max(1024)
}

/// The device whose times are modelled.
fn device(traced: &Traced<'_>) -> Device {
    Device::of(traced.device.unwrap_or(&traced.entry.target))
}

/// Everything about the launch that does not depend on the cluster.
struct Context<'a> {
    traced: &'a Traced<'a>,
    device: Device,
    facts: Vec<Facts>,
    registers: usize,
    resident: usize,
    thread_registers: u32,
}

/// The timeline of a launch that ran.
pub(crate) fn timeline(traced: &Traced<'_>, tracer: Tracer, outcome: &Outcome) -> Timeline {
    let device = device(traced);
    let (mut facts, registers) = facts(traced.module, &traced.entry.name, traced.code, &device);
    let threads = registers_of(traced, &mut facts, &registers);
    let resident = resident(traced, &device, threads);
    let context = Context {
        traced,
        device,
        facts,
        registers: registers.len(),
        resident,
        thread_registers: threads,
    };
    let mut records = tracer.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    records.sort_by_key(|record| record.cluster);
    let mut timeline = Timeline {
        entry: traced.entry.name.clone(),
        config: *traced.config,
        device: context.device.model,
        cycles_per_microsecond: context.device.clock * 1000.0,
        lanes: Vec::new(),
        spans: Vec::new(),
        arrows: Vec::new(),
        marks: Vec::new(),
        fault: outcome.as_ref().err().map(ToString::to_string),
        cut: records.iter().any(|record| record.cut),
        model: None,
    };
    let findings = match outcome {
        Ok(report) => report.findings.iter().collect::<Vec<&Fault>>(),
        Err(fault) => fault.findings.iter().chain([&**fault]).collect(),
    };
    for (index, record) in records.iter().enumerate() {
        let (timed, clusters) = context.time(record);
        if index == 0 && outcome.is_ok() && !record.cut {
            timeline.model = Some(context.model(&timed, clusters));
        }
        context.draw(&mut timeline, record, timed, &findings);
    }
    timeline
}

/// Blocks of a cluster.
fn cluster_blocks(config: &LaunchConfig) -> u32 {
    config.cluster.iter().product::<u32>().max(1)
}

/// Registers of a thread: those of the launch where `setmaxnreg` counts, else an estimate, and `.maxnreg` at most. Writes down what is
/// spilled, unless `setmaxnreg` gives each partition its own number.
fn registers_of(traced: &Traced<'_>, facts: &mut [Facts], words: &[u32]) -> u32 {
    let Traced { module, entry, code, .. } = *traced;
    let function = module.functions.iter().find(|f| f.name == entry.name && f.body.is_some());
    let directives = function.into_iter().flat_map(|function| &function.directives);
    let most = directives.filter_map(|directive| match directive {
        Directive::MaxRegisters(most) => Some(*most),
        Directive::MaxThreads(_)
        | Directive::RequiredThreads(_)
        | Directive::MinBlocks(_)
        | Directive::RequiredCluster(_)
        | Directive::ExplicitCluster
        | Directive::MaxClusterRank(_)
        | Directive::BlocksAreClusters
        | Directive::Pragma(_)
        | Directive::NoReturn
        | Directive::Other(_) => None,
    });
    let most = most.fold(u32::MAX, u32::min);
    if let Some(registers) = code.registers {
        return registers.min(most);
    }
    let pressure = pressure::pressure(code, facts, words, most);
    for (pc, facts) in facts.iter_mut().enumerate() {
        facts.spilled = pressure.spilled(pc, facts, words);
    }
    pressure::squeezed(pressure.registers, traced.config.block.iter().product())
}

/// Blocks that a multiprocessor holds at once.
fn resident(traced: &Traced<'_>, device: &Device, registers: u32) -> usize {
    let Traced { config, entry, .. } = *traced;
    let threads = config.block.iter().product::<u32>().max(1);
    let shared = entry.static_shared_bytes + config.dynamic_shared_bytes;
    // Tensor memory is allocated while the kernel runs, and is not known here.
    let block = Block {
        threads,
        registers: Some(registers),
        shared_bytes: shared.into(),
        tensor_columns: 0,
    };
    occupancy::of(&block, device.hardware).blocks.max(1) as usize
}

impl Context<'_> {
    /// Clusters of the grid, and multiprocessors, or groups of as many as a cluster has blocks.
    fn clusters(&self) -> (u64, u64) {
        let config = self.traced.config;
        let blocks = cluster_blocks(config);
        let clusters =
            config.grid.iter().map(|&n| u64::from(n)).product::<u64>() / u64::from(blocks);
        let groups = u64::from((self.device.hardware.multiprocessors / blocks).max(1));
        (clusters, groups)
    }

    /// Gives the steps of a cluster their times; the second number is how many clusters its multiprocessors run.
    fn time(&self, record: &Recorder) -> (Timed, usize) {
        let (clusters, groups) = self.clusters();
        let here = usize::try_from(clusters.div_ceil(groups)).unwrap_or(usize::MAX);
        let steps = record.steps.iter().map(Vec::len).sum::<usize>().max(1);
        let resident = self.resident.min(here).max(1);
        let most = (MOST_STEPS / steps).max(1);
        let modelled = here.min(ROUNDS * resident).min(most).max(1);
        let ends = !record.stopped.is_empty() || record.cut;
        let (resident, modelled) = if ends { (1, 1) } else { (resident, modelled) };
        let busy = clusters.min(groups) * u64::from(cluster_blocks(self.traced.config));
        let setting = Setting {
            device: &self.device,
            facts: &self.facts,
            registers: self.registers,
            main_bytes: self.device.memory_bytes() / count(busy),
            main_share: record.footprint.main_memory(count(clusters)),
            resident,
            clusters: modelled,
        };
        (time::run(setting, record), here)
    }

    /// The time of the launch, from that of the clusters that were modelled.
    fn model(&self, timed: &Timed, here: usize) -> Model {
        let (clusters, groups) = self.clusters();
        let mut ends = timed.ends.clone();
        ends.sort_by(f64::total_cmp);
        let modelled = ends.len().max(1);
        let last = ends.last().copied().unwrap_or_default();
        let resident = self.resident.min(modelled);
        // The first ones start together; from then on they end at a steady rate.
        let rate = if modelled > resident {
            (last - ends[resident - 1]) / count((modelled - resident) as u64)
        } else {
            last / count(modelled as u64)
        };
        let left = count((here - modelled.min(here)) as u64);
        let own = timed.last.iter().copied().fold(0.0, f64::max);
        let blocks = cluster_blocks(self.traced.config);
        let started = count(clusters * u64::from(blocks)) * cost::BLOCK_INTERVAL;
        let ended = (last.max(timed.drained) + left * rate).max(started + own);
        let cycles = cost::BLOCK_START + ended;
        let Usage { issue, tensor, shared, cache, main } = timed.usage;
        let part = |busy: f64| (busy / last.max(1.0)).min(1.0);
        Model {
            cycles,
            microseconds: cycles / (self.device.clock * 1000.0),
            block_cycles: own,
            blocks: clusters * u64::from(blocks),
            multiprocessors: self.device.hardware.multiprocessors,
            resident_blocks: u32::try_from(self.resident).expect("at most 32"),
            registers: self.thread_registers,
            waves: count(clusters) / (count(groups) * count(self.resident as u64)),
            busy: [
                ("issue slots", part(issue)),
                ("tensor cores", part(tensor)),
                ("shared memory", part(shared)),
                ("L2 port", part(cache)),
                ("main memory", part(main)),
            ],
        }
    }

    fn source(&self, pc: u32) -> Option<SourceLine> {
        let (file, line, column) = self.facts[pc as usize].source;
        let files = &self.traced.module.files;
        let name = || files.iter().find(|(i, _)| *i == file).map(|(_, name)| name.clone());
        (line > 0).then(|| SourceLine { file: name().unwrap_or_default(), line, column })
    }

    /// Adds a cluster to the timeline.
    fn draw(
        &self,
        timeline: &mut Timeline,
        record: &Recorder,
        mut timed: Timed,
        findings: &[&Fault],
    ) {
        add_stuck(&mut timed, record);
        let Drawing { lanes, arrows } = &timed.drawing;
        let first = timeline.lanes.len();
        let place = |block: usize| self.block(record.cluster, block);
        for (key, rows) in lanes {
            let (block, block_number) = place(key.block());
            let index = timeline.lanes.len();
            let name = self.traced.named(key.name());
            timeline.lanes.push(Lane { block, block_number, name, rows: rows.len() });
            for (row, pieces) in rows.iter().enumerate() {
                for piece in pieces {
                    let pcs = piece.first.map(|first| (first, piece.last));
                    let line = |pc: u32| self.facts[pc as usize].line;
                    let sources = pcs.and_then(|(a, b)| Some((self.source(a)?, self.source(b)?)));
                    timeline.spans.push(Span {
                        lane: index,
                        row,
                        start: piece.start,
                        end: piece.end,
                        kind: piece.kind,
                        name: self.traced.named(piece.name.clone()),
                        count: piece.count,
                        lines: pcs.map(|(a, b)| (line(a), line(b))),
                        source: sources,
                    });
                }
            }
        }
        let keys: Vec<LaneKey> = lanes.keys().copied().collect();
        let end = |place: Place| -> Option<End> {
            let key = place.lane.unwrap_or(LaneKey::Copies(place.block));
            let lane = keys.binary_search(&key).ok()?;
            let row = timed.drawing.row_of(key, place)?;
            Some((first + lane, row, place.at))
        };
        let mut drawn: Vec<Arrow> = arrows
            .iter()
            .filter_map(|((from, _), (to, _))| Some(Arrow { from: end(*from)?, to: end(*to)? }))
            .collect();
        drawn.sort_by(|a, b| a.to.2.total_cmp(&b.to.2).then(a.to.0.cmp(&b.to.0)));
        timeline.arrows.append(&mut drawn);
        for fault in findings {
            self.mark(timeline, (record, &timed), (&keys, first), fault);
        }
    }

    /// Marks the accesses of a hazard, or where a fault is.
    fn mark(
        &self,
        timeline: &mut Timeline,
        (record, timed): (&Recorder, &Timed),
        (keys, first): (&[LaneKey], usize),
        fault: &Fault,
    ) {
        let blocks = record.steps.len() / record.warps.max(1);
        let here = |id: [u32; 3]| (0..blocks).find(|b| self.block(record.cluster, *b).0 == id);
        let block = here(fault.block);
        let code = fault.kind.code();
        let text = format!("{code} {}: {}", fault.kind.text(), fault.detail);
        let mut mark = |key: LaneKey, line: u32, text: String| {
            let rows = timed.drawing.lanes.get(&key);
            let holds = |first: u32, last: u32| {
                (self.facts[first as usize].line..=self.facts[last as usize].line).contains(&line)
            };
            let pieces = rows.into_iter().flatten().flatten();
            let mut there = pieces
                .filter(|piece| piece.kind != Kind::Stall)
                .filter(|piece| piece.first.is_some_and(|first| holds(first, piece.last)));
            let piece = there.next_back();
            if let (Some(piece), Ok(lane)) = (piece, keys.binary_search(&key)) {
                timeline.marks.push(Mark { lane: first + lane, at: piece.start, text });
            }
        };
        if let Some(block) = block {
            mark(LaneKey::Warp(block, fault.warp as usize), fault.ptx_line, text);
        }
        if let Some(other) = &fault.other {
            let text = format!("{code} {}: the other access, {}", fault.kind.text(), other.agent);
            let block = match block_in(&other.agent) {
                Some(id) => here(id),
                None => block,
            };
            if let Some(block) = block {
                mark(other_lane(block, fault, &other.agent), other.ptx_line, text);
            }
        }
    }

    /// A block of a cluster: its coordinates, and its number.
    fn block(&self, cluster: u64, rank: usize) -> ([u32; 3], u64) {
        let config = self.traced.config;
        let size = config.cluster.map(|n| u64::from(n.max(1)));
        let grid = config.grid.map(u64::from);
        let [cx, cy] = [grid[0] / size[0], grid[1] / size[1]];
        let cluster = [cluster % cx, cluster / cx % cy, cluster / (cx * cy)];
        let rank = rank as u64;
        let inside = [rank % size[0], rank / size[0] % size[1], rank / (size[0] * size[1])];
        let at = [0, 1, 2].map(|d| cluster[d] * size[d] + inside[d]);
        let number = at[0] + grid[0] * (at[1] + grid[1] * at[2]);
        (at.map(|n| u32::try_from(n).expect("a grid has 32-bit extents")), number)
    }
}

/// Waits that never ended go beyond everything else.
fn add_stuck(timed: &mut Timed, record: &Recorder) {
    let beyond = timed.end * (1.0 + BEYOND) + 20.0;
    let lane = |warp: usize| LaneKey::Warp(warp / record.warps, warp % record.warps);
    let known: Vec<usize> = record.stopped.iter().map(|stopped| stopped.warp).collect();
    let stopped = record.stopped.iter();
    let mut stuck: Vec<(usize, f64, u32, String)> =
        stopped.map(|s| (s.warp, timed.last[s.warp], s.pc, s.why.clone())).collect();
    let others = timed.stuck.iter().filter(|(warp, ..)| !known.contains(warp));
    stuck.extend(others.map(|&(warp, since, pc, _)| (warp, since, pc, "waits".to_owned())));
    for (warp, since, pc, why) in stuck {
        let piece = super::drawing::Piece::new(Kind::Stuck, (since, beyond), (pc, why));
        timed.drawing.step(lane(warp), piece);
    }
}

/// The block outside of the cluster that words such as `lane 0 of warp 1 of block (64, 0, 0)` name.
fn block_in(agent: &str) -> Option<[u32; 3]> {
    let (_, after) = agent.split_once("of block (")?;
    let (numbers, _) = after.split_once(')')?;
    let numbers: Vec<u32> = numbers.split(", ").map_while(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

/// The lane of the other one of two that race, as far as its words say.
fn other_lane(block: usize, fault: &Fault, agent: &str) -> LaneKey {
    let number = |word: &str| {
        let after = agent.split_once(word)?.1;
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<usize>().ok()
    };
    if agent.contains("asynchronous") && number("of warp ").is_none() {
        return LaneKey::Copies(block);
    }
    let warp = number("warp ").unwrap_or(fault.warp as usize);
    LaneKey::Warp(number("of block ").unwrap_or(block), warp)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn count(n: u64) -> f64 {
    n as f64
}
