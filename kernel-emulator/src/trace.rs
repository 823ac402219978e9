//! A launch as a timeline: what the warps, the copies and the tensor cores of some blocks do when, in modelled cycles.
//!
//! The emulator runs one warp after another, so its own order says nothing about time. While it runs, it records what the traced blocks do,
//! and a model of a multiprocessor then gives each step a time: an instruction issues when its operands are there, its scheduler has a slot
//! and its unit is free; what waits for a barrier continues when the last arrival or copy is there that it waits for.
//!
//! ```
//! use kernel_emulator::{DeviceMemory, LaunchConfig, Options, Program, TraceOptions};
//!
//! let program = Program::parse(
//!     ".version 8.0
//!      .target sm_90
//!      .address_size 64
//!      .visible .entry chain(.param .u32 n)
//!      {
//!          .reg .b32 %r<2>;
//!          ld.param.u32 %r0, [n];
//!          add.u32 %r1, %r0, 1;
//!          add.u32 %r1, %r1, 1;
//!          ret;
//!      }",
//! )?;
//! let (memory, config) = (DeviceMemory::new(), LaunchConfig::new([1, 1, 1], [32, 1, 1]));
//! let (report, timeline) = program.trace(
//!     &memory,
//!     ("chain", &config),
//!     &1u32.to_le_bytes(),
//!     &Options::default(),
//!     &TraceOptions::default(),
//! );
//! report?;
//! let timeline = timeline.expect("the launch was possible");
//! // The second addition waits four cycles for the first; then `ret`.
//! let adds: Vec<f64> = timeline.spans.iter().map(|span| span.start).collect();
//! assert_eq!(adds, [0.0, 5.0]);
//! assert!(timeline.chrome_json().starts_with('{'));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Costs
//!
//! | what | cost in cycles, on an H200 | source |
//! |---|---|---|
//! | issue | four schedulers, one instruction a cycle each | W |
//! | arithmetic in f32 and pairs of halves; integers and logic; special functions | 128, 64, 16 results a cycle | G |
//! | the same, latency | 4; 4; 18 | J |
//! | exchange between lanes | 32 results a cycle, latency 23 | G, J |
//! | shared memory | 128 bytes in 1.075 cycles, a pass more for each bank conflict; latency 29, of another block 180 | G, M, H |
//! | first-level cache | a line a cycle, latency 40 | N, H; its rate A |
//! | second-level cache | 64 bytes a cycle for each multiprocessor, latency 287 | M |
//! | main memory | 2460 bytes a cycle, which all busy multiprocessors share; latency 665 | M |
//! | TMA and bulk copies | 53 of the engine at least, 170 more than a load | M, H |
//! | `wgmma`, `tcgen05` in 16 bits | 2048, 4096 (on a B200) multiplications and additions a cycle; 16 until the result is there | W, H |
//! | `mma.sync` in 16 bits | 1270 multiplications and additions a cycle; latency 33 | W, H |
//! | `tcgen05.ld` and `.st` | latency 30, a register of 32 lanes a cycle | A |
//! | barrier of a block; of a cluster | 20; 190 from the last arrival | A; H |
//! | taken branch; fence; start of a block | 8; 16; 300 | A |
//!
//! Products of other types have the rates of their width. Sources:
//!
//! * **G**: CUDA C++ Programming Guide, "Arithmetic Instructions": results of each kind of instruction that a multiprocessor gives in a
//!   cycle.
//! * **H**: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking" (arXiv 2402.13499) and
//!   "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking and Multiple Level Analysis" (arXiv 2501.12084): latencies of
//!   memory, shared memory of other blocks, `mma.sync` and `wgmma`.
//! * **J**: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (arXiv 1804.06826): dependent arithmetic.
//! * **M**: measured on an H200 for Kiln: copies of 1 GiB reach 4.3 TB/s, a multiprocessor gets 64 bytes a cycle from the second-level
//!   cache, a TMA copy of a single row takes as long as 53 cycles of the engine, a load that depends on the one before takes 287 cycles over
//!   8 MB and 665 over 256 MB, and `ldmatrix` with `cp.async` beside `mma.sync` moves 119 of 128 bytes a cycle.
//! * **N**: Nsight Compute's documentation, "Memory Chart" and "L1/TEX Cache": the tag stage of the first-level cache is a unit beside its
//!   data stage.
//! * **W**: the architecture papers of A100, H100 and Blackwell: bandwidth, clocks and the rates of tensor cores.
//! * **A**: assumed, as nothing is published: plausible, and of little weight.
//!
//! PTX is not what runs: ptxas renames registers, so that a move between registers costs nothing here, and makes several
//! instructions of a division or of arithmetic on 64 bits, which have that many issue slots. How many registers a thread has, and so how
//! many blocks fit on a multiprocessor, is estimated from the values that are live at once, unless `.maxnreg` or `setmaxnreg` says. Where a
//! thread has too few, so many words of each instruction's operands go to local memory and back; a `wgmma` whose sums are among them ends
//! first. A block keeps its place until the second-level cache has its stores (Nsight Compute calls that stall "Drain").
//!
//! Not modelled: the launch itself, some 3 us; latencies that grow under load; the instruction cache; conflicts in the register file; a
//! clock that falls under load; and what blocks on different multiprocessors take from each other in the second-level cache. So
//! [`Model::cycles`] is for comparing instances of one kernel, and not a prediction.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use kernel_ptx::Module;

use crate::code::Code;
use crate::fault::Fault;
use crate::fault::SourceLine;
use crate::machine::Launch;
use crate::names::Names;
use crate::program::{EntryInfo, LaunchConfig, Report};

mod cost;
mod drawing;
mod facts;
mod json;
mod memory;
mod model;
mod pressure;
mod record;
mod time;

pub use model::Model;
pub(crate) use model::timeline;
pub(crate) use record::{Over, Recorder, Through, Waits};

/// What is traced, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// The blocks by their numbers in the grid, x fastest; each stands for its cluster. Block 0 without any.
    pub blocks: Vec<u64>,
    /// Whether the other blocks run at all.
    pub others: Others,
    /// The device whose times are modelled, such as `sm_90a`; that of the launch without it.
    pub device: Option<String>,
}

/// Blocks that are traced at most.
const MOST_BLOCKS: usize = 64;

impl TraceOptions {
    /// The same, for blocks by their numbers and ranges of them: `0`, `0-3`, `5,7-9`.
    ///
    /// # Errors
    /// What is required and what was given, where the text is nothing like it.
    pub fn with_blocks(mut self, text: &str) -> Result<TraceOptions, String> {
        let wrong = || {
            format!(
                "required up to {MOST_BLOCKS} numbers of blocks, such as `0`, `0-3` or `5,7-9`, actual `{text}`"
            )
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let mut blocks = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            let few = last.checked_sub(first).is_some_and(|more| more < MOST_BLOCKS as u64);
            if !few || blocks.len() >= MOST_BLOCKS {
                return Err(wrong());
            }
            blocks.extend(first..=last);
        }
        if blocks.len() > MOST_BLOCKS {
            return Err(wrong());
        }
        self.blocks = blocks;
        Ok(self)
    }
}

/// What becomes of blocks that are not traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They run.
    #[default]
    Run,
    /// They do not, which is fast; what the launch computes is incomplete.
    LeftOut,
}

/// What a span of the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Arithmetic on registers, and exchanges between lanes.
    Arithmetic,
    /// Branches and the like.
    Control,
    /// A matrix product is issued, or the tensor cores are busy with it.
    Tensor,
    /// Loads from global memory.
    GlobalLoad,
    /// Stores and atomic operations on global memory.
    GlobalStore,
    /// Accesses to shared memory.
    Shared,
    /// Accesses to local memory.
    Local,
    /// Accesses to tensor memory.
    TensorMemory,
    /// A copy is started, or is in flight.
    Copy,
    /// Arrivals at barriers, commits and fences.
    Sync,
    /// A wait for a barrier, an mbarrier or a group of copies or products.
    Wait,
    /// A wait for the result of an earlier instruction, or for a unit.
    Stall,
    /// A wait that never ended.
    Stuck,
    /// A phase of an mbarrier, from its first to its last arrival.
    Phase,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 14] = [
        Kind::Arithmetic,
        Kind::Control,
        Kind::Tensor,
        Kind::GlobalLoad,
        Kind::GlobalStore,
        Kind::Shared,
        Kind::Local,
        Kind::TensorMemory,
        Kind::Copy,
        Kind::Sync,
        Kind::Wait,
        Kind::Stall,
        Kind::Stuck,
        Kind::Phase,
    ];

    /// The kind in words, which is the category of trace events.
    pub const fn text(self) -> &'static str {
        match self {
            Kind::Arithmetic => "arithmetic",
            Kind::Control => "control",
            Kind::Tensor => "tensor core",
            Kind::GlobalLoad => "global load",
            Kind::GlobalStore => "global store",
            Kind::Shared => "shared memory",
            Kind::Local => "local memory",
            Kind::TensorMemory => "tensor memory",
            Kind::Copy => "copy",
            Kind::Sync => "synchronisation",
            Kind::Wait => "wait",
            Kind::Stall => "stall",
            Kind::Stuck => "stuck",
            Kind::Phase => "phase",
        }
    }

    /// Whether steps one after the other are one span.
    const fn is_merged(self) -> bool {
        match self {
            Kind::Arithmetic
            | Kind::Control
            | Kind::Tensor
            | Kind::GlobalLoad
            | Kind::GlobalStore
            | Kind::Shared
            | Kind::Local
            | Kind::TensorMemory
            | Kind::Copy
            | Kind::Sync => true,
            Kind::Wait | Kind::Stall | Kind::Stuck | Kind::Phase => false,
        }
    }
}

/// A lane of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// `%ctaid` of its block.
    pub block: [u32; 3],
    /// The number of its block in the grid.
    pub block_number: u64,
    /// Such as `warp 3`.
    pub name: String,
    /// Things that overlap are in rows of their own.
    pub rows: usize,
}

/// Something that takes time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Index of the lane, and the row in it.
    pub lane: usize,
    /// From 0.
    pub row: usize,
    /// In cycles.
    pub start: f64,
    /// In cycles.
    pub end: f64,
    /// What it is.
    pub kind: Kind,
    /// In words.
    pub name: String,
    /// How many instructions it stands for.
    pub count: u32,
    /// The first and the last line of the PTX; none for phases.
    pub lines: Option<(u32, u32)>,
    /// The source lines of these, where the PTX has `.loc`.
    pub source: Option<(SourceLine, SourceLine)>,
}

/// An end of an arrow: lane, row and time.
pub type End = (usize, usize, f64);

/// Who makes whom continue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// The arrival or copy that completes a phase.
    pub from: End,
    /// Who waited for it.
    pub to: End,
}

/// A mark at a moment of a lane: one of two accesses of a race, or where a fault is.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Index of the lane.
    pub lane: usize,
    /// In cycles.
    pub at: f64,
    /// Such as `H05 data race: ..`.
    pub text: String,
}

/// The traced blocks of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The entry.
    pub entry: String,
    /// The grid, block and cluster of the launch.
    pub config: LaunchConfig,
    /// The device whose times are modelled, such as `H200`.
    pub device: &'static str,
    /// Cycles of its multiprocessors in a microsecond.
    pub cycles_per_microsecond: f64,
    /// Block by block: warps, tensor cores, copies, mbarriers.
    pub lanes: Vec<Lane>,
    /// In the order of lanes, rows and time.
    pub spans: Vec<Span>,
    /// In order of time.
    pub arrows: Vec<Arrow>,
    /// Races and faults.
    pub marks: Vec<Mark>,
    /// The fault that ended the launch.
    pub fault: Option<String>,
    /// Whether a traced block did more than is recorded.
    pub cut: bool,
    /// How long the launch takes, unless it ended with a fault or was cut.
    pub model: Option<Model>,
}

/// What the model needs of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traced<'a> {
    pub(crate) module: &'a Module,
    pub(crate) code: &'a Code,
    pub(crate) entry: &'a EntryInfo,
    pub(crate) config: &'a LaunchConfig,
    pub(crate) device: Option<&'a str>,
    /// What the source calls what is in shared memory, whose dynamic part begins after the static bytes.
    pub(crate) names: Option<&'a Names>,
}

impl Traced<'_> {
    /// A text of the timeline with the source's names of mbarriers.
    fn named(&self, text: String) -> String {
        let Some(names) = self.names else { return text };
        names.barriers_named(&text, self.code.dynamic_offset())
    }
}

/// The result of a launch that was traced.
pub(crate) type Outcome = Result<Report, Box<Fault>>;

/// Says which clusters are traced, and collects what they did.
#[derive(Debug)]
pub(crate) struct Tracer {
    clusters: BTreeSet<u64>,
    others: Others,
    /// First-level cache of each block.
    cache_bytes: u32,
    done: Mutex<Vec<Recorder>>,
}

impl Tracer {
    pub(crate) fn new(traced: &Traced<'_>, options: &TraceOptions) -> Tracer {
        let config = traced.config;
        let cluster = |block: u64| {
            let [x, y, z] = config.grid.map(|n| u64::from(n.max(1)));
            let place = [block % x, block / x % y, block / (x * y)];
            let in_clusters = [0, 1, 2].map(|d| place[d] / u64::from(config.cluster[d].max(1)));
            let [cx, cy, _] =
                [0, 1, 2].map(|d| u64::from(config.grid[d] / config.cluster[d].max(1)));
            (place[2] < z).then(|| in_clusters[0] + cx * (in_clusters[1] + cy * in_clusters[2]))
        };
        let first = if options.blocks.is_empty() { &[0][..] } else { &options.blocks };
        let clusters = first.iter().filter_map(|block| cluster(*block)).collect();
        let cache_bytes = model::first_level(traced);
        Tracer { clusters, others: options.others, cache_bytes, done: Mutex::default() }
    }

    /// A record for a cluster, if it is traced.
    pub(crate) fn recorder(&self, launch: &Launch<'_>, cluster: u64) -> Option<Box<Recorder>> {
        let size = (launch.cluster_blocks() as usize, launch.warps() as usize);
        let traced = self.clusters.contains(&cluster);
        traced.then(|| Box::new(Recorder::new(cluster, size, self.cache_bytes)))
    }

    /// Whether a cluster does not run.
    pub(crate) fn leaves_out(&self, cluster: u64) -> bool {
        self.others == Others::LeftOut && !self.clusters.contains(&cluster)
    }

    /// Takes a record that is complete.
    pub(crate) fn take(&self, recorder: Recorder) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(recorder);
    }
}

impl Timeline {
    /// The timeline as trace events, which Perfetto and `chrome://tracing` show. A microsecond of theirs is a cycle.
    pub fn chrome_json(&self) -> String {
        json::write(self)
    }
}

/// Whether there is a device of that name, whose times can be modelled.
pub fn is_device(target: &str) -> bool {
    kernel_ptx::Target::parse(target).is_some_and(kernel_ptx::Target::is_known)
}
