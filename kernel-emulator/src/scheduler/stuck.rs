//! What to say of a cluster in which nothing can run: who waits for what.

use std::fmt::Write;

use super::livelock::{Polling, Polls};
use super::{Unit, locate, words};
use crate::code::Op;
use crate::exec::barrier::pending;
use crate::fault::{Fault, FaultKind, Trap};
use crate::machine::warp::Fragment;
use crate::machine::warpgroup::WARPS;
use crate::machine::{Block, Launch, State, Warp};

/// Waits that a message lists at most.
pub(super) const LISTED: usize = 8;

/// Lanes that wait.
#[derive(Clone, Copy)]
pub(super) struct Waiting<'a> {
    /// The place of the block in the cluster.
    pub(super) block: usize,
    pub(super) warp: &'a Warp,
    pub(super) fragment: &'a Fragment,
    /// Where they repeat a loop: what they look at in it.
    pub(super) polls: Option<&'a Polls>,
}

impl Waiting<'_> {
    /// The instruction that waits.
    pub(super) fn pc(&self) -> u32 {
        if let Some(look) = self.polls.and_then(Polls::decisive) {
            return look.pc;
        }
        // A fragment at the cluster barrier continues with the next one.
        self.fragment.pc - u32::from(matches!(self.fragment.state, State::Cluster { .. }))
    }
}

/// Lanes that wait at one place for one thing.
struct Group {
    block: usize,
    /// Line of the PTX text.
    line: u32,
    pc: u32,
    what: String,
    /// The warps, each with the lanes if they are not all that it has.
    warps: Vec<(u32, Option<u32>)>,
}

impl Group {
    /// The warps, with the partition that they run.
    fn who(&self, launch: &Launch<'_>) -> String {
        let warps: Vec<u32> = self.warps.iter().map(|(warp, _)| *warp).collect();
        if self.warps.iter().all(|(_, lanes)| lanes.is_none()) {
            return named_warps(launch, &warps);
        }
        let one = |(warp, lanes): &(u32, Option<u32>)| match lanes {
            Some(lanes) => format!("{warp} (lanes {lanes:#010x})"),
            None => warp.to_string(),
        };
        let all: Vec<String> = self.warps.iter().map(one).collect();
        let plural = if all.len() == 1 { "warp" } else { "warps" };
        format!("{plural} {}{}", all.join(", "), words::partition(launch, &warps))
    }
}

/// `warps 4 to 7 (the partition at kernel.rs:12:5)`
fn named_warps(launch: &Launch<'_>, warps: &[u32]) -> String {
    let plural = if warps.len() == 1 { "warp" } else { "warps" };
    format!("{plural} {}{}", words::list(warps), words::partition(launch, warps))
}

impl Unit {
    pub(super) fn block_of(&self, waiting: Waiting<'_>) -> &Block {
        &self.cluster.blocks[waiting.block]
    }

    /// The fault of a cluster in which nothing can run.
    pub(super) fn stuck(&self, launch: &Launch<'_>) -> Fault {
        let polling = Polling::new();
        let all = self.waiting(&polling);
        let of = |f: &dyn Fn(State) -> bool| all.iter().find(|w| f(w.fragment.state)).copied();
        // Lanes that wait for other lanes of their warp come first: theirs is the local cause.
        let members = of(&|s| matches!(s, State::Members(_)));
        let group = of(&|s| matches!(s, State::Warpgroup { .. } | State::Registers { .. }));
        let barrier = of(&|s| matches!(s, State::Barrier { .. }));
        // Who waits for other blocks comes last: what these wait for is the cause.
        let local = of(&|s| !matches!(s, State::Cluster { .. }));
        let first = members.or(group).or(barrier).or(local).or_else(|| all.first().copied());
        let first = first.expect("somebody waits");
        let (block, fragment) = (self.block_of(first), first.fragment);
        let (kind, mut detail) = match fragment.state {
            State::Members(needed) => {
                let aligned = matches!(launch.code.insts[first.pc() as usize].op, Op::Bar(_));
                let kind =
                    if aligned { FaultKind::BarrierDivergence } else { FaultKind::WarpDivergence };
                (
                    kind,
                    format!(
                        "lanes {:#010x} execute it, but it needs {needed:#010x}",
                        fragment.mask
                    ),
                )
            }
            State::Barrier { id, .. } => {
                let state = &block.barriers[usize::from(id)];
                let left: u32 = self.warps[first.block].iter().map(left).sum();
                let mut detail =
                    format!("{} of {} threads are at barrier {id}", state.arrived, state.required);
                if left > 0 {
                    let _ = write!(detail, ", {left} threads of the block have left the kernel");
                }
                let other = |w: &Waiting<'_>| {
                    w.block == first.block
                        && matches!(w.fragment.state, State::Barrier { id: other, .. } if other != id)
                };
                let divergence = left > 0 || all.iter().any(other);
                let kind =
                    if divergence { FaultKind::BarrierDivergence } else { FaultKind::Deadlock };
                (kind, detail)
            }
            State::Warpgroup { .. } => (FaultKind::WarpDivergence, self.wait(launch, first)),
            State::Cluster { .. }
            | State::Mbarrier { .. }
            | State::Registers { .. }
            | State::Partner { .. }
            | State::Columns { .. } => (FaultKind::Deadlock, self.wait(launch, first)),
            State::Ready | State::Join => (FaultKind::Deadlock, "nothing can run".to_owned()),
        };
        detail.push_str(&self.others(launch, first, &all));
        let trap = Trap::new(kind, detail).at(first.pc()).lane(fragment.mask.trailing_zeros());
        locate(launch, &trap, block.id, first.warp)
    }

    /// What the others wait for, those at one place for one thing together, and which have ended.
    pub(super) fn others(
        &self,
        launch: &Launch<'_>,
        first: Waiting<'_>,
        all: &[Waiting<'_>],
    ) -> String {
        let mut groups: Vec<Group> = Vec::new();
        for waiting in all {
            if std::ptr::eq(waiting.fragment, first.fragment) {
                continue;
            }
            let (line, what) =
                (launch.code.origins[waiting.pc() as usize].line, self.wait(launch, *waiting));
            let warp = waiting.warp.index;
            let mask = waiting.fragment.mask;
            let lanes = (mask != waiting.warp.live).then_some(mask);
            match groups.iter_mut().find(|group| {
                (group.block, group.line, &group.what) == (waiting.block, line, &what)
            }) {
                Some(group) => group.warps.push((warp, lanes)),
                None => groups.push(Group {
                    block: waiting.block,
                    line,
                    pc: waiting.pc(),
                    what,
                    warps: vec![(warp, lanes)],
                }),
            }
        }
        let own = (first.block, launch.code.origins[first.pc() as usize].line);
        let mut text = String::new();
        for group in groups.iter().take(LISTED) {
            let who = format!("; {}{}", group.who(launch), self.named_block(group.block));
            let _ = if (group.block, group.line) == own && group.what == self.wait(launch, first) {
                let waits = if group.warps.len() == 1 { "waits" } else { "wait" };
                write!(text, "{who} {waits} there too")
            } else {
                let place = words::short_place(launch, group.pc);
                write!(text, "{who} {place}: {}", group.what)
            };
        }
        if let Some(more) = groups.len().checked_sub(LISTED + 1) {
            let _ = write!(text, "; and {} other waits", more + 1);
        }
        text + &self.ended(launch)
    }

    /// Which block of several.
    fn named_block(&self, block: usize) -> String {
        if self.warps.len() == 1 {
            return String::new();
        }
        let [x, y, z] = self.cluster.blocks[block].id;
        format!(" of block ({x}, {y}, {z})")
    }

    /// The warps that have left the kernel, of the blocks that have not.
    fn ended(&self, launch: &Launch<'_>) -> String {
        let mut text = String::new();
        for (block, warps) in self.warps.iter().enumerate() {
            let ended = warps.iter().filter(|warp| warp.done()).map(|warp| warp.index);
            let mut ended: Vec<u32> = ended.collect();
            if ended.len() == warps.len() {
                continue;
            }
            // Each partition by itself, as it has a place in the source.
            while let [first, ..] = ended[..] {
                let same = |warp: &u32| words::same_part(launch, [first, *warp]);
                let (part, rest): (Vec<u32>, Vec<u32>) = ended.into_iter().partition(same);
                let have = if part.len() == 1 { "has" } else { "have" };
                let who = named_warps(launch, &part);
                let _ = write!(text, "; {who}{} {have} ended", self.named_block(block));
                ended = rest;
            }
        }
        text
    }

    /// What the other blocks of a multiprocessor hold of its tensor memory.
    fn held_by_others(&self, launch: &Launch<'_>, block: &Block) -> String {
        let all = &launch.multiprocessors;
        let mut text = String::new();
        for seat in all.together(self.index, block.rank) {
            for (held, waits) in all.others(seat) {
                let [x, y, z] = launch.block_id(held.seat.cluster, held.seat.rank);
                let end = held.start + held.columns;
                let _ = write!(text, ", block ({x}, {y}, {z}) columns {}..{end}", held.start);
                if held.seat.cluster == self.index {
                    text.push_str(" of the same cluster, in which nothing can run");
                } else if waits {
                    text.push_str(" and waits for others itself");
                }
            }
        }
        text
    }

    /// What lanes wait for.
    pub(super) fn wait(&self, launch: &Launch<'_>, waiting: Waiting<'_>) -> String {
        let block = self.block_of(waiting);
        if let Some(polls) = waiting.polls {
            return polls.text(launch, block);
        }
        match waiting.fragment.state {
            State::Members(needed) => {
                format!("waits for lanes {:#010x}", needed & !waiting.fragment.mask)
            }
            State::Barrier { id, .. } => {
                let state = &block.barriers[usize::from(id)];
                let (arrived, required) = (state.arrived, state.required);
                if required == 0 {
                    return format!("goes on from barrier {id}, where all threads have been");
                }
                format!("waits at barrier {id}, where {arrived} of {required} threads are")
            }
            State::Warpgroup { group, .. } => {
                let here = &block.warpgroups[usize::from(group)];
                let missing: Vec<String> = (0..WARPS)
                    .filter(|member| here.waiting >> member & 1 == 0)
                    .map(|member| self.missing(waiting.block, u32::from(group) * WARPS + member))
                    .collect();
                let missing = missing.join(", ");
                format!("the four warps of a warpgroup execute it together, and {missing}")
            }
            State::Cluster { .. } => {
                let (arrived, required) = (self.cluster.barrier.arrived, self.cluster.threads);
                format!(
                    "waits at the cluster barrier, where {arrived} of {required} threads arrived"
                )
            }
            State::Registers { count } => {
                let (pool, warp) = (&block.registers, waiting.warp.index);
                let own = pool.warps[warp as usize];
                let (needed, free) = (32 * (count - own), pool.free);
                format!(
                    "waits for {count} registers a thread, and has {own}: warp {warp} needs {needed} more, of the block's {} there are {free} that no warp has",
                    32 * pool.warps.iter().sum::<u32>() + free
                )
            }
            State::Partner { begun } => {
                let partner = waiting.block ^ 1;
                let left = self.cluster.blocks[partner].left;
                let rest = if left { ", which has left the kernel" } else { "" };
                format!(
                    "waits for the other block of its pair{rest}: a warp of each executes {} of `.cta_group::2`, and neither goes on before the other",
                    block.tensor.begun[begun].text()
                )
            }
            State::Columns { count } => {
                let held: u32 = block.tensor.allocations().iter().map(|(_, n)| n).sum();
                format!(
                    "waits for {count} columns of tensor memory, of which the block holds {held} of 512{}: only a `tcgen05.dealloc` makes room",
                    self.held_by_others(launch, block)
                )
            }
            State::Mbarrier { word, parity, .. } => {
                let warps = words::warps_an_arrival(launch, word);
                format!("waits for {}", pending(block, (word, parity), warps))
            }
            State::Ready | State::Join => "waits for other lanes of its warp".to_owned(),
        }
    }

    /// That a warp is not at an instruction of its warpgroup.
    fn missing(&self, block: usize, warp: u32) -> String {
        let state = &self.warps[block][warp as usize];
        let where_ = if state.done() { "has left the kernel" } else { "is elsewhere" };
        format!("warp {warp} {where_}")
    }
}

/// Threads of a warp that left the kernel.
fn left(warp: &Warp) -> u32 {
    (warp.initial & !warp.live).count_ones()
}
