//! Multiprocessors: which blocks are on one, and share the columns of its tensor memory.
//!
//! As many blocks as the launch's options say are on one multiprocessor together, neighbours in the order of clusters and of ranks in them;
//! the two blocks of a pair are on neighbouring ones. An allocation waits until columns are free (PTX ISA, "tcgen05.alloc"), also for those of other
//! blocks, whose clusters other threads of the host may run. A cluster in which nothing can run but for such a wait looks again later.
//! If all those whose columns could help wait as well, none of them ever gets any.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::tensor::COLUMNS;

/// Columns are allocated in multiples of this.
const LEAST: u32 = 32;

/// A block, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) cluster: u64,
    pub(crate) rank: u32,
    pub(crate) multiprocessor: u64,
}

/// Columns of a multiprocessor that a block holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) seat: Seat,
    pub(crate) start: u32,
    pub(crate) columns: u32,
    /// Whether the block has executed the allocation; of a pair, one of the blocks allocates for both.
    taken: bool,
}

/// An allocation that waits: of a block, or of both blocks of a pair.
pub(crate) type Wanted = (Vec<Seat>, u32);

/// What a cluster in which nothing can run has to expect of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// Columns are free, or something else can run.
    Now,
    /// Another cluster may give some back.
    Later,
    /// None will.
    Never,
}

/// Who holds what, and who waits.
#[derive(Debug, Default)]
struct Columns {
    /// By multiprocessor, in the order of columns.
    held: BTreeMap<u64, Vec<Held>>,
    /// By cluster: what those wait for in which nothing can run.
    waiting: BTreeMap<u64, Vec<Wanted>>,
}

/// The multiprocessors of a launch.
#[derive(Debug)]
pub(crate) struct Multiprocessors {
    /// Blocks that are on one of them together.
    resident: u64,
    /// Blocks of a cluster, and whether they work in pairs.
    blocks: u64,
    pairs: bool,
    columns: Mutex<Columns>,
}

impl Multiprocessors {
    pub(crate) fn new(resident: u32, blocks: u32, pairs: bool) -> Multiprocessors {
        let (resident, blocks) = (u64::from(resident.max(1)), u64::from(blocks));
        Multiprocessors { resident, blocks, pairs, columns: Mutex::default() }
    }

    /// Where a block of a cluster is.
    pub(crate) fn seat(&self, cluster: u64, rank: u32) -> Seat {
        let place = cluster * self.blocks + u64::from(rank);
        let multiprocessor = if self.pairs {
            place / 2 / self.resident * 2 + place % 2
        } else {
            place / self.resident
        };
        Seat { cluster, rank, multiprocessor }
    }

    /// The blocks that allocate together with this one, itself first.
    pub(crate) fn together(&self, cluster: u64, rank: u32) -> Vec<Seat> {
        let mut seats = vec![self.seat(cluster, rank)];
        seats.extend(self.pairs.then(|| self.seat(cluster, rank ^ 1)));
        seats
    }

    fn columns(&self) -> MutexGuard<'_, Columns> {
        self.columns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where this many columns are free for blocks that allocate together.
    pub(crate) fn room(&self, seats: &[Seat], columns: u32) -> Option<u32> {
        self.columns().room(seats, columns)
    }

    /// Allocates columns for blocks that do it together, of which the first one does so now; none where there is no room.
    pub(crate) fn allocate(&self, seats: &[Seat], columns: u32) -> Option<u32> {
        let mut state = self.columns();
        let start = state.room(seats, columns)?;
        state.waiting.remove(&seats[0].cluster);
        if let Some(kept) = state.kept(seats[0], columns) {
            kept.taken = true;
            return Some(start);
        }
        for seat in seats {
            let held = state.held.entry(seat.multiprocessor).or_default();
            held.push(Held { seat: *seat, start, columns, taken: *seat == seats[0] });
            held.sort_unstable_by_key(|held| held.start);
        }
        Some(start)
    }

    /// Gives columns of a block back.
    pub(crate) fn deallocate(&self, seat: Seat, start: u32) {
        let mut state = self.columns();
        let Some(held) = state.held.get_mut(&seat.multiprocessor) else { return };
        held.retain(|held| (held.seat, held.start) != (seat, start));
        if held.is_empty() {
            state.held.remove(&seat.multiprocessor);
        }
    }

    /// What other blocks hold on the multiprocessor of this one, and whether nothing can run in their clusters.
    pub(crate) fn others(&self, seat: Seat) -> Vec<(Held, bool)> {
        let state = self.columns();
        let held = state.held.get(&seat.multiprocessor).into_iter().flatten();
        let others = held.filter(|held| held.seat != seat);
        others.map(|held| (*held, state.waiting.contains_key(&held.seat.cluster))).collect()
    }

    /// Nothing can run in a cluster, whose blocks wait for these columns.
    pub(crate) fn outlook(&self, cluster: u64, wanted: Vec<Wanted>) -> Outlook {
        let mut state = self.columns();
        if wanted.iter().any(|(seats, columns)| state.room(seats, *columns).is_some()) {
            return Outlook::Now;
        }
        state.waiting.insert(cluster, wanted);
        // Those that wait only for one another.
        let mut lost: BTreeSet<u64> = state.waiting.keys().copied().collect();
        while let Some(helped) = lost.iter().copied().find(|one| state.may_get(*one, &lost)) {
            lost.remove(&helped);
        }
        if lost.contains(&cluster) { Outlook::Never } else { Outlook::Later }
    }
}

impl Columns {
    /// The columns that the other block of a pair has allocated for this one.
    fn kept(&mut self, seat: Seat, columns: u32) -> Option<&mut Held> {
        let held = self.held.get_mut(&seat.multiprocessor)?;
        held.iter_mut().find(|held| held.seat == seat && held.columns == columns && !held.taken)
    }

    fn room(&mut self, seats: &[Seat], columns: u32) -> Option<u32> {
        if let Some(kept) = self.kept(seats[0], columns) {
            return Some(kept.start);
        }
        let free = |seat: &Seat, start: u32| {
            let mut held = self.held.get(&seat.multiprocessor).into_iter().flatten();
            held.all(|held| start + columns <= held.start || held.start + held.columns <= start)
        };
        (0..=COLUMNS - columns)
            .step_by(LEAST as usize)
            .find(|&start| seats.iter().all(|seat| free(seat, start)))
    }

    /// Whether a cluster that waits may get columns: there is room, or one that is not lost holds some where it requires them.
    fn may_get(&mut self, cluster: u64, lost: &BTreeSet<u64>) -> bool {
        let wanted = self.waiting.get(&cluster).cloned().unwrap_or_default();
        wanted.iter().any(|(seats, columns)| {
            let held = seats.iter().filter_map(|seat| self.held.get(&seat.multiprocessor));
            let helped = held.flatten().any(|held| !lost.contains(&held.seat.cluster));
            helped || self.room(seats, *columns).is_some()
        })
    }
}
