//! The machine: what a launch, a cluster, a block and a warp consist of while they run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use crate::code::{Code, D, Inst, LANES, P, Preset, Q, Slot, Special, W};
use crate::exec::async_copy::Tracked;
use crate::exec::barrier::init::Unseen;
use crate::exec::bulk::flight::Flights;
use crate::exec::tcgen05::flight::Operations;
use crate::fault::{FaultKind, Run, Trap};
use crate::finding::{Findings, Hazards};
use crate::memory::proxy::Proxies;
use crate::memory::race::{Across, Board, Clock, Races};
use crate::memory::shared::{RANK_SHIFT, SHARED_BASE, Shared};
use crate::memory::tensor::TensorMemory;
use crate::memory::writes::Writes;
use crate::memory::{Allocation, InFlight};
use crate::names::Names;
use crate::numeric::matrix::TensorCore;
use crate::trace::{Recorder, Tracer};

mod join;
mod loads;
pub(crate) mod multiprocessor;
pub(crate) mod pool;
mod registers;
pub(crate) mod warp;
pub(crate) mod warpgroup;

pub(crate) use multiprocessor::{Multiprocessors, Seat};
pub(crate) use registers::Registers;
pub(crate) use warp::{Flow, State, Warp};

/// Bits of a generic address that name a window start here; the low half is the window's own address.
pub(crate) const WINDOW_SHIFT: u32 = 32;
/// The generic window of shared memory.
pub(crate) const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// The generic window of local memory.
pub(crate) const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
/// The generic window of the entry's parameters.
pub(crate) const PARAM_WINDOW: u64 = 0x0300_0000_0000;
/// Parameter-space addresses below this one are not mapped.
pub(crate) const PARAM_BASE: u64 = 0x40;

/// What stays the same for every block of a launch.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) code: &'a Code,
    pub(crate) entry: &'a str,
    /// The PTX text and its `.file` directives, for faults.
    pub(crate) text: &'a str,
    /// What the kernel's source calls what the text numbers, where a compiler wrote it.
    pub(crate) names: Option<&'a Names>,
    pub(crate) files: &'a [(u32, String)],
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    pub(crate) dynamic_shared_bytes: u32,
    /// The parameter block as words, and its length in bytes.
    pub(crate) params: Vec<u64>,
    pub(crate) param_bytes: u32,
    /// Sorted by base.
    pub(crate) allocations: Vec<Arc<Allocation>>,
    /// Addresses of the module-scope variables.
    pub(crate) variables: Arc<Vec<u64>>,
    /// Clusters that have started, or will not, from the first on.
    pub(crate) started: AtomicU64,
    /// Warp instructions that may still run.
    pub(crate) budget: AtomicU64,
    pub(crate) grid_id: u64,
    pub(crate) hazards: Hazards,
    pub(crate) check_races: bool,
    pub(crate) check_tensor_fences: bool,
    pub(crate) check_init_fences: bool,
    pub(crate) tensor_core: TensorCore,
    pub(crate) multiprocessors: Multiprocessors,
    /// Whether anything was written to each allocation, where races are looked for.
    pub(crate) written: Vec<AtomicBool>,
    /// What is known of accesses to global memory, where there are several clusters and races are looked for.
    pub(crate) across: Option<Across>,
    /// What strong accesses hand on at locations of global memory.
    pub(crate) board: Board,
    /// Held by atomic operations on 128 bits of global memory.
    pub(crate) wide_atomics: Mutex<()>,
    /// What it writes to global memory, where that is asked for.
    pub(crate) writes: Option<Mutex<Writes>>,
    /// What the grid before it writes, which may not be over.
    pub(crate) grid_before: Option<Arc<Writes>>,
    /// Who wants to know what clusters do, if anybody does.
    pub(crate) tracer: Option<&'a Tracer>,
    /// This launch, beside others on the same memory.
    pub(crate) in_flight: InFlight<'a>,
}

impl Launch<'_> {
    /// Whether the module has `.const` variables.
    #[inline]
    pub(crate) fn has_constants(&self) -> bool {
        !self.code.constants.is_empty()
    }

    /// Whether asynchronous operations act when they are issued: a kernel that goes on after a hazard finds what hardware mostly
    /// leaves there.
    pub(crate) fn eager(&self) -> bool {
        match self.hazards {
            Hazards::Error => false,
            Hazards::Warn | Hazards::Off => true,
        }
    }

    /// Whether no other launch can change its memory.
    pub(crate) fn is_alone(&self) -> bool {
        self.in_flight.launches() == 1
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a block.
    pub(crate) fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    /// Blocks of a cluster.
    pub(crate) fn cluster_blocks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Clusters of the grid, by dimension.
    pub(crate) fn clusters(&self) -> [u32; 3] {
        [0, 1, 2].map(|i| self.grid[i] / self.cluster[i])
    }

    /// The coordinates of a cluster's first block.
    pub(crate) fn first_block(&self, index: u64) -> [u32; 3] {
        let [cx, cy, _] = self.clusters().map(u64::from);
        let cluster = [index % cx, index / cx % cy, index / (cx * cy)];
        [0, 1, 2].map(|d| {
            u32::try_from(cluster[d]).expect("a grid has 32-bit extents") * self.cluster[d]
        })
    }

    /// The coordinates of a block of a cluster.
    pub(crate) fn block_id(&self, cluster: u64, rank: u32) -> [u32; 3] {
        let [sx, sy, _] = self.cluster;
        let (first, inside) =
            (self.first_block(cluster), [rank % sx, rank / sx % sy, rank / (sx * sy)]);
        [0, 1, 2].map(|d| first[d] + inside[d])
    }

    /// [`Code::dynamic_offset`]
    pub(crate) fn dynamic_offset(&self) -> u32 {
        self.code.dynamic_offset()
    }

    /// Bytes of a block's shared memory.
    pub(crate) fn shared_bytes(&self) -> u32 {
        if self.dynamic_shared_bytes == 0 {
            self.code.static_shared_bytes
        } else {
            self.dynamic_offset() + self.dynamic_shared_bytes
        }
    }

    /// The allocation that holds an address, trying a guess first; its index is a guess for the next.
    #[inline]
    pub(crate) fn allocation(&self, address: u64, guess: &mut usize) -> Option<&Allocation> {
        if let Some(allocation) = self.allocations.get(*guess)
            && address.wrapping_sub(allocation.base) < allocation.bytes
        {
            return Some(allocation);
        }
        let index = self.allocations.partition_point(|a| a.base <= address).checked_sub(1)?;
        let allocation = &self.allocations[index];
        if address - allocation.base < allocation.bytes {
            *guess = index;
            Some(allocation)
        } else {
            None
        }
    }

    /// Takes instructions from the launch's budget.
    pub(crate) fn spend(&self, instructions: u64) -> Run<()> {
        let before = self.budget.fetch_sub(instructions.min(self.budget.load(Relaxed)), Relaxed);
        if before <= instructions {
            return Err(Trap::new(
                FaultKind::InstructionLimit,
                "the launch ran all the warp instructions that its options permit; a loop that never ends, or a limit that is too low (`KILN_MAX_INSTRUCTIONS`, `--max-instructions`)",
            ));
        }
        Ok(())
    }
}

/// A named barrier of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedBarrier {
    /// How often it completed.
    pub(crate) generation: u64,
    /// Threads that arrived in this generation.
    pub(crate) arrived: u32,
    /// Threads that it waits for; 0 while none has arrived.
    pub(crate) required: u32,
    pub(crate) popc: u32,
    pub(crate) all: bool,
    pub(crate) any: bool,
    /// The results of the last generation: population count, all, any.
    pub(crate) result: (u32, bool, bool),
    /// What those who arrived did before, in this generation or earlier, and what those who wait learn.
    pub(crate) gathered: Clock,
    pub(crate) released: Clock,
}

/// What those who arrive at a barrier hand on to those who wait for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handoff {
    /// In the current phase, and before.
    pub(crate) gathered: Clock,
    /// In the phases that are over.
    pub(crate) released: Clock,
}

impl Handoff {
    /// The current phase is over.
    pub(crate) fn complete(&mut self) {
        self.released.clone_from(&self.gathered);
    }
}

/// What those who arrive at an mbarrier hand on to the threads of its block, who alone wait for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// What the block's own threads, copies and commits hand on.
    pub(crate) own: Handoff,
    /// What other blocks hand on: only a wait in the scope of the cluster learns of it.
    pub(crate) others: Handoff,
    /// Whether other blocks arrived in the current phase, and in one that is over and that nobody has waited for.
    arrived: bool,
    open: bool,
}

impl Arrivals {
    /// What is handed on in the current phase from one block to the mbarrier of another, or the same.
    pub(crate) fn gathered(&mut self, (from, to): (usize, usize)) -> &mut Clock {
        if from == to { &mut self.own.gathered } else { &mut self.others.gathered }
    }

    /// Threads of another block arrive.
    pub(crate) fn arrive_from_afar(&mut self) {
        self.arrived = true;
    }

    /// The current phase is over.
    pub(crate) fn complete(&mut self) {
        self.own.complete();
        self.others.complete();
        self.open |= std::mem::take(&mut self.arrived);
    }

    /// Somebody has waited for the phases that are over.
    pub(crate) fn waited(&mut self) {
        self.open = false;
    }

    /// Whether all arrivals of other blocks belong to phases that somebody has waited for.
    pub(crate) fn all_waited_for(&self) -> bool {
        !self.arrived && !self.open
    }
}

/// What the warps of a block share.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) id: [u32; 3],
    pub(crate) rank: u32,
    pub(crate) multiprocessor: u64,
    pub(crate) shared: Shared,
    pub(crate) proxies: Proxies,
    /// By word of shared memory.
    pub(crate) mbarriers: BTreeMap<usize, Arrivals>,
    pub(crate) unseen: Unseen,
    pub(crate) barriers: [NamedBarrier; 16],
    /// Those that a `wgmma` was executed in, and those before them.
    pub(crate) warpgroups: Vec<warpgroup::Warpgroup>,
    pub(crate) tensor: TensorMemory,
    pub(crate) registers: pool::Pool,
    pub(crate) output: String,
    /// Whether every thread left the kernel.
    pub(crate) left: bool,
    /// Counts up whenever something happens that a waiting warp may wait for.
    pub(crate) events: u64,
}

/// The barrier of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterBarrier {
    pub(crate) generation: u64,
    pub(crate) arrived: u32,
    /// What those who arrive hand on to those who wait.
    pub(crate) handoff: Handoff,
    /// What those who arrive relaxed hand on within their block, by fences of its scope.
    pub(crate) within: BTreeMap<usize, Handoff>,
}

/// What the blocks of a cluster share.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// Its number in the grid.
    pub(crate) index: u64,
    pub(crate) blocks: Vec<Block>,
    pub(crate) barrier: ClusterBarrier,
    /// What is known of accesses to the blocks' shared memory.
    pub(crate) races: Races,
    /// Threads that the cluster barrier waits for: those that have not left.
    pub(crate) threads: u32,
    /// Counts what its warps did that others may see, or that takes time; see `machine/warp/spin.rs`.
    pub(crate) changes: u64,
    /// What that count was when last a warp was seen to repeat itself.
    pub(crate) repeats: u64,
    /// Asynchronous copies into the blocks' shared memory.
    pub(crate) flights: Flights,
    /// Operations on the blocks' tensor memory.
    pub(crate) tensor: Operations,
    /// Copies of `cp.async` that mbarriers track.
    pub(crate) tracked: Vec<Tracked>,
    /// Hazards of the instruction that executes, which do not stop it.
    pub(crate) found: RefCell<Vec<Trap>>,
    /// What its warps do, where it is traced.
    pub(crate) trace: Option<Box<Recorder>>,
}

/// Counters of one worker, added up at the end.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) findings: Findings,
    pub(crate) warp_instructions: u64,
    pub(crate) lane_instructions: u64,
    pub(crate) shared_bank_conflicts: u64,
}

/// Everything that an instruction may touch, beside its warp.
pub(crate) struct Context<'a> {
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) cluster: &'a mut Cluster,
    /// The block of the warp, in the cluster.
    pub(crate) block: usize,
    pub(crate) counters: &'a mut Counters,
}

impl Context<'_> {
    pub(crate) fn block(&mut self) -> &mut Block {
        &mut self.cluster.blocks[self.block]
    }

    /// For an instruction that changes what others see, or whose result changes with time.
    #[inline]
    pub(crate) fn changing(&mut self) -> &mut Self {
        self.cluster.changes += 1;
        self
    }

    /// The blocks that allocate tensor memory together with this one, itself first.
    pub(crate) fn seats(&self) -> Vec<Seat> {
        let rank = self.cluster.blocks[self.block].rank;
        self.launch.multiprocessors.together(self.cluster.index, rank)
    }

    /// A check found something: a hazard need not stop the kernel.
    pub(crate) fn found(&self, trap: Trap) -> Run<()> {
        match self.launch.hazards {
            Hazards::Warn if trap.kind.is_hazard() => {
                self.cluster.found.borrow_mut().push(trap);
                Ok(())
            }
            Hazards::Off if trap.kind.is_hazard() => Ok(()),
            Hazards::Error | Hazards::Warn | Hazards::Off => Err(trap),
        }
    }

    /// The instruction at an index.
    pub(crate) fn inst(&self, pc: u32) -> &Inst {
        &self.launch.code.insts[pc as usize]
    }
}

/// Fills the preset slots of a warp.
pub(crate) fn preset(warp: &mut Warp, launch: &Launch<'_>, block: &Block) {
    let code = launch.code;
    let value = |warp: &Warp, preset: &Preset| -> [u64; LANES] {
        match *preset {
            Preset::Word(value) => [u64::from(value); LANES],
            Preset::Double(value) => [value; LANES],
            Preset::Shared(offset) => {
                [u64::from((block.rank << RANK_SHIFT) | (SHARED_BASE + offset)); LANES]
            }
            Preset::DynamicShared(offset) => {
                let start = SHARED_BASE + launch.dynamic_offset();
                [u64::from((block.rank << RANK_SHIFT) | (start.wrapping_add(offset))); LANES]
            }
            Preset::Global { variable, offset } => {
                [launch.variables[variable as usize].wrapping_add_signed(offset); LANES]
            }
            Preset::Special(special) => special_value(special, warp, launch, block),
        }
    };
    for (i, preset) in (code.words..).zip(&code.word_presets) {
        if let Preset::Word(value) = *preset {
            warp.regs.set_w(W(i), &[value; LANES], u32::MAX, u32::MAX);
        } else {
            let value = value(warp, preset);
            warp.regs.set_wide(Slot::W(W(i)), &value, u32::MAX, u32::MAX);
        }
    }
    for (i, preset) in (code.doubles..).zip(&code.double_presets) {
        let value = value(warp, preset);
        warp.regs.set_d(D(i), &value, u32::MAX, u32::MAX);
    }
    for (i, value) in (code.preds..).zip(&code.pred_presets) {
        warp.regs.set_p(P(i), if *value { u32::MAX } else { 0 }, u32::MAX, u32::MAX);
    }
}

fn special_value(
    special: Special,
    warp: &Warp,
    launch: &Launch<'_>,
    block: &Block,
) -> [u64; LANES] {
    let same = |value: u32| [u64::from(value); LANES];
    let by_lane = |f: &dyn Fn(u32) -> u32| {
        let mut lanes = [0; LANES];
        for (lane, value) in (0..).zip(&mut lanes) {
            *value = u64::from(f(lane));
        }
        lanes
    };
    let [bx, by, _] = launch.block;
    let clusters = launch.clusters();
    let dim = usize::from;
    match special {
        Special::Tid(d) => by_lane(&|lane| {
            let thread = warp.index * 32 + lane;
            [thread % bx, thread / bx % by, thread / (bx * by)][dim(d)]
        }),
        Special::Ntid(d) => same(launch.block[dim(d)]),
        Special::Ctaid(d) => same(block.id[dim(d)]),
        Special::Nctaid(d) => same(launch.grid[dim(d)]),
        Special::Laneid => by_lane(&|lane| lane),
        Special::Warpid => same(warp.index),
        Special::Nwarpid => same(launch.warps().max(64)),
        // Blocks go to multiprocessors in turn.
        Special::Smid => [block.multiprocessor % u64::from(crate::MULTIPROCESSORS); LANES],
        Special::Nsmid => same(crate::MULTIPROCESSORS),
        Special::Gridid => [launch.grid_id; LANES],
        Special::LanemaskEq => by_lane(&|lane| 1 << lane),
        Special::LanemaskLe => by_lane(&|lane| u32::MAX >> (31 - lane)),
        Special::LanemaskLt => by_lane(&|lane| (1 << lane) - 1),
        Special::LanemaskGe => by_lane(&|lane| u32::MAX << lane),
        Special::LanemaskGt => by_lane(&|lane| (u32::MAX - 1) << lane),
        Special::DynamicSmemSize => same(launch.dynamic_shared_bytes),
        Special::TotalSmemSize => same(launch.shared_bytes()),
        Special::ClusterCtarank => same(block.rank),
        Special::ClusterNctarank => same(launch.cluster_blocks()),
        Special::ClusterCtaid(d) => same(block.id[dim(d)] % launch.cluster[dim(d)]),
        Special::ClusterNctaid(d) => same(launch.cluster[dim(d)]),
        Special::Clusterid(d) => same(block.id[dim(d)] / launch.cluster[dim(d)]),
        Special::Nclusterid(d) => same(clusters[dim(d)]),
    }
}

/// The name of a slot, for messages.
pub(crate) fn slot_name(code: &Code, slot: Slot) -> Option<&str> {
    let (bank, index) = match slot {
        Slot::W(W(i)) => (0, i),
        Slot::D(D(i)) => (1, i),
        Slot::Q(Q(i)) => (2, i),
        Slot::P(P(i)) => (3, i),
    };
    code.names[bank].get(index as usize).map(String::as_str)
}
