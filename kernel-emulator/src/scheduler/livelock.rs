//! What to say of a grid in which every warp waits or repeats a loop, and nothing can change any more: who polls what.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::stuck::{LISTED, Waiting};
use super::words::Words;
use super::{Unit, locate, words};
use crate::code::Place;
use crate::exec::barrier::pending;
use crate::fault::{Fault, FaultKind, Trap};
use crate::machine::warp::spin::Look;
use crate::machine::{Block, Context, Counters, Launch};
use crate::memory::shared::SHARED_BASE;

/// What lanes look at in one round of the loop that they repeat.
#[derive(Debug)]
pub(super) struct Polls {
    looks: Vec<Look>,
    /// The lines of the PTX text that a round takes.
    lines: (u32, u32),
}

/// Blocks, warps and fragments of a cluster, by what they look at.
pub(super) type Polling = BTreeMap<(usize, usize, usize), Polls>;

impl Polls {
    /// The last instruction that looks at something: what ends the loop comes after it.
    pub(super) fn decisive(&self) -> Option<&Look> {
        self.looks.last()
    }

    /// What the lanes do, after their name.
    pub(super) fn text(&self, launch: &Launch<'_>, block: &Block) -> String {
        let words = Words::of(launch);
        let place = match (self.lines, words) {
            // The source line of what it looks at stands beside it.
            (_, Words::Kiln) => "repeats a loop".to_owned(),
            ((first, last), Words::Ptx) if first == last => format!("repeats PTX line {first}"),
            ((first, last), Words::Ptx) => format!("repeats PTX lines {first} to {last}"),
        };
        let Some(look) = self.decisive() else {
            let read = words.choose("which read", "which reads");
            return format!("{place}, {read} nothing that could end the loop");
        };
        if let Some(parity) = look.parity {
            let offset = (look.address & 0xFF_FFFF).saturating_sub(SHARED_BASE.into());
            let word = u32::try_from(offset / 8).expect("shared memory is small");
            let warps = words::warps_an_arrival(launch, word);
            return format!("{place}, where it asks for {}", pending(block, (word, parity), warps));
        }
        let space = if look.place == Place::Shared { "shared" } else { "global" };
        let value = look.value.map(|value| format!(" and gets {value:#x}")).unwrap_or_default();
        format!("{place}, where it reads {space} memory at {:#x}{value}", look.address)
    }
}

/// The fault of a grid of which these are the clusters in flight, in order, and so many have not started.
pub(super) fn fault(launch: &Launch<'_>, units: &mut [Unit], not_started: u64) -> Fault {
    let [unit, others @ ..] = units else { unreachable!("some cluster waits") };
    let polling = unit.polling(launch);
    let all = unit.waiting(&polling);
    let first = foremost(&all);
    let mut detail = match first.fragment.mask {
        mask if mask == first.warp.live => "the warp ".to_owned(),
        mask => format!("of the warp, lanes {mask:#010x}: "),
    };
    detail.push_str(&unit.wait(launch, first));
    detail.push_str(", and nothing that can still happen changes that");
    if not_started == 0 {
        detail
            .push_str(": is what it waits for done by nobody, or only after a wait for this one?");
    }
    detail.push_str(&unit.others(launch, first, &all));
    detail.push_str(&elsewhere(launch, others));
    if not_started > 0 {
        let size = launch.cluster_blocks();
        let (waiting, resident) =
            (not_started * u64::from(size), (others.len() + 1) * size as usize);
        let _ = write!(
            detail,
            "; {waiting} blocks of the grid have not started, since the {resident} that are resident have not ended: does one of these wait for one of those? A block may wait only for blocks that are resident together with it, or that start before it"
        );
    }
    let mut trap = Trap::new(FaultKind::Livelock, detail).at(first.pc());
    trap.lane = Some(first.fragment.mask.trailing_zeros());
    if let Some(look) = first.polls.and_then(Polls::decisive) {
        (trap.lane, trap.address) = (Some(look.lane), Some(look.address));
    }
    locate(launch, &trap, unit.block_of(first).id, first.warp)
}

/// What the other clusters wait for: those at one place together.
fn elsewhere(launch: &Launch<'_>, units: &mut [Unit]) -> String {
    let mut groups: Vec<(u32, String, usize)> = Vec::new();
    for unit in units {
        let polling = unit.polling(launch);
        let all = unit.waiting(&polling);
        let first = foremost(&all);
        let pc = first.pc();
        if let Some((.., more)) = groups.iter_mut().find(|(at, ..)| *at == pc) {
            *more += 1;
            continue;
        }
        let [x, y, z] = unit.block_of(first).id;
        let (place, what) = (words::short_place(launch, pc), unit.wait(launch, first));
        groups.push((pc, format!("block ({x}, {y}, {z}) {place}: {what}"), 0));
    }
    let mut text = String::new();
    let blocks = launch.cluster_blocks();
    for (_, what, more) in groups.iter().take(LISTED) {
        let _ = write!(text, "; {what}");
        if *more > 0 {
            let of = if blocks == 1 { "blocks" } else { "clusters" };
            let _ = write!(text, ", and likewise {more} more {of}");
        }
    }
    if let Some(more) = groups.len().checked_sub(LISTED + 1) {
        let _ = write!(text, "; and {} other places", more + 1);
    }
    text
}

/// The one that polls, or else any.
fn foremost<'a>(all: &[Waiting<'a>]) -> Waiting<'a> {
    let polls = all.iter().find(|waiting| waiting.polls.is_some());
    *polls.or(all.first()).expect("somebody waits in a cluster that has not ended")
}

impl Unit {
    /// What the lanes look at that repeat a loop.
    fn polling(&mut self, launch: &Launch<'_>) -> Polling {
        let mut polling = Polling::new();
        let mut counters = Counters::default();
        // The rounds are run again to be looked at, and are not part of the trace.
        let trace = self.cluster.trace.take();
        for block in 0..self.warps.len() {
            for (index, warp) in self.warps[block].iter_mut().enumerate() {
                for fragment in 0..warp.fragments.len() {
                    let (cluster, counters) = (&mut self.cluster, &mut counters);
                    let mut cx = Context { launch, cluster, block, counters };
                    let repeats = warp.fragments.get(fragment);
                    if !repeats.is_some_and(|it| it.repeats(cx.cluster.changes)) {
                        continue;
                    }
                    let (looks, (low, high)) = warp.round(&mut cx, fragment);
                    let line = |pc: u32| launch.code.origins[pc as usize].line;
                    let polls = Polls { looks, lines: (line(low), line(high)) };
                    polling.insert((block, index, fragment), polls);
                }
            }
        }
        self.cluster.trace = trace;
        polling
    }

    /// Every fragment of the cluster.
    pub(super) fn waiting<'a>(&'a self, polling: &'a Polling) -> Vec<Waiting<'a>> {
        let mut all = Vec::new();
        for (block, warps) in self.warps.iter().enumerate() {
            for (index, warp) in warps.iter().enumerate() {
                for (number, fragment) in warp.fragments.iter().enumerate() {
                    let polls = polling.get(&(block, index, number));
                    all.push(Waiting { block, warp, fragment, polls });
                }
            }
        }
        all
    }
}
