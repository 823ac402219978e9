//! Warp specialisation: one entry, in which each warp goes to its part of the kernel.
//!
//! ```text
//!     if the warp is not one of the kernel's own: go to `others`
//!     the statements before
//!     hand over; all warps meet
//!     the default partition
//!     all warps meet, if anything follows
//!     the statements after; end
//! others:
//!     for each partition, if the warp is one of its own:
//!         all warps meet; take over
//!         the partition
//!         arrive where the others meet, if anything follows; end
//! ```
//!
//! A partition takes scalars, addresses and handles on shared memory from outside. It computes them itself if they
//! follow from constants and parameters. One thread writes all others, and whether the kernel has ended before, to shared memory
//! before all warps meet, and the partition reads them afterwards.
//!
//! Nothing else is shared: the code of a partition is in a frame of its own, so it uses no value that other
//! warps have computed, and each partition has scratch of its own, because all run at the same time.

use kernel_ptx::{Instruction, Opcode, Operand, Space, SpecialRegister, Type, Word};
use la_arena::ArenaMap;

use crate::ir::{
    self, ClusterOp, CopyOp, Dtype, Elem, Kernel, Op, Partition, Placement, Region, Specialized,
    StmtKind, SyncOp, Terminator, Value,
};
use crate::lower::emitter::{FrameKind, Meets, Place, Val, mods};
use crate::lower::sync::barrier::warp_sync;
use crate::lower::{Data, Flow, LANES, Lower};

/// Values for partitions are at multiples of the largest of them.
const SLOT_BYTES: u32 = 8;
/// A flag in shared memory.
const FLAG: Elem = Elem::Number(Dtype::I32);

/// The warps that run what is emitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crew {
    /// How many they are.
    pub(crate) warps: u32,
    meeting: Meeting,
    stage: Stage,
}

/// How the threads of a crew wait for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    /// They are those of the block.
    Block,
    /// At a named barrier.
    Barrier(u32),
    /// They are one warp.
    Warp,
}

/// The progress of a crew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Other warps wait for this one.
    Before,
    /// No warp waits for it.
    Alone,
}

impl Crew {
    /// The kernel's own warps, at its start.
    pub(crate) fn of(kernel: &Kernel) -> Crew {
        let warps = kernel.warps;
        let alone = kernel.specialized().is_none();
        let meeting = match warps {
            1 => Meeting::Warp,
            _ if alone => Meeting::Block,
            _ => Meeting::Barrier(0),
        };
        Crew { warps, meeting, stage: if alone { Stage::Alone } else { Stage::Before } }
    }

    /// The number of the barrier at which the threads meet, and how many they are if that is not all of the block; none for
    /// the lanes of a warp, which meet without one.
    pub(crate) fn barrier(self) -> Option<Vec<Operand>> {
        let number = |number: u32| Operand::Int(i128::from(number));
        match self.meeting {
            Meeting::Block => Some(vec![number(0)]),
            Meeting::Barrier(id) => Some(vec![number(id), number(self.warps * LANES)]),
            Meeting::Warp => None,
        }
    }
}

/// How the warps of a kernel are specialised.
#[derive(Clone, Debug)]
pub(crate) struct Split<'a> {
    found: Specialized<'a>,
    placement: Placement,
    /// The values that partitions take from shared memory, by their places.
    handed: ArenaMap<Value, u32>,
    /// The place of the flag that the kernel has ended before.
    ended: Option<u32>,
    bytes: u32,
    /// Where the scratch of the next partition begins.
    floor: u32,
}

impl<'a> Split<'a> {
    /// How a kernel is split; none if all its warps run the same.
    pub(crate) fn of(kernel: &'a Kernel) -> Option<Split<'a>> {
        let (found, placement) = (kernel.specialized()?, kernel.placement()?);
        let (mut handed, mut bytes) = (ArenaMap::default(), 0);
        let mut slot = || {
            bytes += SLOT_BYTES;
            bytes - SLOT_BYTES
        };
        let before = &kernel.body.stmts[..found.at];
        let ended = before.iter().any(|stmt| returns(&stmt.kind)).then(&mut slot);
        for partition in found.partitions {
            let needed = needed(kernel, found.at, &partition.body);
            for stmt in before.iter().filter(|stmt| !is_made_anew(&stmt.kind)) {
                for value in stmt.kind.results() {
                    if needed.contains_idx(value) && !handed.contains_idx(value) {
                        handed.insert(value, slot());
                    }
                }
            }
        }
        Some(Split { found, placement, handed, ended, bytes, floor: 0 })
    }

    /// The bytes of shared memory for the values that partitions take from outside.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The partitions, each with its first warp.
    pub(crate) fn partitions(&self) -> impl Iterator<Item = (u32, &'a Partition)> {
        self.placement.first.iter().copied().zip(self.found.partitions)
    }

    /// The threads that have something to do.
    fn busy_threads(&self) -> Operand {
        Operand::Int(i128::from(self.placement.busy * LANES))
    }
}

/// Whether a partition computes the result of a statement itself: it takes no tiles.
fn is_made_anew(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Op { op, .. } if op.is_pure())
}

/// What a region needs of the values that the first `count` statements of the kernel make: what it takes, and what that follows
/// from where it is recomputed.
fn needed(kernel: &Kernel, count: usize, region: &Region) -> ArenaMap<Value, ()> {
    let mut needed: ArenaMap<Value, ()> =
        region.captured().into_iter().map(|(value, _)| (value, ())).collect();
    for stmt in kernel.body.stmts[..count].iter().rev().filter(|stmt| is_made_anew(&stmt.kind)) {
        if stmt.kind.results().iter().any(|result| needed.contains_idx(*result)) {
            needed.extend(stmt.kind.operands().into_iter().map(|operand| (operand, ())));
        }
    }
    needed
}

/// Whether the kernel may end in a statement.
fn returns(kind: &StmtKind) -> bool {
    let within = |region: &Region| {
        region.end == Terminator::Return || region.stmts.iter().any(|stmt| returns(&stmt.kind))
    };
    kind.regions().into_iter().any(within)
}

/// Whether a region starts asynchronous copies.
fn copies(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::Op { op: Op::Copy(CopyOp::Async(..)), .. })
            || stmt.kind.regions().into_iter().any(copies)
    })
}

impl<'a> Lower<'a> {
    /// The code of a block.
    pub(crate) fn block(&mut self) {
        let kernel = self.kernel;
        self.begin_stamps();
        if self.split.is_none() {
            self.init_barriers();
            self.region(&kernel.body);
            return;
        }
        let others = self.e.label();
        let past = self.is_past(kernel.warps);
        self.jump_if(past, false, others);
        self.e.enter(FrameKind::Branch);
        self.init_barriers();
        self.region(&kernel.body);
        self.e.leave();
        self.e.place_label(others);
        self.others();
    }

    /// Whether the warp has this number or a higher one.
    fn is_past(&mut self, warps: u32) -> Val {
        let thread = self.e.special(SpecialRegister::TidX);
        self.e.compare(Word::Ge, Type::U32, thread, Val::Int(i64::from(warps * LANES)))
    }

    fn specialized(&self) -> &Split<'a> {
        self.split.as_ref().expect("partitions are emitted where there are some")
    }

    /// All partitions but the default one, and the warps between them, in the order of the warps.
    fn others(&mut self) {
        let split = self.specialized();
        let (partitions, placement) = (split.found.partitions, split.placement.clone());
        let mut order: Vec<usize> = (0..partitions.len()).collect();
        order.sort_by_key(|&index| placement.first[index]);
        self.meet_cluster();
        let mut warp = self.kernel.warps;
        let mut parts: Vec<(u32, u32, Option<usize>)> = Vec::new();
        for index in order {
            let (first, warps) = (placement.first[index], partitions[index].warps);
            if first > warp {
                parts.push((warp, first, None));
            }
            warp = first + warps;
            parts.push((first, warp, Some(index)));
        }
        if placement.warps > warp {
            parts.push((warp, placement.warps, None));
        }
        for (first, end, partition) in parts {
            let next = self.e.label();
            let last = end == placement.warps;
            if !last {
                let past = self.is_past(end);
                self.jump_if(past, false, next);
            }
            self.e.enter(FrameKind::Branch);
            if let Some(index) = partition {
                self.part(&partitions[index], first, placement.barriers[index]);
            } else {
                // A warpgroup sets its registers as a whole.
                self.release_registers(first);
                self.claim_registers(first);
            }
            self.e.effect(Opcode::Ret, &[], []);
            self.e.leave();
            if !last {
                self.e.place_label(next);
            }
        }
    }

    /// The blocks of a cluster meet with all of their threads: those of partitions take part in meetings before they begin.
    fn meet_cluster(&mut self) {
        let kernel = self.kernel;
        if kernel.meets_first() {
            self.cluster_sync();
        }
        for stmt in &kernel.body.stmts[..self.specialized().found.at] {
            if let StmtKind::Op {
                op:
                    Op::Sync(SyncOp::Cluster(
                        op @ (ClusterOp::Sync | ClusterOp::Arrive | ClusterOp::Wait),
                    )),
                ..
            } = &stmt.kind
            {
                self.e.loc = stmt.loc;
                self.cluster(*op, &[]);
            }
        }
    }

    /// A partition that begins at the warp `first`.
    fn part(&mut self, partition: &'a Partition, first: u32, barrier: Option<u32>) {
        let split = self.specialized();
        let (at, joins, ended, floor) =
            (split.found.at, split.found.joins, split.ended, split.floor);
        let warps = partition.warps;
        let meeting = barrier.map_or(Meeting::Warp, Meeting::Barrier);
        self.crew = Crew { warps, meeting, stage: Stage::Alone };
        (self.e.threads, self.e.first_thread) = (warps * LANES, first * LANES);
        (self.e.loc, self.e.place) = (partition.loc, Place::Outermost);
        self.values = ArenaMap::default();
        self.plan.at = at;
        self.plan.begin_part(floor);
        self.all_meet(first);
        if let Some(place) = ended {
            let address = self.handed_address(place);
            let flag = self.e.load(Space::Shared, FLAG, 1, address, Val::Int(1), None)[0];
            let ended = self.e.compare(Word::Ne, Type::S32, flag, Val::Int(0));
            let ended = self.e.guard(ended);
            self.e.effect_if(ended, Opcode::Ret, &[], []);
        }
        self.find_tensor_memory();
        self.take_over(&partition.body);
        let flow = self.region(&partition.body);
        if flow == Flow::Continues && joins {
            if copies(&partition.body) {
                // What follows may use their bytes for something else.
                self.copy_wait_all();
            }
            let barrier = Operand::Int(i128::from(Placement::WHOLE_BLOCK));
            let threads = self.specialized().busy_threads();
            self.e.effect(Opcode::Bar, mods![Word::Arrive], [barrier, threads]);
        }
        let floor = self.plan.end_part();
        self.split.as_mut().expect("it was there").floor = floor;
    }

    /// Computes or reads what a partition takes from outside.
    fn take_over(&mut self, body: &Region) {
        let (kernel, at) = (self.kernel, self.specialized().found.at);
        let needed = needed(kernel, at, body);
        for stmt in &kernel.body.stmts[..at] {
            self.e.loc = stmt.loc;
            for result in stmt.kind.results() {
                if !needed.contains_idx(result) {
                    continue;
                }
                if let StmtKind::Op { op, args, .. } = &stmt.kind
                    && is_made_anew(&stmt.kind)
                {
                    self.op(op, args, Some(result));
                } else {
                    self.take(result);
                }
            }
        }
    }

    /// Reads a value that a partition takes.
    fn take(&mut self, value: Value) {
        let place = self.specialized().handed[value];
        let address = self.handed_address(place);
        let elem = self.handed_elem(value);
        let taken = self.e.load(Space::Shared, elem, 1, address, Val::Int(1), None)[0];
        let data = match self.kernel.ty(value) {
            ir::Type::Shared(_) | ir::Type::Barrier(_) | ir::Type::TensorMemory(_) => {
                Data::Window(taken)
            }
            ir::Type::Scalar(_) | ir::Type::Tile(..) | ir::Type::Error => Data::Scalar(taken),
        };
        self.values.insert(value, data);
    }

    /// One thread writes what partitions cannot compute; `ended` says whether the kernel ends here.
    fn hand_over(&mut self, ended: Ended) {
        let split = self.specialized();
        let (flag, handed) = (split.ended, split.handed.clone());
        if flag.is_none() && handed.iter().next().is_none() {
            return;
        }
        let one = self.e.first_of(self.e.threads - 1);
        if let Some(place) = flag {
            let address = self.handed_address(place);
            let value = Val::Int(i64::from(ended == Ended::Yes));
            self.e.store(Space::Shared, FLAG, &[value], address, one);
        }
        if ended == Ended::Yes {
            return;
        }
        for (value, &place) in handed.iter() {
            let address = self.handed_address(place);
            let elem = self.handed_elem(value);
            let data = match &self.values[value] {
                Data::Scalar(data) | Data::Window(data) => *data,
                Data::Tile(_) => unreachable!("ir::verify rejects a tile that a partition takes"),
            };
            self.e.store(Space::Shared, elem, &[data], address, one);
        }
    }

    /// The form in which a partition takes a value: a window is a number of bytes.
    fn handed_elem(&self, value: Value) -> Elem {
        self.kernel.ty(value).elem().unwrap_or(Elem::Number(Dtype::U32))
    }

    fn handed_address(&mut self, place: u32) -> Operand {
        let base = self.shared_base();
        self.e.at(base, i64::from(self.plan.handed + place))
    }

    /// The default partition, in the kernel's own warps.
    pub(crate) fn default_part(&mut self, default: &Region, results: &[Value]) -> Flow {
        self.hand_over(Ended::No);
        self.all_meet(0);
        self.crew.stage = Stage::Alone;
        self.plan.begin_part(0);
        let flow = self.region(default);
        if flow == Flow::Continues && self.specialized().found.joins {
            self.whole_barrier();
        }
        let floor = self.plan.end_part();
        self.split.as_mut().expect("it was there").floor = floor;
        if let Terminator::Yield(values) = &default.end {
            let data: Vec<Data> = match flow {
                Flow::Continues => values.iter().map(|&value| self.values[value].clone()).collect(),
                Flow::Ends => Vec::new(),
            };
            self.bind(results, &data);
        }
        flow
    }

    /// Ends the kernel for the threads that run what is emitted.
    pub(crate) fn leave_block(&mut self) {
        if self.crew.stage == Stage::Before {
            self.hand_over(Ended::Yes);
            self.all_meet(0);
        }
        self.release_tensor_memory();
        self.e.effect(Opcode::Ret, &[], []);
    }

    /// All warps with something to do meet; `first` is one of those that run this code.
    ///
    /// Warps release registers before and request them after it, so no warp waits for registers of one that
    /// waits for it.
    fn all_meet(&mut self, first: u32) {
        self.release_registers(first);
        self.whole_barrier();
        self.claim_registers(first);
    }

    fn whole_barrier(&mut self) {
        let barrier = Operand::Int(i128::from(Placement::WHOLE_BLOCK));
        let threads = self.specialized().busy_threads();
        let sync = Instruction::new(Opcode::Bar, mods![Word::Sync], [barrier, threads]);
        self.e.meeting(sync, 0, Meets::CrewAndMore);
        self.plan.busy = 0;
    }

    /// Releases registers, if the warps of this warpgroup have more than their budget.
    fn release_registers(&mut self, warp: u32) {
        self.set_registers(warp, Word::Dec);
    }

    /// Waits for registers, if the warps of this warpgroup have less than their budget.
    fn claim_registers(&mut self, warp: u32) {
        self.set_registers(warp, Word::Inc);
    }

    fn set_registers(&mut self, warp: u32, word: Word) {
        let placement = &self.specialized().placement;
        let Some(budget) = placement.registers_of(warp) else { return };
        let wanted = if budget < placement.registers_at_entry() { Word::Dec } else { Word::Inc };
        if word == wanted {
            let modifiers = mods![word, Word::Sync, Word::Aligned, Type::U32];
            self.e.effect(Opcode::Setmaxnreg, modifiers, [Operand::Int(i128::from(budget))]);
        }
    }

    /// Every thread that runs what is emitted waits for the others.
    pub(crate) fn barrier(&mut self) {
        let sync = match self.crew.barrier() {
            Some(barrier) => Instruction::new(Opcode::Bar, mods![Word::Sync], barrier),
            None => warp_sync(),
        };
        self.e.meeting(sync, 0, Meets::Crew);
        self.plan.busy = 0;
    }
}

/// Whether the kernel ends before its warps are specialised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// It does.
    Yes,
    /// It does not.
    No,
}
