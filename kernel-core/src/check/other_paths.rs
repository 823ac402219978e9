//! What the other paths to a place do about something that is in flight there.
//!
//! ```text
//! if k > 0 { let _ = wgmma::wait(0, acc); }  // may be for the product of the iteration before, which the first iteration does not have
//! ```
//!
//! A check refuses only what certainly has no wait. If something is not in flight on some of the paths to a place, then a wait that only some
//! paths have may be on just those on which it is.

use std::collections::{BTreeMap, BTreeSet};

/// What is known of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OtherPaths {
    /// Some of them do not start it: they skip its condition, or begin a loop whose earlier iteration would have started it.
    pub(super) conditional: bool,
    /// Some of them have a wait that covers it.
    waited: bool,
    /// Those that do not start it may be all that have no wait.
    pub(super) excused: bool,
}

impl OtherPaths {
    /// Adds what further paths do.
    pub(super) fn join(&mut self, other: OtherPaths) {
        self.conditional |= other.conditional;
        self.waited |= other.waited;
        self.excused |= other.excused;
    }

    /// Some of several paths leave `flight` in flight, and others do not; `before` was in flight when they parted.
    pub(super) fn part<F: Ord, S>(&mut self, flight: &F, before: &BTreeMap<F, S>) {
        if before.contains_key(flight) {
            self.waited = true;
            self.excused |= self.conditional;
        } else {
            self.conditional = true;
        }
    }

    /// An iteration that began with `entered` leaves `flight` to the next one.
    pub(super) fn iterate<F: Ord, S>(&mut self, flight: &F, entered: &BTreeMap<F, S>) {
        // The first iteration has not found what an iteration starts.
        self.conditional |= !entered.contains_key(flight);
        self.excused |= self.conditional && self.waited;
    }
}

/// What some of several paths leave in flight, and others do not.
pub(super) fn on_some<F: Ord + Clone, S>(paths: &[&BTreeMap<F, S>]) -> Vec<F> {
    let all: BTreeSet<&F> = paths.iter().flat_map(|path| path.keys()).collect();
    let on_some = |flight: &&F| !paths.iter().all(|path| path.contains_key(*flight));
    all.into_iter().filter(on_some).cloned().collect()
}
