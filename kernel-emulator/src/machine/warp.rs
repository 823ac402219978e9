//! A warp: registers, diverged fragments, and the loop that runs them.
//!
//! Lanes that branch apart become fragments, each with a program counter. They meet again where
//! their paths do (the immediate post-dominator of the branch), as on hardware with convergence
//! barriers. Waiting there is a preference, not a rule: when nothing else can run, or the lanes
//! waited for spin for long, the waiting lanes go on alone, so that a lane that holds a lock can
//! always release it. Warp-wide instructions gather the lanes they need wherever those are.

pub(crate) mod spin;

use self::spin::Spin;
use super::join::Joins;
use super::loads::Loads;
use super::warpgroup::Products;
use super::{Cluster, Context, Registers};
use crate::code::{Base, Class, Inst, Members, NOWHERE, Op, Pred, Slot, W};
use crate::exec;
use crate::exec::async_copy::Copies;
use crate::exec::bulk::group::Groups;
use crate::fault::{ByZero, FaultKind, Passed, Run, Trap, Unwritten};
use crate::memory::local::Local;
use crate::memory::race::{Accessor, Threads};

/// Instructions after which lanes stop waiting at a join for others that spin.
const PATIENCE: u64 = 200_000;

/// Lanes of a warp that run together.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) state: State,
    /// Open joins, innermost last.
    joins: Vec<u32>,
    /// Return addresses, innermost last, as indices of the calling instructions.
    calls: Vec<u32>,
    spin: Spin,
}

/// What a fragment waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// For the other lanes of its innermost join.
    Join,
    /// For lanes that a warp-wide instruction needs.
    Members(u32),
    /// For a named barrier to complete the generation.
    Barrier {
        id: u8,
        generation: u64,
    },
    /// For the barrier of the cluster.
    Cluster {
        generation: u64,
    },
    /// For the other warps of a warpgroup.
    Warpgroup {
        group: u8,
        generation: u64,
    },
    /// For this many registers a thread.
    Registers {
        count: u32,
    },
    /// For the other block of a pair, to begin what both do together.
    Partner {
        begun: usize,
    },
    /// For this many columns of tensor memory.
    Columns {
        count: u32,
    },
    /// For a phase of an mbarrier: for anything to happen in the block, to look again.
    Mbarrier {
        seen: u64,
        /// The word of the block's shared memory, and the parity of the phase.
        word: u32,
        parity: bool,
    },
}

/// What an instruction asks of the loop that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Go on.
    Next,
    /// Go on, but let others run first.
    Yield,
    /// Wait; execute the following instruction after that.
    Wait(State),
    /// Wait, then execute this instruction again.
    Retry(State),
}

/// One warp.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    /// The block, in its cluster.
    pub(crate) block: u32,
    /// Index in the block.
    pub(crate) index: u32,
    /// The lanes that exist.
    pub(crate) initial: u32,
    /// The lanes that have not left.
    pub(crate) live: u32,
    pub(crate) fragments: Vec<Fragment>,
    /// The fragment that runs.
    current: usize,
    joins: Joins,
    pub(crate) regs: Registers,
    pub(crate) local: Local,
    /// The carry flag of each lane.
    pub(crate) carry: u32,
    pub(crate) copies: Copies,
    /// Bulk copies to global memory.
    pub(crate) bulk: Groups,
    pub(crate) products: Products,
    pub(crate) loads: Loads,
    /// Index of the allocation of the last global access.
    pub(crate) guess: usize,
    /// The last load that brought bytes never written.
    pub(crate) unwritten: Option<Unwritten>,
    /// The last division of an integer by zero.
    pub(crate) by_zero: Option<ByZero>,
    /// Instructions that ran while lanes waited at joins.
    waited: u64,
    /// Lanes whose waits return without result, because nothing else can run.
    pub(crate) timeout: bool,
    /// The lanes that arrived at the cluster barrier and have not waited, and for which generation.
    pub(crate) cluster_arrived: u32,
    pub(crate) cluster_generation: u64,
    /// The instruction that runs, for faults.
    pub(crate) pc: u32,
    /// The last wait for each of some mbarriers, for faults.
    pub(crate) passed: Vec<Passed>,
    /// The phases of mbarriers that it has been told are not over: barrier and parity.
    pub(crate) asked: Vec<((usize, usize), bool)>,
}

/// Mbarriers whose last wait a warp remembers.
const REMEMBERED: usize = 32;

impl Warp {
    /// Makes it the warp `index` of a block of `threads` threads, at the start of the kernel.
    pub(crate) fn reset(&mut self, (block, index): (u32, u32), threads: u32) {
        let lanes = (threads - index * 32).min(32);
        (self.block, self.index) = (block, index);
        self.initial = u32::MAX >> (32 - lanes);
        self.live = self.initial;
        self.fragments.clear();
        self.fragments.push(Fragment {
            pc: 0,
            mask: self.initial,
            state: State::Ready,
            joins: Vec::new(),
            calls: Vec::new(),
            spin: Spin::default(),
        });
        self.current = 0;
        self.joins.reset();
        self.carry = 0;
        self.copies.reset();
        self.bulk.reset();
        (self.unwritten, self.by_zero) = (None, None);
        self.waited = 0;
        self.timeout = false;
        self.cluster_arrived = 0;
        self.cluster_generation = 0;
        self.passed.clear();
        self.asked.clear();
    }

    /// A wait for an mbarrier is over, the executing instruction.
    pub(crate) fn pass(&mut self, barrier: (usize, usize), parity: bool) {
        let before = self.passed.iter().position(|passed| passed.barrier == barrier);
        let before = before.map(|at| self.passed.remove(at));
        if self.passed.len() == REMEMBERED {
            self.passed.remove(0);
        }
        let again = before.is_some_and(|before| before.parity == parity);
        self.passed.push(Passed { barrier, pc: self.pc, parity, again });
    }

    /// Lanes of this warp, for the detector of races.
    pub(crate) fn threads(&self, mask: u32) -> Threads {
        Threads { block: self.block, warp: self.index, mask, live: self.live }
    }

    /// The block, in its cluster, and this warp.
    pub(crate) fn seat(&self) -> (u32, u32) {
        (self.block, self.index)
    }

    /// A lane of this warp, for the same.
    pub(crate) fn accessor(&self) -> Accessor {
        Accessor { block: self.block, warp: self.index, pc: self.pc }
    }

    /// Whether every lane left.
    pub(crate) fn done(&self) -> bool {
        self.fragments.is_empty()
    }

    /// Runs until nothing can, or `budget` instructions ran. Returns how many did.
    pub(crate) fn run(&mut self, cx: &mut Context<'_>, budget: u64) -> Run<u64> {
        let mut left = budget;
        while left > 0 {
            let Some(index) = self.ready(cx) else { break };
            self.current = index;
            let before = left;
            let yielded = self.run_fragment(cx, &mut left)? || self.spins(cx);
            if self.fragments.iter().any(|f| f.state == State::Join) {
                self.waited += before - left;
                if self.waited > PATIENCE {
                    self.release_joins(cx);
                }
            }
            if yielded {
                self.current += 1;
                break;
            }
        }
        if left == 0 {
            // The next turn starts with another fragment, so spinning lanes starve no others.
            self.current += 1;
        }
        Ok(budget - left)
    }

    /// Whether a fragment waits for nothing, or for what has happened.
    #[inline]
    fn can_run(&self, cx: &Context<'_>, fragment: &Fragment) -> bool {
        let block = &cx.cluster.blocks[cx.block];
        match fragment.state {
            State::Ready => true,
            State::Join | State::Members(_) => false,
            State::Barrier { id, generation } => {
                block.barriers[usize::from(id)].generation != generation
            }
            State::Cluster { generation } => cx.cluster.barrier.generation != generation,
            State::Warpgroup { group, generation } => {
                block.warpgroups[usize::from(group)].generation != generation
            }
            State::Registers { count } => {
                let own = block.registers.warps[self.index as usize];
                block.registers.free >= 32 * (count - own)
            }
            State::Partner { begun } => cx.cluster.blocks[cx.block ^ 1].tensor.begun.len() > begun,
            State::Columns { count } => {
                cx.launch.multiprocessors.room(&cx.seats(), count).is_some()
            }
            State::Mbarrier { seen, .. } => block.events != seen || self.timeout,
        }
    }

    /// The next fragment that can run, from the current one on.
    fn ready(&mut self, cx: &mut Context<'_>) -> Option<usize> {
        let count = self.fragments.len();
        for step in 0..count {
            let index = (self.current + step) % count;
            if self.can_run(cx, &self.fragments[index]) {
                let fragment = &mut self.fragments[index];
                let state = std::mem::replace(&mut fragment.state, State::Ready);
                if let State::Barrier { id, .. } = state {
                    let (pc, mask) = (fragment.pc, fragment.mask);
                    fragment.pc += 1;
                    let Cluster { races, blocks, .. } = &mut *cx.cluster;
                    let barrier = &blocks[cx.block].barriers[usize::from(id)];
                    races.acquire(self.threads(mask), &barrier.released);
                    let result = barrier.result;
                    exec::barrier::finish(self, cx.inst(pc), result, mask);
                } else if let State::Cluster { .. } = state {
                    let mask = fragment.mask;
                    exec::barrier::cluster_met(cx, self.threads(mask));
                }
                return Some(index);
            }
        }
        None
    }

    /// Lets lanes that wait at joins go on alone, unless those for which they wait are seen to come. Whether there were any.
    pub(crate) fn release_joins(&mut self, cx: &Context<'_>) -> bool {
        self.waited = 0;
        let mut any = false;
        for fragment in &mut self.fragments {
            if fragment.state == State::Join && !fragment.repeats(cx.cluster.changes) {
                fragment.unsettle();
                let join = fragment.joins.pop().expect("a fragment waits at its innermost join");
                self.joins.forget(join, fragment.mask);
                fragment.state = State::Ready;
                any = true;
            }
        }
        any
    }

    /// Runs the current fragment. Whether it gave way to others.
    fn run_fragment(&mut self, cx: &mut Context<'_>, left: &mut u64) -> Run<bool> {
        let launch = cx.launch;
        let insts: &[Inst] = &launch.code.insts;
        let fragment = &self.fragments[self.current];
        let (mut pc, mut mask) = (fragment.pc, fragment.mask);
        let mut stop = self.stop();
        loop {
            if pc == stop {
                self.fragments[self.current].pc = pc;
                if !self.arrive() {
                    return Ok(false);
                }
                mask = self.fragments[self.current].mask;
                stop = self.stop();
                continue;
            }
            if *left == 0 {
                self.fragments[self.current].pc = pc;
                return Ok(false);
            }
            *left -= 1;
            let inst = &insts[pc as usize];
            self.pc = pc;
            let active = match inst.guard {
                None => mask,
                Some(guard) => self.guard(guard, mask)?,
            };
            cx.counters.warp_instructions += 1;
            cx.counters.lane_instructions += u64::from(active.count_ones());
            if let Some(trace) = &mut cx.cluster.trace {
                trace.begin(self.seat(), pc, active);
            }
            if active == 0 {
                pc += 1;
                continue;
            }
            if inst.class != Class::Control {
                if inst.class == Class::Watched {
                    let touched = self.touch(pc, &launch.code.watched[pc as usize]);
                    touched.or_else(|trap| cx.found(trap))?;
                }
                let flow = exec::step(cx, self, &inst.op, active)?;
                self.note(cx);
                match flow {
                    Flow::Next => pc += 1,
                    Flow::Yield => {
                        self.fragments[self.current].pc = pc + 1;
                        return Ok(true);
                    }
                    flow @ (Flow::Wait(_) | Flow::Retry(_)) => {
                        unreachable!("plain instructions do not wait: {flow:?}")
                    }
                }
                continue;
            }
            self.fragments[self.current].pc = pc;
            let goes_on = self.control(cx, inst, pc, active)?;
            self.note(cx);
            if !goes_on {
                return Ok(false);
            }
            let fragment = &self.fragments[self.current];
            (pc, mask) = (fragment.pc, fragment.mask);
            stop = self.stop();
        }
    }

    /// Takes down the hazards that the instruction met.
    #[inline]
    fn note(&self, cx: &mut Context<'_>) {
        if !cx.cluster.found.get_mut().is_empty() {
            cx.counters.findings.note(cx.launch, (cx.cluster, cx.block), self);
        }
    }

    /// An instruction touches registers that some `wgmma` or `tcgen05.ld` uses.
    fn touch(&mut self, pc: u32, registers: &[W]) -> Run<()> {
        self.products.touch(pc, registers)?;
        self.loads.touch(registers)
    }

    /// The lanes whose guard holds.
    #[inline]
    fn guard(&self, guard: Pred, mask: u32) -> Run<u32> {
        let undefined = mask & !self.regs.p_defined(guard.slot);
        if undefined != 0 {
            return Err(exec::uninitialised(
                self,
                Slot::P(guard.slot),
                undefined,
                "decides whether the instruction runs",
            ));
        }
        Ok(self.regs.pred(guard) & mask)
    }

    /// Where the current fragment meets other lanes next.
    fn stop(&self) -> u32 {
        let fragment = &self.fragments[self.current];
        fragment.joins.last().map_or(NOWHERE, |&join| self.joins.pc(join))
    }

    /// The current fragment reached its innermost join. Whether it can go on.
    fn arrive(&mut self) -> bool {
        let fragment = &mut self.fragments[self.current];
        fragment.state = State::Join;
        let join = *fragment.joins.last().expect("only a fragment with a join arrives at one");
        self.try_merge(join)
    }

    /// Merges the fragments that wait at a join if all that are expected are there; the merged one
    /// becomes the current one.
    fn try_merge(&mut self, join: u32) -> bool {
        let waits = |f: &Fragment| f.state == State::Join && f.joins.last() == Some(&join);
        let there = self.fragments.iter().filter(|f| waits(f)).fold(0, |m, f| m | f.mask);
        if there == 0 || there != self.joins.members(join) {
            return false;
        }
        self.waited = 0;
        self.joins.close(join);
        let first =
            self.fragments.iter().position(waits).expect("a lane is there, so a fragment is");
        let mut index = 0;
        self.fragments.retain(|f| {
            let keep = index == first || !waits(f);
            index += 1;
            keep
        });
        let fragment = &mut self.fragments[first];
        fragment.mask = there;
        fragment.joins.pop();
        fragment.state = State::Ready;
        self.current = first;
        true
    }

    /// Executes an instruction that is more than a step to the next. Whether the current fragment can go on.
    fn control(&mut self, cx: &mut Context<'_>, inst: &Inst, pc: u32, active: u32) -> Run<bool> {
        let mask = self.fragments[self.current].mask;
        let joins = &cx.launch.code.joins;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "`Op::class` names the others, and is exhaustive"
        )]
        match &inst.op {
            Op::Bra { target } => {
                if active == mask {
                    self.fragments[self.current].pc = *target;
                    return Ok(*target > pc || self.branch_back(cx, *target));
                }
                self.part(joins[pc as usize], &[(active, *target), (mask & !active, pc + 1)]);
                return Ok(true);
            }
            Op::BrxIdx { index, targets } => {
                let undefined = active & !self.regs.w_defined(*index);
                if undefined != 0 {
                    return Err(exec::uninitialised(
                        self,
                        Slot::W(*index),
                        undefined,
                        "chooses the branch target",
                    ));
                }
                let mut parts: Vec<(u32, u32)> = Vec::new();
                if active != mask {
                    parts.push((mask & !active, pc + 1));
                }
                let values = *self.regs.w(*index);
                for lane in lanes(active) {
                    let Some(&target) = targets.get(values[lane] as usize) else {
                        return Err(Trap::new(
                            FaultKind::IllegalOperand,
                            format!(
                                "the branch index is {}, the table has {} targets",
                                values[lane],
                                targets.len()
                            ),
                        )
                        .lane(lane_number(lane)));
                    };
                    match parts.iter_mut().find(|part| part.1 == target) {
                        Some(part) => part.0 |= 1 << lane,
                        None => parts.push((1 << lane, target)),
                    }
                }
                self.part(joins[pc as usize], &parts);
                return Ok(true);
            }
            _ => {}
        }
        if active != mask && !matches!(inst.op, Op::Exit) {
            // The lanes whose guard fails wait after the instruction.
            self.part(pc + 1, &[(active, pc), (mask & !active, pc + 1)]);
        }
        if let Some(registers) = cx.launch.code.watched.get(pc as usize) {
            self.touch(pc, registers).or_else(|trap| cx.found(trap))?;
        }
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "`Op::class` names the others, and is exhaustive"
        )]
        match &inst.op {
            Op::Call(call) => {
                exec::control::enter(self, call, active);
                let fragment = &mut self.fragments[self.current];
                fragment.calls.push(pc);
                fragment.pc = call.target;
                Ok(true)
            }
            Op::Ret => {
                let caller = self.fragments[self.current].calls.pop();
                let caller = caller.expect("decode turns the `ret` of an entry into `exit`");
                if let Op::Call(call) = &cx.inst(caller).op {
                    exec::control::leave(self, call, active);
                }
                self.fragments[self.current].pc = caller + 1;
                Ok(true)
            }
            Op::Exit => {
                exec::wgmma::leaves(cx, self)?;
                if self.live & !active == 0 && cx.launch.code.registers.is_some() {
                    exec::setmaxnreg::leaves(cx, self)?;
                }
                Ok(self.exit(cx, active))
            }
            op => {
                let members = match op.members() {
                    Some(members) => self.needed(members, active)?,
                    None => 0,
                };
                self.gather(cx, op, pc, active, members)
            }
        }
    }

    /// The live lanes that a warp-wide instruction needs.
    fn needed(&self, members: Members, active: u32) -> Run<u32> {
        let mask = match members {
            Members::All => u32::MAX,
            Members::Mask(slot) => {
                let undefined = active & !self.regs.w_defined(slot);
                if undefined != 0 {
                    let use_ = "is the member mask";
                    return Err(exec::uninitialised(self, Slot::W(slot), undefined, use_));
                }
                let masks = self.regs.w(slot);
                let mut all = 0;
                for lane in lanes(active) {
                    if masks[lane] >> lane & 1 == 0 {
                        return Err(Trap::new(
                            FaultKind::WarpDivergence,
                            format!(
                                "the lane executes the instruction without being in its own member mask {:#010x}",
                                masks[lane]
                            ),
                        )
                        .lane(lane_number(lane)));
                    }
                    all |= masks[lane];
                }
                all
            }
        };
        Ok(mask & self.live)
    }

    /// Lanes wait for one another: those with one member mask.
    fn meet(&self, cx: &mut Context<'_>, members: Option<Members>, there: u32) {
        let mut rest = if members.is_some() { there } else { 0 };
        while rest != 0 {
            let together = match members {
                Some(Members::Mask(slot)) => {
                    let masks = self.regs.w(slot);
                    let first = masks[rest.trailing_zeros() as usize];
                    let same = lanes(rest).filter(|&lane| masks[lane] == first);
                    same.fold(0, |found, lane| found | 1 << lane)
                }
                Some(Members::All) | None => rest,
            };
            cx.cluster.races.meet(self.threads(together));
            rest &= !together;
        }
    }

    /// Executes a warp-wide instruction once the lanes it needs are there. Whether the current fragment can go on.
    fn gather(
        &mut self,
        cx: &mut Context<'_>,
        op: &Op,
        pc: u32,
        active: u32,
        needed: u32,
    ) -> Run<bool> {
        let mut there = active;
        let insts = &cx.launch.code.insts;
        // `bar.warp.sync` is for one mask, and not for one place (PTX ISA, "bar.warp.sync").
        let elsewhere = |f: &Fragment| {
            matches!((op, &insts[f.pc as usize].op), (Op::WarpSync { .. }, Op::WarpSync { .. }))
                && f.state == State::Members(needed)
        };
        let waits =
            |f: &Fragment| matches!(f.state, State::Members(_)) && f.pc == pc || elsewhere(f);
        if needed & !active != 0 {
            there |= self.fragments.iter().filter(|f| waits(f)).fold(0, |m, f| m | f.mask);
            if needed & !there > 0 {
                self.fragments[self.current].state = State::Members(needed);
                if let Some(trace) = &mut cx.cluster.trace {
                    trace.undo(self.seat());
                }
                return Ok(false);
            }
        }
        // The mask is in another register where lanes are at another `bar.warp.sync`.
        let everywhere = matches!(op, Op::WarpSync { .. }) && there != active;
        let members = if everywhere { Some(Members::All) } else { op.members() };
        let members = if op.orders_lanes() { members } else { None };
        self.meet(cx, members, there);
        let flow = exec::step(cx, self, op, there)?;
        self.meet(cx, members, there);
        if matches!(flow, Flow::Retry(_)) {
            // It counts when it is over.
            cx.counters.warp_instructions -= 1;
            cx.counters.lane_instructions -= u64::from(active.count_ones());
            if let Some(trace) = &mut cx.cluster.trace {
                trace.undo(self.seat());
            }
        }
        let current = self.current;
        for (index, fragment) in self.fragments.iter_mut().enumerate() {
            if index == current || there != active && waits(fragment) {
                match flow {
                    Flow::Next | Flow::Yield => {
                        fragment.pc += 1;
                        fragment.state = State::Ready;
                    }
                    Flow::Wait(state) => {
                        fragment.state = state;
                        // A barrier needs its instruction once more, to give its result.
                        if !matches!(state, State::Barrier { .. }) {
                            fragment.pc = pc + 1;
                        }
                    }
                    Flow::Retry(state) => fragment.state = state,
                }
            }
        }
        if there != active {
            self.merge_equal();
        }
        Ok(matches!(flow, Flow::Next | Flow::Yield))
    }

    /// Merges fragments with the current one that differ from it in their lanes only.
    fn merge_equal(&mut self) {
        let current = self.fragments[self.current].clone();
        let mut mask = 0;
        let mut index = 0;
        let mut kept = 0;
        let at = self.current;
        self.fragments.retain(|f| {
            let same = f.pc == current.pc
                && f.state == current.state
                && f.joins == current.joins
                && f.calls == current.calls;
            if same {
                mask |= f.mask;
            }
            let keep = !same || index == at;
            if keep && index < at {
                kept += 1;
            }
            index += 1;
            keep
        });
        self.current = kept;
        self.fragments[kept].mask = mask;
    }

    /// Parts the current fragment; the parts meet again at `join`.
    fn part(&mut self, join: u32, parts: &[(u32, u32)]) {
        let [(mask, pc), others @ ..] = parts else { unreachable!("a branch goes somewhere") };
        if others.is_empty() {
            self.fragments[self.current].pc = *pc;
            return;
        }
        let fragment = &mut self.fragments[self.current];
        let inner = fragment.joins.last().map(|&join| self.joins.pc(join));
        // Lanes that leave a loop one after another all wait at one join.
        if join != NOWHERE && inner != Some(join) {
            fragment.joins.push(self.joins.open(join, fragment.mask));
        }
        let template = fragment.clone();
        fragment.mask = *mask;
        fragment.pc = *pc;
        for &(mask, pc) in others {
            self.fragments.push(Fragment { pc, mask, ..template.clone() });
        }
    }

    /// Lanes leave the kernel. Whether the current fragment can go on.
    fn exit(&mut self, cx: &mut Context<'_>, lanes: u32) -> bool {
        self.live &= !lanes;
        cx.cluster.threads -= lanes.count_ones();
        let arrived = lanes & self.cluster_arrived;
        if arrived != 0 && self.cluster_generation == cx.cluster.barrier.generation {
            cx.cluster.barrier.arrived -= arrived.count_ones();
        }
        exec::barrier::cluster_check(cx);
        self.joins.forget_everywhere(lanes);
        let fragment = &mut self.fragments[self.current];
        fragment.mask &= !lanes;
        fragment.pc += 1;
        let gone = fragment.mask == 0;
        if gone {
            self.fragments.remove(self.current);
            self.current = 0;
        }
        // Those who waited for the lanes at a join, or for a warp-wide instruction, look again.
        let waiting: Vec<u32> = self
            .fragments
            .iter()
            .filter(|f| f.state == State::Join)
            .filter_map(|f| f.joins.last().copied())
            .collect();
        let current = self.current;
        for join in waiting {
            self.try_merge(join);
        }
        for fragment in &mut self.fragments {
            if let State::Members(needed) = fragment.state
                && needed & lanes != 0
            {
                fragment.state = State::Ready;
            }
        }
        if gone || self.current != current {
            // A merge changed which fragment is the current one: choose anew.
            self.current = 0;
            return false;
        }
        true
    }
}

/// The lanes of a mask, in order.
#[inline]
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// A lane as a fault reports it.
pub(crate) fn lane_number(lane: usize) -> u32 {
    u32::try_from(lane).expect("a warp has 32 lanes")
}

/// Whether an address operand reads a register.
pub(crate) fn base_slot(base: Base) -> Option<Slot> {
    match base {
        Base::W(slot) => Some(Slot::W(slot)),
        Base::D(slot) => Some(Slot::D(slot)),
        Base::None => None,
    }
}
