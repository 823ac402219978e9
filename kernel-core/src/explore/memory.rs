//! The accesses of shared and tensor memory, and which of them nothing orders.

use std::collections::BTreeMap;

use super::{
    clock::{Clock, Component},
    values::{Barrier, Space, Window},
};
use crate::{
    ir::{By, Does},
    loc::Loc,
};

/// Until when an access lasts: it is over for who knows so many of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Until {
    pub(super) component: Component,
    pub(super) count: u32,
}

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) at: Loc,
    pub(super) does: Does,
    pub(super) by: By,
    /// The block and the part that do it, or start it.
    pub(super) who: [u32; 2],
    pub(super) window: Window,
    /// For the thread that starts asynchronous operations, and for all others; twice the same if one thread does it.
    pub(super) until: [Until; 2],
    /// Each thread accesses elements of its own.
    pub(super) spread: bool,
    /// The barrier on which it completes, if it does on one.
    pub(super) on: Option<Barrier>,
    /// Of an operation of `tcgen05`, which one.
    pub(super) cores: Option<Cores>,
    /// Each element is changed in one step.
    pub(super) atomic: bool,
}

/// An operation of `tcgen05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cores {
    /// A copy from shared to tensor memory.
    Copy,
    /// A product, with its accumulator.
    Product(Window),
}

impl Access {
    fn writes(&self) -> bool {
        self.does == Does::Writes
    }

    /// Whether a later access relies on what it wrote. What is written over a read, or over what an asynchronous operation has written to its
    /// end, relies on nothing.
    fn has_to_be_visible(&self, later: &Access) -> bool {
        self.writes() && (!later.writes() || self.by == By::Threads)
    }

    /// Whether it is over for those who have these clocks, each for its part of `later`.
    fn is_over(&self, later: &Access, clocks: [&Clock; 2]) -> Over {
        let mut over = Over::Surely;
        for (half, clock) in clocks.into_iter().enumerate() {
            for (other, until) in self.until.iter().enumerate() {
                if clock.get(until.component) >= until.count {
                    continue;
                }
                if clock.happened(until.component) >= until.count {
                    if self.has_to_be_visible(later) {
                        over = over.max(Over::Unannounced);
                    }
                    continue;
                }
                let same_threads = self.who == later.who && self.spread && later.spread;
                if !(same_threads && half != other) {
                    return Over::No;
                }
                over = over.max(Over::ByElement);
            }
        }
        over
    }
}

/// Whether an access is over before another one begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Over {
    Surely,
    /// If no thread needs the elements of another one.
    ByElement,
    /// It is, but only the end of an asynchronous operation says so.
    Unannounced,
    No,
}

/// What an access comes into conflict with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conflict {
    /// Nothing orders the two.
    Race(Access),
    /// The threads have not met in between: whether they need each other's elements depends on layouts.
    Elements,
    /// The first one is over, but nothing says that what it wrote is visible.
    Unannounced,
    /// Which part of the memory it is, is not known.
    Place,
}

/// All of shared and tensor memory of a cluster.
#[derive(Default)]
pub(super) struct Memory {
    of: BTreeMap<(Space, u32, u32), Vec<Access>>,
}

impl Memory {
    /// Notes an access that begins when these are known, by the one thread and by the others; gives what it is in conflict with.
    pub(super) fn access(&mut self, access: Access, clocks: [&Clock; 2]) -> Option<Conflict> {
        let Window { space, block, root, .. } = access.window;
        let before = self.of.entry((space, block, root)).or_default();
        let mut conflict = None;
        before.retain(|old| {
            let meets = old.window.overlaps(&access.window);
            let needs_order = (old.writes() || access.writes()) && !(old.atomic && access.atomic);
            // A later one of its kind, by the same ones, covers it.
            let kind = |one: &Access| (one.by, one.who, one.window, one.does, one.atomic);
            let covered = kind(old) == kind(&access)
                && old.until.map(|until| until.component)
                    == access.until.map(|until| until.component);
            if !meets || !needs_order {
                return !covered;
            }
            let over = if is_in_order(old, &access) || is_met(old, &access) {
                Over::Surely
            } else {
                old.is_over(&access, clocks)
            };
            match over {
                Over::Surely => {
                    return !(covered || access.writes() && access.window.holds(&old.window));
                }
                Over::ByElement => {
                    conflict = conflict.or(Some(Conflict::Elements));
                }
                Over::Unannounced => conflict = conflict.or(Some(Conflict::Unannounced)),
                Over::No if old.window.exact && access.window.exact => {
                    // Another part says more than what the same one did before.
                    let known = match conflict {
                        Some(Conflict::Race(first)) => {
                            first.who != access.who || old.who == access.who
                        }
                        Some(Conflict::Elements | Conflict::Unannounced | Conflict::Place)
                        | None => false,
                    };
                    if !known {
                        conflict = Some(Conflict::Race(*old));
                    }
                }
                Over::No => conflict = conflict.or(Some(Conflict::Place)),
            }
            true
        });
        before.push(access);
        conflict
    }

    /// An asynchronous access of the memory of a block that is not known to be over.
    pub(super) fn open(&self, block: u32, known: &Clock) -> Option<Access> {
        let of_block = self.of.iter().filter(|((_, of, _), _)| *of == block);
        let mut open = of_block.flat_map(|(_, accesses)| accesses).filter(|access| {
            let is_asynchronous = match access.by {
                By::Threads | By::CpAsync => false,
                By::AsyncCopy | By::TensorCores => true,
            };
            is_asynchronous
                && access.until.iter().any(|until| known.happened(until.component) < until.count)
        });
        open.next().copied()
    }
}

/// The compiler puts meetings between accesses of tensor memory by the threads of a part, where layouts ask for them.
fn is_met(old: &Access, access: &Access) -> bool {
    access.window.space == Space::Tensor
        && old.who == access.who
        && old.by == By::Threads
        && access.by == By::Threads
}

/// The tensor cores do in order what one thread starts: copies and products, and products into one accumulator (PTX ISA, "tcgen05:
/// Pipelined instructions").
fn is_in_order(old: &Access, access: &Access) -> bool {
    let in_order = match (old.cores, access.cores) {
        (Some(Cores::Product(one)), Some(Cores::Product(other))) => one == other,
        (Some(_), Some(_)) => true,
        (None, _) | (_, None) => false,
    };
    in_order && old.who == access.who
}
